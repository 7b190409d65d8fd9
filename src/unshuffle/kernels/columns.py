"""First passes over the rows of a part: limits, sums and products of its columns."""

import numpy as np

from .block_em import PartRows, SmallIntArray
from .exact_sum import Sums, add, count_terms
from .jit import kernel
from .types import Features, FloatArray


@kernel
def column_ranges(X: Features, index: SmallIntArray, low: FloatArray, high: FloatArray) -> int:
    """Widen low and high to hold every column; return the place of a value that is not finite.

    The place is counted row by row through `index`, or is -1.
    """
    d: int = X.shape[1]
    for i in range(len(index)):
        for j in range(d):
            x = np.float64(X[index[i], j])
            if not -np.inf < x < np.inf:
                return i * d + j
            low[j] = min(low[j], x)
            high[j] = max(high[j], x)
    return -1


@kernel
def add_columns(X: Features, rows: PartRows, sums: Sums) -> None:
    """Add up the columns of X and, last, the labels."""
    d = X.shape[1]
    for i in range(len(rows.y)):
        count_terms(sums, 1)
        for j in range(d):
            add(sums, j, np.float64(X[rows.places[i], j]))
        add(sums, d, rows.y[i])


@kernel
def add_products(
    X: Features,
    rows: PartRows,
    first: int,
    last: int,
    centre: FloatArray,
    label_centre: float,
    sums: Sums,
) -> None:
    """Add up the upper triangle of the products of centred columns, the label being the last."""
    d = len(centre)
    x = np.empty(d + 1)
    for i in range(first, last):
        count_terms(sums, 1)
        for j in range(d):
            x[j] = np.float64(X[rows.places[i], j]) - centre[j]
        x[d] = rows.y[i] - label_centre
        place = 0
        for j in range(d + 1):
            factor = x[j]
            for k in range(j, d + 1):
                value = factor * x[k]
                q = place + k - j
                h = (value + sums.coarse[q]) - sums.coarse[q]
                sums.high[q] += h
                sums.low[q] += ((value - h) + sums.fine[q]) - sums.fine[q]
            place += d + 1 - j
