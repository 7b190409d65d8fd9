from itertools import combinations, permutations

import numpy as np
import pytest

from unshuffle.kernels.partial_chain import PartialRows, PartialState, sweep_partial

N_RUNS = 30
LIMIT = 4.5  # Monte Carlo errors


def enumerate_matchings(mu, y, gain, precision):
    """Means over all partial matchings: holding a label, that label, its square, being held."""
    r, n_labels, total = len(mu), len(y), 0.0
    means = np.zeros(3 * r + n_labels)
    for size in range(min(r, n_labels) + 1):
        for rows in map(list, combinations(range(r), size)):
            for labels in map(list, permutations(range(n_labels), size)):
                distance = (y[labels] - mu[rows]) ** 2
                weight = np.exp((gain[labels] - 0.5 * precision * distance).sum())
                total += weight
                statistic = np.zeros((4, max(r, n_labels)))
                statistic[0, rows] = 1.0
                statistic[1, rows], statistic[2, rows] = y[labels], y[labels] ** 2
                statistic[3, labels] = 1.0
                means += weight * np.concatenate([*statistic[:3, :r], statistic[3, :n_labels]])
    return means / total


def run_chain(mu, y, gain, precision, number, n_sweeps=600):
    r, n_labels = len(mu), len(y)
    state = PartialState(np.full(r, -1), np.zeros(r), np.zeros(r), np.zeros(r), np.zeros(n_labels))
    rows = PartialRows(mu, y, gain, np.array([0, r]), np.array([0, n_labels]))
    sweep_partial(rows, state, 0, 1, precision, np.uint64(7), number, 50, n_sweeps)
    held = state.label_of[state.label_of >= 0]
    assert len(set(held.tolist())) == len(held)
    return np.concatenate([state.holds, state.held, state.held_squares, state.is_held])


def deviations(case, gain):
    """Largest distance of the chain's means from those of an enumeration, in their errors."""
    mu, y, _, precision = case
    runs = np.array([run_chain(*case, number) for number in range(N_RUNS)])
    # Rare pairs may not be seen in any run, which a floor on the errors allows for.
    error = np.maximum(runs.std(axis=0, ddof=1), 2e-3) / N_RUNS**0.5
    exact = enumerate_matchings(mu, y, gain, precision)
    return float(np.abs((runs.mean(axis=0) - exact) / error).max())


def make_case(seed):
    rng = np.random.default_rng(seed)
    r, n_labels = [(1, 1), (5, 5), (3, 5), (5, 2), (4, 4), (1, 4), (4, 1), (2, 3)][seed % 8]
    mu, y = rng.normal(size=r), np.sort(rng.normal(size=n_labels))
    return mu, y, rng.normal(0.5, 1.0, size=n_labels), float(rng.uniform(0.5, 6.0))


@pytest.mark.parametrize("seed", range(16))
def test_chain_means_equal_those_over_all_partial_matchings(seed):
    case = make_case(seed)
    assert deviations(case, case[2]) < LIMIT


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_forgotten_correction_is_seen(seed):
    """The control: odds of a pair that are a third too large, as without Hastings' correction."""
    case = make_case(seed)
    assert deviations(case, case[2] + np.log(4.0 / 3.0)) > LIMIT


def test_groups_do_not_depend_on_how_they_are_cut():
    rng = np.random.default_rng(0)
    row_starts, label_starts = np.array([0, 4, 5, 9]), np.array([0, 3, 5, 10])
    mu, gain = rng.normal(size=9), rng.normal(size=10)
    y = np.concatenate([np.sort(rng.normal(size=m)) for m in (3, 2, 5)])
    rows = PartialRows(mu, y, gain, row_starts, label_starts)
    ends = []
    for cuts in ([(0, 3)], [(0, 1), (1, 3)]):
        state = PartialState(np.full(9, -1), np.zeros(9), np.zeros(9), np.zeros(9), np.zeros(10))
        for first, last in cuts:
            sweep_partial(rows, state, first, last, 2.0, np.uint64(1), 0, 5, 20)
        ends.append(np.concatenate([array.astype(float) for array in state]))
    np.testing.assert_array_equal(*ends)
