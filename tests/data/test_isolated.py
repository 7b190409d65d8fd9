"""Labels far from all others."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.data.groups import encode_groups
from unshuffle.data.isolated import find_isolated
from unshuffle.data.problem import make_problem


def problem_of(y, groups=None, known=None):
    known = np.zeros(len(y), dtype=bool) if known is None else known
    return make_problem(np.zeros((len(y), 1)), y, encode_groups(groups, len(y)), known)


def by_definition(y, gap=3.0, share=0.05, fewest=20):
    """Labels outside the core, which takes in one neighbour after the other while they are near."""
    ranked, k = sorted(y), int(share * len(y))
    core, low, high = ranked[k : len(y) - k], ranked[:k], ranked[len(y) - k :]
    while True:
        reach = gap * (core[-1] - core[0])
        if high and high[0] - core[-1] <= reach:
            core = [*core, high.pop(0)]
        elif low and core[0] - low[-1] <= reach:
            core = [low.pop(), *core]
        else:
            break
    if len(set(core)) < fewest:
        return []
    return [i for i, label in enumerate(y) if not core[0] <= label <= core[-1]]


def labels(seed, n=200):
    return np.random.default_rng(seed).normal(size=n)


@given(
    st.integers(0, 10_000),
    st.integers(20, 150),
    st.lists(st.floats(-300, 300), max_size=6),
)
def test_isolated_labels_are_those_of_the_definition(seed, n, odd):
    y = labels(seed, n)
    y[: len(odd)] = odd
    found = find_isolated(problem_of(y))
    expected = by_definition(y)
    assert ([] if found is None else found.rows.tolist()) == expected


@given(st.integers(0, 10_000), st.floats(-5, 5), st.floats(0.01, 100), st.booleans())
def test_units_zero_and_order_of_the_rows_change_nothing(seed, shift, scale, mirrored):
    y = labels(seed)
    y[3], y[50] = 999.0, -70.0
    order = np.random.default_rng(seed).permutation(len(y))
    other = (shift + (-scale if mirrored else scale) * y)[order]
    assert find_isolated(problem_of(y)).rows.tolist() == [3, 50]
    assert set(order[find_isolated(problem_of(other)).rows]) == {3, 50}


def test_the_median_of_the_group_takes_their_place():
    y = np.concatenate([labels(0, 100), 10.0 + labels(1, 100)])
    y[[4, 7, 150]] = 500.0, -500.0, 500.0
    groups = np.repeat([0, 1], 100)
    order = np.random.default_rng(0).permutation(200)
    problem = problem_of(y[order], groups[order])
    found = find_isolated(problem)
    clean = problem.restore(found.replaced(problem).y)
    others = np.setdiff1d(np.arange(200), [4, 7, 150])
    for row in (4, 7, 150):
        rest = others[groups[others] == groups[row]]
        assert clean[np.flatnonzero(order == row)[0]] == np.median(y[rest])
    same = ~np.isin(order, [4, 7, 150])
    assert np.array_equal(clean[same], y[order][same])
    assert np.array_equal(found.put_back(clean, found.labels), y[order])


def test_a_group_of_isolated_labels_gets_the_median_of_all_others():
    y, groups = labels(0, 102), np.repeat(np.arange(51), 2)
    y[:2] = 999.0
    problem = problem_of(y, groups)
    clean = find_isolated(problem).replaced(problem).y
    assert clean[0] == clean[1] == np.median(y[2:])


def test_labels_of_known_rows_are_never_isolated():
    y, known = labels(0), np.zeros(200, dtype=bool)
    y[[3, 8]], known[3] = 999.0, True
    problem = problem_of(y, known=known)
    found = find_isolated(problem)
    assert found.rows.tolist() == [8]
    assert problem.restore(found.replaced(problem).y)[3] == 999.0


@pytest.mark.parametrize(
    "make",
    [
        lambda rng: rng.normal(size=300),
        lambda rng: np.where(rng.random(300) < 0.96, 0.0, rng.poisson(30, 300)),  # mostly zeros
        lambda rng: rng.integers(1, 6, 300) + 95.0 * (rng.random(300) < 0.02),  # a scale of five
        lambda rng: np.concatenate([rng.normal(size=270), 500.0 + rng.normal(size=30)]),  # two
        lambda rng: np.full(300, 2.0),
        lambda rng: np.append(np.zeros(299), 1.0),
        lambda rng: rng.normal(size=2),
    ],
)
def test_distributions_without_isolated_labels(make):
    assert find_isolated(problem_of(make(np.random.default_rng(0)))) is None
