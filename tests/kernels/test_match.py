import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import best_matched_ss, group_permutations
from unshuffle.kernels.match import match_groups, rank_inside, shuffle_groups

few = st.integers(-3, 3).map(float)  # small integers, so that ties are common


@settings(deadline=None)  # the first call may compile
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
