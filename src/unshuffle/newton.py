r"""Newton steps for EM where the order is lost inside many groups.

An EM step is the score times the inverse of the complete-data information, which is more
than the data hold: in every direction it covers only the share of the way that the information left
makes up, and where groups are large that is little. The step to take is the EM step times the
*gain*

.. math::

    G = I_{\mathrm{observed}}^{-1} I_{\mathrm{complete}},

and the observed information (Louis' formula) is known well enough from a sample of the groups, on
which EM settles first. The first iteration stays where the sample led, until the chain is at home
there. Then steps are full, and later shorter and shorter, so that the points approach an average of
Newton points instead of following the chance of the chain. A chain that lags behind would be taken
for a direction, so it gets longer runs than EM's many small steps need.
"""

import math
from typing import NamedTuple

import numpy as np

from .alignment.chain import Chain
from .alignment.hard import most_likely_permutation
from .alignment.sampled import SampledAlignment
from .alignment.state import State
from .em import Drift, EMResult, Solved, Step, run_em, start_from_coefficients, start_from_labels
from .em_acceleration import Leaps
from .engine.local import Workers
from .inference.information import (
    SWEEPS_PER_SNAPSHOT,
    covariance_over_snapshots,
    information_share,
    score_snapshots,
    snapshots_needed,
)
from .kernels.swap import Schedule
from .least_squares import LeastSquares
from .priors import Prior
from .problem import FloatArray, Problem

# The sample: so many rows in whole groups, taken where there are several times as many.
SAMPLE_ROWS, FEWEST_ROWS, FEWEST_GROUPS = 150_000, 200_000, 400
SWEEPS, MOST_ITERATIONS = 4, 400
TOLERANCE, WINDOW, WINDOW_OF_LEAPS = 0.2, 5, 3
# Proposals per row of a Newton step, how many of them are not averaged, and iterations to a window.
NEWTON_SWEEPS, NEWTON_BURN_IN, NEWTON_WINDOW = 12, 0.3, 3
# Information in any direction, as a share of the complete; below it the sample does not know.
SMALLEST_SHARE = 0.03
FIRST_STEPS, FULL_STEPS, SMALLEST_WEIGHT = 1, 3, 0.1
MOST_CHANGE_OF_NOISE = 0.7  # of its logarithm, in one step


class SampleFit(NamedTuple):
    """Where EM settles on a sample of groups.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept, noise_scale : float
    gain : array of shape (d + 1, d + 1)
        Of coefficients and the logarithm of the noise.
    """

    coef: FloatArray
    intercept: float
    noise_scale: float
    gain: FloatArray


def worth_a_sample(n_movable: int, n_blocks: int) -> bool:
    """Whether a sample of the groups spares time and still tells enough."""
    return n_movable >= FEWEST_ROWS and n_blocks >= FEWEST_GROUPS


def sample_step(n_movable: int) -> int:
    """Distance of the groups that a sample of `SAMPLE_ROWS` rows takes."""
    return max(2, math.ceil(n_movable / SAMPLE_ROWS))


def fit_sample(few: Problem, *, fit_intercept: bool, seed: int, workers: Workers) -> SampleFit:
    """Run EM on a sample of groups, and measure the gain where it settles."""
    solver = LeastSquares(few.X, fit_intercept=fit_intercept)
    start = start_from_labels(few, solver, few.y)
    start = start._replace(perm=most_likely_permutation(few, start.fitted))
    steps = SWEEPS * few.n_movable
    chain = Chain(few, Schedule(steps, steps // 5, 1), seed, workers)
    result = run_em(
        few,
        solver,
        start,
        SampledAlignment(chain, Prior()),
        max_iter=MOST_ITERATIONS,
        settled=Drift(few, solver, TOLERANCE, WINDOW),
        report=lambda step: None,
        leap=Leaps(few, solver, WINDOW_OF_LEAPS, with_rate=False),
    )
    state = _averaged(few, solver, result)
    gain = _gain(few, solver, state, len(result.steps), chain)
    return SampleFit(state.coef, state.intercept, state.noise_scale, gain)


def _averaged(few: Problem, solver: LeastSquares, result: EMResult) -> State:
    last = result.steps[-2 * WINDOW :]
    coef = np.mean([step.coef for step in last], axis=0)
    intercept = float(np.mean([step.intercept for step in last]))
    state = start_from_coefficients(few, solver, coef, intercept)
    noise = float(np.mean([step.noise_scale for step in last]))
    return state._replace(noise_scale=noise, perm=result.state.perm)


def _gain(
    few: Problem, solver: LeastSquares, state: State, first_stream: int, chain: Chain
) -> FloatArray:
    """Inverse of the share of the information that is left, for coefficients and log noise."""
    between = Schedule(max(SWEEPS_PER_SNAPSHOT * few.n_movable // 2, 1), 0, 1)
    walk = Chain(few, between, int(chain.seed), chain.workers)
    align = SampledAlignment(walk, Prior())
    walked = score_snapshots(few, solver, state, align, snapshots_needed(few), first_stream)
    missing = covariance_over_snapshots(walked.scores)
    unit, share = information_share(few, solver, state.noise_scale, missing, None)
    values, axes = np.linalg.eigh(share)
    excess = (axes * (1.0 / np.clip(values, SMALLEST_SHARE, 1.0) - 1.0)) @ axes.T
    excess = excess / unit[:, None] * unit
    # Directions that the sample does not determine take the steps of EM.
    lead = np.zeros((len(solver.to_coef) + 1, solver.rank + 1))
    lead[:-1, :-1], lead[-1, -1] = solver.to_coef, 1.0
    gain: FloatArray = np.eye(len(lead)) + lead @ excess @ np.linalg.pinv(lead)
    return gain


def gain_of_length(gain: FloatArray) -> float:
    """Length of an error with the order lost, as a multiple of that with known order."""
    d = len(gain) - 1
    return float(np.sqrt(np.trace(gain[:d, :d]) / d)) if d else 1.0


def newton_step(
    gain: FloatArray, n_steps: int, before: Solved, after: Solved
) -> tuple[FloatArray, float]:
    """Coefficients and noise to go on from, `after` being EM's answer to `before`."""
    if n_steps <= FIRST_STEPS:
        return before.coef, before.noise_scale
    weight = 1.0 / (1 + max(n_steps - FIRST_STEPS - FULL_STEPS, 0))
    moved = np.append(after.coef - before.coef, math.log(after.noise_scale / before.noise_scale))
    step = max(weight, SMALLEST_WEIGHT) * (gain @ moved)
    louder = min(max(float(step[-1]), -MOST_CHANGE_OF_NOISE), MOST_CHANGE_OF_NOISE)
    return before.coef + step[:-1], before.noise_scale * math.exp(louder)


class NewtonSteps:
    """Called after each iteration of EM; returns the state to go on from.

    Parameters
    ----------
    problem, solver : the fit
    gain : array of shape (d + 1, d + 1)
    """

    def __init__(self, problem: Problem, solver: LeastSquares, gain: FloatArray) -> None:
        self.problem, self.solver, self.gain = problem, solver, gain

    def settled(self, tol: float) -> Drift:
        """When to stop: `tol` is in standard errors, and here these are of the order lost."""
        tol *= gain_of_length(self.gain)
        return Drift(self.problem, self.solver, tol, NEWTON_WINDOW)

    def __call__(self, steps: list[Step], before: State, after: State) -> State:
        """Go where Newton's method would, or part of the way."""
        coef, noise = newton_step(self.gain, len(steps), before, after)
        # The mean of the labels stays where it is.
        intercept = after.intercept + float(self.solver.centre @ (after.coef - coef))
        fitted = self.problem.arrange(self.solver.predict(coef, intercept))
        return after._replace(coef=coef, intercept=intercept, fitted=fitted, noise_scale=noise)
