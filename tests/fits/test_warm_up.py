import numpy as np
import pytest

import unshuffle
from unshuffle.alignment.settings import WorkSettings
from unshuffle.alignment.sweeps import Sweeps
from unshuffle.data.problem import Problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.normal import NORMAL
from unshuffle.kernels import (
    block_em,
    block_scores,
    collapsed,
    columns,
    exact_sum,
    grid,
    hard_em,
    local,
    match,
    ranking,
    rng,
    scores,
    strides,
    swap,
    sweep,
    sweep_blocks,
)
from unshuffle.kernels.swap import Schedule

MODULES = (
    rng,
    swap,
    local,
    match,
    ranking,
    hard_em,
    collapsed,
    exact_sum,
    columns,
    block_em,
    block_scores,
    strides,
    sweep,
    sweep_blocks,
    scores,
    grid,
)


def compiled_signatures():
    return {
        (module.__name__, name): len(function.signatures)
        for module in MODULES
        for name, function in vars(module).items()
        if hasattr(function, "signatures")
    }


@pytest.mark.long
def test_warm_up_compiles_all_that_fits_need():
    unshuffle.warm_up()
    before = compiled_signatures()
    assert before
    data = make_shuffled_regression(60, 2, shuffle="groups", random_state=0)
    known = np.arange(60) < 3
    for variant in ("exact", "published"):
        model = unshuffle.StochasticEMRegressor(variant=variant, tol=0, max_iter=2, random_state=0)
        model.fit(data.X, data.y, groups=data.groups, known=known)
    for costs in (np.empty(0), np.ones(60)):  # a group too large for one call of a kernel
        problem = Problem(data.X, data.y, np.array([0, 60]), None, 1)
        small = WorkSettings(visits_per_piece=100)
        sweeps = Sweeps(problem, Schedule(600, 0, 1), 0, Workers(1), small)
        suspected = data.y[: len(costs)] > 0.0
        interaction = NORMAL.interaction(data.y, 1.0)
        sweeps.run(interaction, data.y, np.arange(60), 0, costs, suspected)
    for rate in (None, 0.2):
        model = unshuffle.StochasticEMRegressor(mismatch_rate=rate, tol=0, max_iter=2)
        model.fit(data.X, data.y, groups=data.groups % 2)
    model = unshuffle.StochasticEMRegressor(mismatch_rate=0.2, max_shift=9, tol=0, max_iter=2)
    model.fit(data.X, data.y, groups=data.groups, known=known)
    with pytest.warns(unshuffle.MixingWarning):
        unshuffle.StochasticEMRegressor(max_iter=2, tol=0).fit(
            data.X, data.y, groups=data.groups
        ).posterior(n_chains=1, n_draws=4, n_warmup=4)
    for dtype in (np.float32, np.float64):
        model = unshuffle.StochasticEMRegressor(
            streaming=unshuffle.Streaming(), mismatch_rate=0.2, tol=0, max_iter=2
        )
        model.fit(data.X.astype(dtype), data.y, groups=data.groups, known=known)
    unshuffle.HardEMRegressor(n_init=3, random_state=0).fit(data.X, data.y, groups=data.groups)
    assert compiled_signatures() == before
