"""Pairs of times and risks in O(n log n), by a binary indexed tree over the ranks of the risks."""

from .jit import kernel
from .types import BoolArray, FloatArray, IntArray


@kernel
def count_up_to(tree: IntArray, rank: int) -> int:
    """Number of entries whose rank is at most `rank`."""
    total = 0
    while rank > 0:
        total += tree[rank]
        rank -= rank & -rank
    return total


@kernel
def count_pairs(
    time: FloatArray, event: BoolArray, ranks: IntArray, tree: IntArray
) -> tuple[float, float, float]:
    """Pairs that agree, tie and can be compared, of rows sorted by time.

    The tree holds the ranks of all rows with a later time; a censored row at the time of an event
    outlives it.
    """
    n, agreeing, ties, pairs = len(time), 0.0, 0.0, 0.0
    last, n_later = n, 0
    while last > 0:
        first = last - 1
        while first > 0 and time[first - 1] == time[last - 1]:
            first -= 1
        for chosen in range(3):  # censored rows enter, events are counted, events enter
            for i in range(first, last):
                if chosen == 1 and event[i]:
                    below = count_up_to(tree, ranks[i] - 1)
                    agreeing += below
                    ties += count_up_to(tree, ranks[i]) - below
                    pairs += n_later
                elif (chosen == 0 and not event[i]) or (chosen == 2 and event[i]):
                    rank = ranks[i]
                    while rank < len(tree):
                        tree[rank] += 1
                        rank += rank & -rank
                    n_later += 1
        last = first
    return agreeing, ties, pairs
