"""Sweeps give one answer, however the work is cut."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor
from unshuffle.alignment.chain import Chain
from unshuffle.alignment.settings import WORK, WorkSettings
from unshuffle.alignment.sweeps import Sweeps, cut_visits, sweep_plan
from unshuffle.data.problem import Problem
from unshuffle.data.threads import Workers
from unshuffle.families.normal import NORMAL
from unshuffle.kernels.swap import Schedule
from unshuffle.kernels.sweep_blocks import Plan

N = 600
STARTS = np.array([0, 400, 403, 550])


def problem(part=slice(0, 3)):
    y = np.random.default_rng(0).normal(size=N)
    first, last = STARTS[part.start], STARTS[part.stop]
    starts = STARTS[part.start : part.stop + 1] - first
    tail = y[550:] if part.stop == 3 else y[:0]
    return Problem(np.empty((0, 0)), np.append(y[first:last], tail), starts, None, 4)


def run(data, n_jobs=1, priced=True, runs=2, work=WORK):
    fitted = data.y + np.random.default_rng(1).normal(size=len(data.y))
    n = data.n_movable
    costs = np.full(n, 2.0 if priced else 0.0)[: n if priced else 0]
    suspected = np.abs(data.y[: len(costs)] - fitted[: len(costs)]) > 0.8
    perm, found = np.arange(len(data.y)), []
    with Workers(n_jobs) as workers:
        chain = Sweeps(data, Schedule(20 * n, 3 * n, 1), 7, workers, work)
        for k in range(runs):
            expected, own, rate = chain.run(
                NORMAL.interaction(fitted * (1 + 0.1 * k), 0.5), data.y, perm, k, costs, suspected
            )
            found += [expected, own, perm.copy()]
    return found, rate


@pytest.mark.parametrize("priced", [True, False])
def test_large_groups_and_threads_change_nothing(priced):
    once, rate = run(problem(), priced=priced)
    assert 0.0 < rate < 1.0
    assert sorted(once[2]) == list(range(N))
    assert np.all(once[1][550:] == 1.0)
    small = WorkSettings(visits_per_piece=2_000, visits_per_thread=60)
    for n_jobs in (1, 2, 3):
        again, same_rate = run(problem(), n_jobs, priced=priced, work=small)
        assert all(np.array_equal(a, b) for a, b in zip(once, again, strict=True))
        if n_jobs == 1:
            assert same_rate == rate


def test_chains_cut_into_many_pieces_end_where_whole_ones_do():
    data = problem()
    rows, found = NORMAL.interaction(data.y[::-1].copy(), 0.5), []
    for work in (WORK, WorkSettings(proposals_per_piece=1_000, proposals_per_thread=60)):
        with Workers(2) as workers:
            chain = Chain(data, Schedule(40_000, 100, 1), 7, workers, work)
            perm = np.arange(len(data.y))
            found.append((chain.run_random_pairs(rows, data.y, perm, 0)[0], perm))
    assert np.array_equal(found[0][0], found[1][0])
    assert np.array_equal(found[0][1], found[1][1])


def test_blocks_are_cut_into_tasks_that_cover_them_once():
    starts = np.array([0, 10, 5_000_000, 5_000_003, 5_000_500])
    tasks, large = cut_visits(starts, Plan(2, 8), 2)
    assert large == [1]
    covered = sorted(g for a, b in tasks for g in range(a, b))
    assert covered == [0, 2, 3]


def test_plans():
    assert sweep_plan(Schedule(50, 10, 1), 10) == Plan(2, 8)
    assert sweep_plan(Schedule(1, 0, 1), 10) == Plan(0, 1)
    assert sweep_plan(Schedule(10, 10, 1), 10) == Plan(1, 1)


def test_standard_errors_do_not_depend_on_threads():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    y = X @ [1.0, -1.0] + 0.2 * rng.normal(size=300)
    y[:40] = rng.permutation(y[:40])
    models = [
        StochasticEMRegressor(mismatch_rate="estimate", n_jobs=n_jobs, random_state=0).fit(X, y)
        for n_jobs in (1, 2)
    ]
    assert np.array_equal(models[0].standard_errors_, models[1].standard_errors_)
