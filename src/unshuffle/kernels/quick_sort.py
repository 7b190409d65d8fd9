"""Indices in ascending order of their values, by quicksort with insertion at the end.

The pivot, and with it the order of equal values, is that of Numba's `np.argsort`, which takes three
times as long to compile.
"""

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray

SMALL = 15  # values that insertion sorts more quickly
DEEPEST = 64  # the larger part waits, so that parts halve with each one that waits


@kernel
def sort_indices(values: FloatArray, first: int, last: int, order: IntArray) -> None:
    """Write the indices of ``values[first:last]`` in ascending order into ``order[first:last]``."""
    for i in range(first, last):
        order[i] = i
    waiting = np.empty((DEEPEST, 2), dtype=np.int64)
    waiting[0, 0], waiting[0, 1] = first, last - 1
    n_waiting = 1
    while n_waiting > 0:
        n_waiting -= 1
        low, high = waiting[n_waiting, 0], waiting[n_waiting, 1]
        while high - low >= SMALL:
            middle = partition(values, order, low, high)
            if high - middle > middle - low:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = middle + 1, high
                high = middle - 1
            else:
                waiting[n_waiting, 0], waiting[n_waiting, 1] = low, middle - 1
                low = middle + 1
            n_waiting += 1
        for i in range(low + 1, high + 1):
            index, place = order[i], i
            while place > low and values[index] < values[order[place - 1]]:
                order[place] = order[place - 1]
                place -= 1
            order[place] = index


@kernel
def partition(values: FloatArray, order: IntArray, low: int, high: int) -> int:
    """Smaller values before the pivot, larger ones behind it; return its place.

    The pivot is the median of the first, middle and last of ``order[low : high + 1]``.
    """
    middle = (low + high) >> 1
    if values[order[middle]] < values[order[low]]:
        exchange(order, low, middle)
    if values[order[high]] < values[order[middle]]:
        exchange(order, high, middle)
    if values[order[middle]] < values[order[low]]:
        exchange(order, low, middle)
    pivot = values[order[middle]]
    exchange(order, high, middle)
    i, j = low, high - 1
    while True:
        while i < high and values[order[i]] < pivot:
            i += 1
        while j >= low and pivot < values[order[j]]:
            j -= 1
        if i >= j:
            break
        exchange(order, i, j)
        i += 1
        j -= 1
    exchange(order, i, high)
    return i


@kernel
def exchange(order: IntArray, i: int, j: int) -> None:
    """Exchange two indices."""
    held = order[i]
    order[i] = order[j]
    order[j] = held
