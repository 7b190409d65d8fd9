"""EM on a sample of groups: where it ends, and how much of the information is kept there."""

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
from .information import information_kept
from .loop import average_last, run_em
from .memory import MemoryTable, start_from_labels
from .scores import covariance_over_snapshots, score_snapshots, snapshots_needed, sweeps_between
from .settings import DEFAULTS, EMSettings
from .squarem import SquaremAcceleration
from .stopping import StopWhenStable


class SampleFit(NamedTuple):
    """Where EM ends on a sample of groups.

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


def worth_a_sample(n_movable: int, n_blocks: int, settings: EMSettings = DEFAULTS) -> bool:
    """Whether a sample of the groups spares time and still holds enough."""
    sample = settings.sample
    return n_movable >= sample.fewest_rows and n_blocks >= sample.fewest_groups


def fit_sample(
    few: Problem,
    *,
    fit_intercept: bool,
    seed: int,
    workers: Workers,
    settings: EMSettings = DEFAULTS,
) -> SampleFit:
    """Run EM on a sample of groups, and estimate the gain where it ends."""
    sample, iteration = settings.sample, settings.iteration
    solver = LeastSquares(few.X, fit_intercept=fit_intercept)
    start = start_from_labels(few, solver, few.y)
    perm = draw_permutation(few, start.fitted, start.noise_scale, seed)
    steps = sample.sweeps * few.n_movable
    chain = Chain(few, Schedule(steps, steps // 5, 1), seed, workers)
    table = MemoryTable(few, solver, SampledAlignment(chain, Prior()), workers)
    result = run_em(
        table,
        start._replace(perm=perm),
        max_iter=sample.max_iter,
        stop=StopWhenStable(table, iteration.tolerance, iteration.window),
        accelerate=SquaremAcceleration(
            table, iteration.squarem_window, with_rate=False, settings=settings.squarem
        ),
    )
    state = average_last(table, result, 2 * iteration.window)
    gain = _gain(few, solver, state, len(result.steps), chain, sample.smallest_fraction)
    return SampleFit(state.coef, state.intercept, state.noise_scale, gain)


def _gain(
    few: Problem,
    solver: LeastSquares,
    state: State,
    first_stream: int,
    chain: Chain,
    smallest_fraction: float,
) -> FloatArray:
    """Inverse of the fraction of the information kept, for coefficients and log noise."""
    n_snapshots = snapshots_needed(few)
    steps = sweeps_between(n_snapshots, mostly_right=False) * few.n_movable // 2
    walk = Chain(few, Schedule(max(steps, 1), 0, 1), int(chain.seed), chain.workers)
    align = SampledAlignment(walk, Prior())
    seen = score_snapshots(few, solver, state, align, n_snapshots, first_stream)
    missing = covariance_over_snapshots(seen.scores)
    unit, kept = information_kept(few, solver, state.noise_scale, missing, None)
    values, axes = np.linalg.eigh(kept)
    excess = (axes * (1.0 / np.clip(values, smallest_fraction, 1.0) - 1.0)) @ axes.T
    excess = excess / unit[:, None] * unit
    # Directions that the sample does not determine take the steps of EM.
    lead = np.zeros((len(solver.to_coef) + 1, solver.rank + 1))
    lead[:-1, :-1], lead[-1, -1] = solver.to_coef, 1.0
    back = np.zeros(lead.T.shape)
    back[:-1, :-1], back[-1, -1] = solver.to_theta, 1.0
    gain: FloatArray = np.eye(len(lead)) + lead @ excess @ back
    return gain
