"""Load or compile every kernel before it is needed, by tiny fits of every kind."""

import numpy as np

from ..alignment.priors import Prior
from ..alignment.settings import SinkhornSettings, WorkSettings
from ..alignment.sinkhorn import SinkhornAlignment
from ..alignment.sweeps import Sweeps
from ..data.local import LocalParts, slice_array
from ..data.problem import Problem, make_problem
from ..data.threads import Workers
from ..data.unequal import make_unequal_problem
from ..em.settings import EMSettings, FinalSettings, InformationSettings, IterationSettings
from ..families.normal import NORMAL
from ..kernels.swap import Schedule
from ..kernels.types import BoolArray, FloatArray, IntArray
from .auto import fit_auto
from .data import InMemory, InPasses
from .hard import fit_hard
from .posterior import sample_posterior
from .settings import AutoSettings, HardSettings, StochasticSettings
from .stochastic import fit_stochastic
from .unequal import fit_unequal
from .unequal_em import UnequalSettings

SHORT = EMSettings(
    iteration=IterationSettings(fewest_steps=100, fewest_steps_mostly_right=100),
    information=InformationSettings(most_snapshots=4, fewest_snapshots=2),
    final=FinalSettings(steps=100, most_walks=1),
)


def warm_up() -> None:
    """Load every compiled kernel, compiling those that are not cached on disk yet.

    The first fit after an installation compiles for some seconds, the first fit of a process
    loads the compiled code. Call this where waiting is better, for example before timing or
    before forking.

    Examples
    --------
    >>> import unshuffle
    >>> unshuffle.warm_up()
    """
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(24, 2)), rng.normal(size=24)
    codes, known = rng.permutation(np.arange(24) // 8), np.arange(24) == 3
    with Workers(1) as workers:
        for order in (codes, np.sort(codes)):  # rows that are rearranged, and rows that are not
            _warm_up_memory(make_problem(X, y, order, known), workers)
        _warm_up_passes(X, y, codes, known, workers)
        _warm_up_unequal(X, X[:20] @ np.ones(2) + 0.1 * y[:20], codes, workers)


def _warm_up_unequal(X: FloatArray, y: FloatArray, codes: IntArray, workers: Workers) -> None:
    settings = UnequalSettings(0, match_share=(0.5, 1.0), n_candidates=20, em=SHORT)
    fit_unequal(make_unequal_problem(X, y, codes, codes[: len(y)]), workers, settings)


def _warm_up_memory(problem: Problem, workers: Workers) -> None:
    data, init = InMemory(problem, workers), np.ones(2)
    for settings in (
        StochasticSettings(0, max_iter=2, em=SHORT),
        StochasticSettings(0, max_iter=2, em=SHORT, variant="published"),
        StochasticSettings(0, max_iter=2, em=SHORT, mismatch_rate="estimate", max_shift=3),
        StochasticSettings(0, max_iter=2, em=SHORT, max_shift=3),
        StochasticSettings(0, max_iter=2, em=SHORT, mismatch_rate="estimate"),
    ):
        fit = fit_stochastic(data, settings)
    names = ["a", "b"]
    sample_posterior(
        data, fit, init[None], names, n_chains=1, n_draws=4, n_warmup=2, thin=1, seed=0
    )
    fit_hard(data, HardSettings(0, n_init=2))
    fit_auto(data, AutoSettings(0, pairing="lost", search="population", n_candidates=4, em=SHORT))
    y, n = problem.y, problem.n_movable
    one_group = Problem(problem.X, y, np.array([0, n]), None, 1)
    assert fit.permutations is not None
    align = SinkhornAlignment(
        one_group, Prior(0.2), settings=SinkhornSettings(smallest_grid_block=2)
    )
    align(fit.permutations.state._replace(noise_scale=2.0), 0)
    for costs in (np.empty(0), np.ones(n)):  # a group too large for one call of a kernel
        sweeps = Sweeps(
            one_group, Schedule(8 * n, 0, 1), 0, workers, WorkSettings(visits_per_piece=9)
        )
        rows, suspected = NORMAL.interaction(y, 1.0), y[: len(costs)] > 1.5
        sweeps.run(rows, y, np.arange(len(y)), 0, costs, suspected)


def _warm_up_passes(
    X: FloatArray, y: FloatArray, codes: IntArray, known: BoolArray, workers: Workers
) -> None:
    for features in (X, X.astype(np.float32)):
        parts = LocalParts(slice_array(features, y, codes, known, 24), workers)
        for init, rate in ((np.ones(2), None), (None, "estimate")):
            settings = StochasticSettings(0, max_iter=2, init=init, mismatch_rate=rate, em=SHORT)
            fit_stochastic(InPasses(parts), settings)
