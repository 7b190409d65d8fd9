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
from collections import deque
from typing import NamedTuple

import numpy as np

from ..alignment.carry import carry_over, draw_permutation
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from .information import FEWEST_SNAPSHOTS, scores_of
from .loop import Counted, Drift, Metric, Settled, Solved, Step, start_from_coefficients
from .sample import WINDOW, SampleFit

# Proposals per row of a Newton step, and how many of them are not averaged.
NEWTON_SWEEPS, NEWTON_BURN_IN = 24, 0.1
FIRST_STEPS, FULL_STEPS = 1, 3
# What the chain's chance may add to the variance of coefficients and of the noise. The tolerance,
# in standard errors, allows the first; energies take longer to average out than directions.
SHARE_OF_TOLERANCE, NOISE_SHARE = 2.0, 4.0
FEWEST_POINTS, MOST_DISAGREEMENT = 8, 4.0
CORRELATED = 2.0  # variance of an average of points, over that of as many independent ones
# Squared lengths of steps, in standard errors: one that is so many times the first, or this
# length at least, is not Newton's.
STRAYED, FAR = 4.0, 100.0
# A chain that goes on where it stood lags behind, and what it is behind looks like a part of the
# step: by about half as much again, measured in groups of 100 and 1,000 rows.
LAG = 0.65
MOST_CHANGE_OF_NOISE = 0.7  # of its logarithm, in one step


def values_of(state: Solved) -> FloatArray:
    """Coefficients, and the logarithm of the noise."""
    return np.append(state.coef, math.log(state.noise_scale))


class Path(NamedTuple):
    """Where Newton's method led.

    Attributes
    ----------
    here : array of shape (d + 1,)
        Where to go on from.
    points : array of shape (k, d + 1)
        Where each iteration pointed to, once steps are averaged.
    strayed : bool
        Whether a step grew out of proportion; from there on EM goes its own way.
    """

    here: FloatArray
    points: FloatArray
    strayed: bool


class Newton:
    """Newton's method from a start; all that it knows of the data comes through EM's steps.

    Parameters
    ----------
    start : state of EM
    gain : array of shape (d + 1, d + 1)
    lag : float
        Share of a step to take.
    data : anything with rows
    solver : measures coefficients
    """

    def __init__(
        self, start: Solved, gain: FloatArray, lag: float, data: Counted, solver: Metric
    ) -> None:
        self.start, self.gain, self.solver = start, lag * gain, solver
        coef = start.noise_scale**2 * float(np.trace(gain[:-1, :-1]))
        # Variances of the estimates: of fitted values, summed over directions, and of log noise.
        self.variances = np.array([coef, float(gain[-1, -1]) / (2.0 * data.n_rows)])

    def follow(self, steps: list[Step]) -> Path:
        """Follow the iterations from the start, `steps` being EM's answers."""
        here, points, first, strayed = values_of(self.start), [], 0.0, False
        for k, step in enumerate(steps, start=1):
            after = values_of(step)
            move = self.gain @ (after - here)
            length = float(np.max(self.squares(move) / self.variances))
            if k == FIRST_STEPS + 1:
                first = length
            strayed = strayed or (k > FIRST_STEPS + 1 and length > STRAYED * max(first, FAR))
            if strayed:
                here = after
            elif k > FIRST_STEPS:
                weight = 1.0 / (1 + max(k - FIRST_STEPS - FULL_STEPS, 0))
                if k > FIRST_STEPS + FULL_STEPS:
                    points.append(here + move)
                move[-1] = min(max(move[-1], -MOST_CHANGE_OF_NOISE), MOST_CHANGE_OF_NOISE)
                here = here + weight * move
        return Path(here, np.array(points), strayed)

    def squares(self, change: FloatArray) -> FloatArray:
        """Squared lengths of a change: of fitted values, and of the logarithm of the noise."""
        return np.array([self.solver.length(change[:-1]) ** 2, float(change[-1]) ** 2])

    def added(self, points: FloatArray) -> FloatArray:
        """What chance adds to the variances of coefficients and log noise, as shares of them."""
        centre, n = points.mean(axis=0), len(points)
        spread = np.sum([self.squares(point - centre) for point in points], axis=0)
        added: FloatArray = CORRELATED * spread / ((n - 1) * n) / self.variances
        return added


class Averaged:
    """Settled when the average of Newton's points is known well enough.

    Every point is an estimate by itself, and only the chance of the chain makes them differ. Their
    average is good when its variance by that chance is a small part of the variance that the
    estimate has anyway, and when their later half agrees with the earlier. What chance adds is told
    as part of the standard errors. Where Newton's method strayed, EM settles as it does elsewhere.
    """

    def __init__(self, newton: Newton, tol: float, otherwise: Settled) -> None:
        self.newton, self._otherwise = newton, otherwise
        coef = (SHARE_OF_TOLERANCE * tol) ** 2
        self._most = np.array([coef, NOISE_SHARE * coef])

    def __call__(self, steps: list[Step]) -> bool:
        """Look at all points so far."""
        newton, path = self.newton, self.newton.follow(steps)
        if path.strayed:
            return self._otherwise(steps)
        points = path.points
        if len(points) < FEWEST_POINTS:
            return False
        half, added = len(points) // 2, newton.added(points)
        apart = newton.squares(points[half:].mean(axis=0) - points[:half].mean(axis=0))
        agree = apart <= MOST_DISAGREEMENT * 4.0 * added * newton.variances
        return bool(np.all(agree) and np.all(added <= self._most))

    def added(self, steps: list[Step]) -> FloatArray:
        """What chance added to the variances, where Newton's points were averaged."""
        path = self.newton.follow(steps)
        return np.zeros(2) if path.strayed else self.newton.added(path.points)


class NewtonSteps:
    """Called after each iteration of EM; returns the state to go on from.

    Parameters
    ----------
    problem, solver : the fit
    newton : Newton
    workers : Workers

    Attributes
    ----------
    scores : deque of arrays of shape (n_strata, rank + 2)
        The scores (`scores_of`) where the chain stood after the last iterations. The coefficients
        hardly move by then, so that these serve as snapshots, and far ones, for the information.
    """

    def __init__(
        self, problem: Problem, solver: LeastSquares, newton: Newton, workers: Workers
    ) -> None:
        self.problem, self.solver, self.newton, self.workers = problem, solver, newton, workers
        self.scores: deque[FloatArray] = deque(maxlen=FEWEST_SNAPSHOTS)

    def __call__(self, steps: list[Step], before: State, after: State) -> State:
        """Go where Newton's method would, or part of the way."""
        if len(steps) > FIRST_STEPS + FULL_STEPS:
            self.record(after)
        here = self.newton.follow(steps).here
        coef, noise = here[:-1], math.exp(float(here[-1]))
        # The mean of the labels stays where it is.
        intercept = after.intercept + float(self.solver.centre @ (after.coef - coef))
        fitted = self.problem.arrange(self.solver.predict(coef, intercept))
        moved = after._replace(coef=coef, intercept=intercept, fitted=fitted, noise_scale=noise)
        if len(steps) > FIRST_STEPS + FULL_STEPS:  # short steps change no order
            return moved
        return carry_over(self.problem, before, moved, self.workers)

    def record(self, state: State) -> None:
        """Keep the score where the chain stands."""
        problem = self.problem
        self.scores.append(scores_of(problem, self.solver, state, problem.y, self.workers))


def newton_from(
    problem: Problem,
    solver: LeastSquares,
    found: SampleFit,
    seed: int,
    workers: Workers,
    tol: float,
) -> tuple[State, NewtonSteps, Averaged]:
    """Where EM begins after a sample, what moves it on, and when it has settled."""
    start = start_from_coefficients(problem, solver, found.coef, found.intercept)
    perm = draw_permutation(problem, start.fitted, found.noise_scale, seed)
    start = start._replace(noise_scale=found.noise_scale, perm=perm)
    newton = Newton(start, found.gain, LAG, problem, solver)
    settled = Averaged(newton, tol, Drift(problem, solver, tol, WINDOW))
    return start, NewtonSteps(problem, solver, newton, workers), settled
