"""Sort-matching: the most likely permutation gives the k-th smallest label to the k-th smallest mu.

Everywhere, rows from ``starts[-1]`` on are pinned: they keep their own label.
"""

import numpy as np

from .jit import ZERO, kernel
from .quick_sort import sort_indices
from .rng import draw, low_index, stream_key
from .types import FloatArray, IntArray


@kernel
def rank_inside(values: FloatArray, starts: IntArray, ranked: IntArray) -> None:
    """Write, group by group, the indices of the values in ascending order into `ranked`."""
    for g in range(len(starts) - 1):
        first, last = starts[g], starts[g + 1]
        sort_indices(values, first, last, ranked)
    for i in range(starts[-1], len(ranked)):
        ranked[i] = i


def match_groups(mu: FloatArray, ranked: IntArray, starts: IntArray, perm: IntArray) -> None:
    """Hand out the labels `ranked` (ascending inside each group) in the order of the rows' mu."""
    by_mu = np.empty_like(perm)
    rank_inside(mu, starts, by_mu)
    perm[by_mu] = ranked


@kernel
def shuffle_groups(perm: IntArray, starts: IntArray, seed: np.uint64, number: int) -> None:
    """Fill `perm` with a uniformly random permutation inside each group (Fisher-Yates)."""
    for i in range(len(perm)):
        perm[i] = i
    for g in range(len(starts) - 1):
        first = starts[g]
        key = stream_key(seed, number, g)
        for k in range(starts[g + 1] - first - 1, 0, -1):
            other = first + np.int64(low_index(draw(key, k), np.uint64(k + 1)))
            held = perm[first + k]
            perm[first + k] = perm[other]
            perm[other] = held


@kernel
def carry_groups(
    before: FloatArray,
    after: FloatArray,
    ratio: float,
    y: FloatArray,
    starts: IntArray,
    group: int,
    group_end: int,
    perm: IntArray,
) -> None:
    """Let the permutation of groups [group, group_end) follow its rows, in place.

    Every row keeps its residual, times `ratio`, and the labels are handed out anew in the order of
    the fitted values ``after`` plus these residuals.
    """
    for g in range(group, group_end):
        first, last = starts[g], starts[g + 1]
        size = last - first
        goal, labels = np.empty(size), y[first:last]
        by_goal, by_label = np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64)
        for k in range(size):
            i = first + k
            goal[k] = after[i] + ratio * (y[perm[i]] - before[i])
        sort_indices(goal, ZERO, size, by_goal)
        sort_indices(labels, ZERO, size, by_label)
        for k in range(size):
            perm[first + by_goal[k]] = first + by_label[k]
