"""Sums of X times the labels held, stratum by stratum, in one pass over X."""

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray


@kernel
def stratum_scores(
    X: FloatArray,
    centre: FloatArray,
    order: IntArray,
    edges: IntArray,
    stratum: int,
    stratum_end: int,
    fitted: FloatArray,
    labels: FloatArray,
    expected: FloatArray,
    perm: IntArray,
    out: FloatArray,
) -> None:
    """Fill rows [stratum, stratum_end) of `out` for arranged rows cut at `edges`.

    First ``Σ (x_i - centre) (v_i - expected_i)`` for the labels v held, then ``Σ (v_i - mu_i)²``,
    then the number of rows that do not hold their own label. Arranged row i is row ``order[i]``
    of X; an order of length 0 means that both are the same. The expected labels only centre the
    scores, so that nothing is lost to rounding.
    """
    d = len(centre)
    for k in range(stratum, stratum_end):
        for column in range(d + 2):
            out[k, column] = 0.0
        for i in range(edges[k], edges[k + 1]):
            row = order[i] if len(order) else i
            held = labels[perm[i]]
            change = held - expected[i]
            for column in range(d):
                out[k, column] += (X[row, column] - centre[column]) * change
            out[k, d] += (held - fitted[i]) * (held - fitted[i])
            out[k, d + 1] += np.float64(perm[i] != i)
