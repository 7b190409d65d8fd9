"""Sorted matching of r rows and l labels, some of which stay without a partner.

Given which rows and which labels are matched, the best matching hands them out in sorted order. So
the best of all is a path through an r by l table that moves up and to the right only, and a dynamic
programme over that table finds it. Both functions visit a band of the table and are exact:

- `match_all` matches every item of the smaller side. The k-th of r rows can hold the labels k to
  k + l - r only.
- `match_with_skips` lets items of both sides stay without a partner at a price. A pair is worth it
  only if its members lie so near to each other that it costs less than both prices, which leaves a
  window of labels for each row.
"""

import math

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray

NOBODY = -1
SKIP_ROW, SKIP_LABEL, PAIR = 0, 1, 2


@kernel
def match_all(
    mu: FloatArray, y: FloatArray, price: FloatArray, per_price: float, partner: IntArray
) -> float:
    """Match every item of the smaller side at the least cost, which is returned.

    A pair costs its squared distance, a label that nobody holds `per_price` times its `price`.
    `mu` and `y` are ascending. ``partner[i]`` becomes the place in `y` of the label that row i
    holds, or -1.
    """
    if len(mu) <= len(y):
        total = _match_shorter(mu, y, price, per_price, partner)
        return float(total + per_price * price.sum())
    held_by = np.empty(len(y), dtype=np.int64)
    total = _match_shorter(y, mu, mu, 0.0, held_by)
    partner[:] = NOBODY
    for j in range(len(y)):
        partner[held_by[j]] = j
    return total


@kernel
def _match_shorter(
    few: FloatArray, many: FloatArray, price: FloatArray, per_price: float, partner: IntArray
) -> float:
    """Least sum of squared distances less the prices of those of `many` that are matched."""
    size, spare = len(few), len(many) - len(few)
    # best[b]: least sum for the items so far, the last of which holds one of the first b + 1 of
    # those left to it.
    best = np.zeros(spare + 1)
    own = np.empty((size, spare + 1), dtype=np.bool_)
    for i in range(size):
        value = few[i]
        for b in range(spare + 1):
            apart = many[i + b] - value
            total = best[b] + apart * apart - per_price * price[i + b]
            is_own = b == 0 or total < best[b - 1]
            own[i, b] = is_own
            best[b] = total if is_own else best[b - 1]
    b = spare
    for i in range(size - 1, -1, -1):
        while not own[i, b]:
            b -= 1
        partner[i] = i + b
    return float(best[spare])


@kernel
def find_windows(mu: FloatArray, y: FloatArray, reach: float, low: IntArray, high: IntArray) -> int:
    """Write the window [low, high) of labels within `reach` of each row; return their total size.

    `mu` and `y` are ascending, so that the ends of windows never fall.
    """
    first = last = total = 0
    for i in range(len(mu)):
        while first < len(y) and y[first] < mu[i] - reach:
            first += 1
        while last < len(y) and y[last] <= mu[i] + reach:
            last += 1
        low[i], high[i] = first, max(first, last)
        total += high[i] - low[i]
    return total


@kernel
def match_with_skips(
    mu: FloatArray,
    y: FloatArray,
    precision: float,
    row_price: FloatArray,
    label_price: FloatArray,
    partner: IntArray,
) -> float:
    """Match at the least cost, where items without a partner pay their price.

    A pair costs half its squared distance times `precision`. Returns what the matching saves
    against everybody paying. `mu` and `y` are ascending; ``partner[i]`` becomes the place in `y` of
    the label that row i holds, or -1.
    """
    n_rows, n_labels = len(mu), len(y)
    partner[:] = NOBODY
    if n_rows == 0 or n_labels == 0:
        return 0.0
    worth = row_price.max() + label_price.max()
    if worth <= 0.0:
        return 0.0
    low, high = np.empty(n_rows, dtype=np.int64), np.empty(n_rows, dtype=np.int64)
    cells = find_windows(mu, y, math.sqrt(2.0 * worth / precision), low, high)
    step = np.empty(cells, dtype=np.int8)
    # saved[j]: the most that the rows so far can save with the first j labels. Beyond the last
    # label in any window so far it does not change, and it is filled in when it is needed.
    saved = np.zeros(n_labels + 1)
    filled, cell = 0, 0
    for i in range(n_rows):
        while filled < high[i]:
            saved[filled + 1] = saved[filled]
            filled += 1
        before = saved[low[i]]  # with one label less, and without this row
        for j in range(low[i], high[i]):
            apart = y[j] - mu[i]
            paired = before + row_price[i] + label_price[j] - 0.5 * precision * apart * apart
            before = saved[j + 1]
            step[cell] = SKIP_ROW
            if saved[j] > saved[j + 1]:
                saved[j + 1] = saved[j]
                step[cell] = SKIP_LABEL
            if paired > saved[j + 1]:
                saved[j + 1] = paired
                step[cell] = PAIR
            cell += 1
    j = filled
    for i in range(n_rows - 1, -1, -1):
        cell -= high[i] - low[i]
        j = min(j, high[i])
        while j > low[i] and step[cell + j - 1 - low[i]] == SKIP_LABEL:
            j -= 1
        if j > low[i] and step[cell + j - 1 - low[i]] == PAIR:
            partner[i] = j - 1
            j -= 1
    return float(saved[filled])
