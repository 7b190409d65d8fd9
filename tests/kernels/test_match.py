import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from oracles import best_matched_ss, group_permutations
from unshuffle.kernels.hard_em import coordinates, descend, fitted_values
from unshuffle.kernels.match import match_groups, rank_inside, shuffle_groups

few = st.integers(-3, 3).map(float)  # small integers, so that ties are common


@given(
    st.lists(st.tuples(few, few), min_size=5, max_size=5),
    st.sampled_from([(0, 5), (0, 2, 5), (0, 3)]),
)
def test_matching_reaches_the_brute_force_optimum(rows, blocks):
    mu, y = (np.array(column) for column in zip(*rows, strict=True))
    starts = np.array(blocks, dtype=np.int64)
    ranked, perm = np.empty(5, dtype=np.int64), np.empty(5, dtype=np.int64)
    rank_inside(y, starts, ranked)
    match_groups(mu, ranked, starts, perm)
    assert sorted(perm) == [0, 1, 2, 3, 4]
    assert np.array_equal(perm[starts[-1] :], np.arange(starts[-1], 5))
    assert np.sum((y[perm] - mu) ** 2) == pytest.approx(best_matched_ss(mu, y, starts), abs=1e-12)


def test_shuffles_are_uniform_inside_groups():
    starts = np.array([0, 3, 5], dtype=np.int64)
    allowed = [tuple(p) for p in group_permutations(starts, 6)]
    counts = dict.fromkeys(allowed, 0)
    perm, n = np.empty(6, dtype=np.int64), 12_000
    for number in range(n):
        shuffle_groups(perm, starts, np.uint64(4), number)
        counts[tuple(perm)] += 1
    expected = n / len(allowed)
    chi2 = sum((c - expected) ** 2 / expected for c in counts.values())
    freedom = len(allowed) - 1
    assert chi2 < freedom + 4.5 * np.sqrt(2 * freedom)


@pytest.mark.parametrize("n", [4, 7, 13])
def test_products_match_numpy(n):
    rng = np.random.default_rng(n)
    basis, theta, held = rng.normal(size=(3, n)), rng.normal(size=3), rng.normal(size=n)
    mu, out = np.empty(n), np.empty(3)
    fitted_values(basis, theta, mu)
    np.testing.assert_allclose(mu, theta @ basis, rtol=1e-13)
    squared = coordinates(basis, held, out)
    np.testing.assert_allclose(out, basis @ held, rtol=1e-12)
    assert squared == pytest.approx(np.sum(out**2))


def test_hard_steps_never_raise_the_matched_sum_of_squares():
    rng = np.random.default_rng(0)
    n, starts = 60, np.array([0, 25, 55], dtype=np.int64)
    basis = np.linalg.qr(rng.normal(size=(n, 4)))[0].T.copy()
    y = rng.normal(size=n)
    ranked = np.empty(n, dtype=np.int64)
    rank_inside(y, starts, ranked)
    thetas, value, settled = rng.normal(size=(1, 4)), np.full(1, -1.0), np.zeros(1, dtype=bool)
    explained = []
    while not settled[0]:
        descend(basis, y[ranked], starts, thetas, value, settled, 1, 0.0)
        explained.append(value[0])
    assert np.all(np.diff(explained) >= -1e-12 * np.sum(y**2))
    assert explained[-1] > explained[0]
