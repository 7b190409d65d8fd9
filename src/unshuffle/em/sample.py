"""Where EM settles on a sample of groups, and how much of the information is left there."""

import math
from typing import NamedTuple

import numpy as np

from ..alignment.carry import draw_permutation
from ..alignment.chain import Chain
from ..alignment.priors import Prior
from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..families.least_squares import LeastSquares
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from .information import (
    covariance_over_snapshots,
    information_share,
    score_snapshots,
    snapshots_needed,
    sweeps_between,
)
from .loop import Drift, run_em, settle_on_average, start_from_labels
from .squarem import Leaps

# The sample: so many rows in whole groups, taken where there are several times as many.
SAMPLE_ROWS, FEWEST_ROWS, FEWEST_GROUPS = 150_000, 200_000, 400
SWEEPS, MOST_ITERATIONS = 4, 400
TOLERANCE, WINDOW, WINDOW_OF_LEAPS = 0.2, 5, 3
# Information in any direction, as a share of the complete; below it the sample does not know.
SMALLEST_SHARE = 0.03


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
    perm = draw_permutation(few, start.fitted, start.noise_scale, seed)
    steps = SWEEPS * few.n_movable
    chain = Chain(few, Schedule(steps, steps // 5, 1), seed, workers)
    align = SampledAlignment(chain, Prior())
    result = run_em(
        few,
        solver,
        start._replace(perm=perm),
        align,
        max_iter=MOST_ITERATIONS,
        settled=Drift(few, solver, TOLERANCE, WINDOW),
        report=lambda step: None,
        leap=Leaps(few, solver, WINDOW_OF_LEAPS, with_rate=False),
    )
    state = settle_on_average(few, solver, result, align, 2 * WINDOW, n_runs=0).state
    gain = _gain(few, solver, state, len(result.steps), chain)
    return SampleFit(state.coef, state.intercept, state.noise_scale, gain)


def _gain(
    few: Problem, solver: LeastSquares, state: State, first_stream: int, chain: Chain
) -> FloatArray:
    """Inverse of the share of the information that is left, for coefficients and log noise."""
    n_snapshots = snapshots_needed(few)
    steps = sweeps_between(n_snapshots, mostly_right=False) * few.n_movable // 2
    walk = Chain(few, Schedule(max(steps, 1), 0, 1), int(chain.seed), chain.workers)
    align = SampledAlignment(walk, Prior())
    seen = score_snapshots(few, solver, state, align, n_snapshots, first_stream)
    missing = covariance_over_snapshots(seen.scores)
    unit, share = information_share(few, solver, state.noise_scale, missing, None)
    values, axes = np.linalg.eigh(share)
    excess = (axes * (1.0 / np.clip(values, SMALLEST_SHARE, 1.0) - 1.0)) @ axes.T
    excess = excess / unit[:, None] * unit
    # Directions that the sample does not determine take the steps of EM.
    lead = np.zeros((len(solver.to_coef) + 1, solver.rank + 1))
    lead[:-1, :-1], lead[-1, -1] = solver.to_coef, 1.0
    gain: FloatArray = np.eye(len(lead)) + lead @ excess @ np.linalg.pinv(lead)
    return gain
