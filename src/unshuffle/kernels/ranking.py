"""Sorting again and again: fitted values whose order changes little from one step to the next.

A fresh order comes from one pass over as many buckets as there are values, finished by insertion:
linear for values that are spread out. An order of the step before is repaired by insertion alone.
Both give up after a number of moves in proportion to the size (heavy tails, a long step) and leave
the rest to a merge sort, so that no input costs more than O(n log n). It is our own, because
Numba's takes longer to compile than everything else here together.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import inlined, kernel
from .types import FloatArray, IntArray

# Moves per value after which another way of sorting is cheaper.
PATIENCE_FRESH = 8
PATIENCE_REPAIR = 4


class Ranking(NamedTuple):
    """Work space for n values: ``order`` holds the answer, group by group."""

    order: IntArray
    keys: FloatArray
    bucket: NDArray[np.int32]
    ends: NDArray[np.int32]


@inlined
def new_ranking(n: int) -> Ranking:
    """Work space for n values, in the order given."""
    order = np.empty(n, dtype=np.int64)
    for i in range(n):
        order[i] = i
    return Ranking(order, np.empty(n), np.empty(n, dtype=np.int32), np.empty(n + 1, dtype=np.int32))


@kernel
def rank_block(values: FloatArray, first: int, last: int, ranking: Ranking, repair: bool) -> None:
    """Write the indices of ``values[first:last]`` in ascending order into ``order[first:last]``."""
    if repair:
        for k in range(first, last):
            ranking.keys[k] = values[ranking.order[k]]
        if _insert(ranking.keys, ranking.order, first, last, PATIENCE_REPAIR * (last - first)):
            return
    if _distribute(values, first, last, ranking) and _insert(
        ranking.keys, ranking.order, first, last, PATIENCE_FRESH * (last - first)
    ):
        return
    _merge(values, first, last, ranking)


@kernel
def _insert(keys: FloatArray, order: IntArray, first: int, last: int, most_moves: int) -> bool:
    """Insertion sort of `keys`, and of `order` with them; False if it gave up."""
    moves = 0
    for k in range(first + 1, last):
        key = keys[k]
        index = order[k]
        # Equal values stand in the order of their indices, whatever the order was before.
        if key < keys[k - 1] or (key == keys[k - 1] and index < order[k - 1]):
            place = k - 1
            while place >= first and (
                keys[place] > key or (keys[place] == key and order[place] > index)
            ):
                keys[place + 1] = keys[place]
                order[place + 1] = order[place]
                place -= 1
            keys[place + 1] = key
            order[place + 1] = index
            moves += k - 1 - place
            if moves > most_moves:
                return False
    return True


@kernel
def _distribute(values: FloatArray, first: int, last: int, ranking: Ranking) -> bool:
    """Sort indices and keys by bucket, the range of the values cut evenly.

    False where the range is so narrow that its inverse overflows.
    """
    low = high = values[first]
    for i in range(first, last):
        low = min(low, values[i])
        high = max(high, values[i])
    size = last - first
    per_unit = (size - 0.5) / (high - low) if high > low else np.inf
    if not 0.0 < per_unit < np.inf:  # all values equal, or the quotient under- or overflows
        return False
    bucket, ends = ranking.bucket, ranking.ends
    for k in range(size + 1):
        ends[k] = 0
    for i in range(first, last):
        b = np.int32((values[i] - low) * per_unit)
        if not 0 <= b < size:  # not a number: leave it to the general sort
            return False
        bucket[i] = b
        ends[b + 1] += 1
    for k in range(size):
        ends[k + 1] += ends[k]
    for i in range(first, last):
        b = bucket[i]
        place = first + np.int64(ends[b])
        ends[b] += 1
        ranking.order[place] = i
        ranking.keys[place] = values[i]
    return True


@kernel
def _merge(values: FloatArray, first: int, last: int, ranking: Ranking) -> None:
    """Merge sort of the indices; equal values stand in the order of their indices, NaN last."""
    order, spare = ranking.order, ranking.bucket
    for i in range(first, last):
        order[i] = i
    width = 1
    while width < last - first:
        for start in range(first, last, 2 * width):
            middle, end = min(start + width, last), min(start + 2 * width, last)
            for k in range(start, middle):
                spare[k] = order[k]
            a, b, k = start, middle, start
            while a < middle and b < end:
                left, right = values[spare[a]], values[order[b]]
                # The left half wins unless the right value is smaller, or the left one is NaN.
                if right < left or (np.isnan(left) and not np.isnan(right)):
                    order[k] = order[b]
                    b += 1
                else:
                    order[k] = spare[a]
                    a += 1
                k += 1
            while a < middle:
                order[k] = spare[a]
                a += 1
                k += 1
        width *= 2
