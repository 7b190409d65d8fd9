"""Which labels of a block may be a row's own: the most probable ones, without a table of pairs."""

import math

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray

NEGLIGIBLE = 45.0  # a weight so far below the largest, as a logarithm, adds nothing


@kernel
def likely_labels(
    rows: IntArray,
    first: IntArray,
    last: IntArray,
    a: FloatArray,
    u: FloatArray,
    v: FloatArray,
    level: FloatArray,
    found: IntArray,
    share: FloatArray,
) -> None:
    """For each of `rows` the labels j of ``first:last`` with the largest weights, its own left out.

    The weight of label j is ``exp(a + u · v[j] + level[j])``, and `share` is its share of the sum
    over all labels but the row's own. Fewer labels than columns of `found` leave -1 and nan.
    """
    size, width = u.shape[1], found.shape[1]
    for k in range(len(rows)):
        i = rows[k]
        weight = np.zeros(width)
        total, top = 0.0, -np.inf
        for c in range(width):
            found[k, c], share[k, c] = -1, np.nan
        for j in range(first[k], last[k]):
            if j == i:
                continue
            value = a[i] + level[j]
            for s in range(size):
                value += u[i, s] * v[j, s]
            if value == -np.inf or (value < top - NEGLIGIBLE and found[k, width - 1] >= 0):
                continue
            if value > top:  # all weights so far are taken relative to the largest
                shrink = math.exp(top - value)
                total *= shrink
                for c in range(width):
                    weight[c] *= shrink
                top = value
            this = math.exp(value - top)
            total += this
            if found[k, width - 1] >= 0 and this <= weight[width - 1]:
                continue
            c = width - 1
            while c > 0 and (found[k, c - 1] < 0 or this > weight[c - 1]):
                found[k, c], weight[c] = found[k, c - 1], weight[c - 1]
                c -= 1
            found[k, c], weight[c] = j, this
        for c in range(width):
            if found[k, c] >= 0:
                share[k, c] = weight[c] / total
