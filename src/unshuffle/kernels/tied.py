"""Sums over all rows of a block for every node of its labels, and back from nodes to rows.

The log density of node k at row b is ``a[b] + u[b] · v[k]`` up to a term of the node alone. Rows
have weights; `log_sum[k]` is the log of the weighted sum of the densities over the rows of the
block. Rows and nodes of block g are ``row_starts[g]:row_starts[g + 1]`` and so on.
"""

import math

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray


@kernel
def sum_over_rows(
    a: FloatArray,
    u: FloatArray,
    weights: FloatArray,
    row_starts: IntArray,
    v: FloatArray,
    node_starts: IntArray,
    log_sum: FloatArray,
) -> None:
    """Log of the summed densities of each node, without overflow."""
    size = u.shape[1]
    exponent = np.empty(0)
    for g in range(len(row_starts) - 1):
        first, last = row_starts[g], row_starts[g + 1]
        if last - first > len(exponent):
            exponent = np.empty(last - first)
        for k in range(node_starts[g], node_starts[g + 1]):
            largest = -np.inf
            for b in range(first, last):
                value = a[b]
                for s in range(size):
                    value += u[b, s] * v[k, s]
                exponent[b - first] = value
                if weights[b] > 0.0 and value > largest:
                    largest = value
            total = 0.0
            for b in range(first, last):
                total += weights[b] * math.exp(exponent[b - first] - largest)
            log_sum[k] = largest + math.log(total)


@kernel
def sum_over_nodes(
    a: FloatArray,
    u: FloatArray,
    row_starts: IntArray,
    v: FloatArray,
    node_starts: IntArray,
    log_sum: FloatArray,
    share: FloatArray,
    mass: FloatArray,
    statistic: FloatArray,
) -> None:
    """Expected mass and statistic of each row where node k has `share[k]` to give away.

    Per unit of the row's weight, in proportion to the densities.
    """
    size = u.shape[1]
    for g in range(len(row_starts) - 1):
        for b in range(row_starts[g], row_starts[g + 1]):
            mass[b] = 0.0
            for s in range(size):
                statistic[b, s] = 0.0
            for k in range(node_starts[g], node_starts[g + 1]):
                if share[k] == 0.0:
                    continue
                value = a[b] - log_sum[k]
                for s in range(size):
                    value += u[b, s] * v[k, s]
                given = share[k] * math.exp(value)
                mass[b] += given
                for s in range(size):
                    statistic[b, s] += given * v[k, s]


@kernel
def mean_over_rows(
    a: FloatArray,
    u: FloatArray,
    weights: FloatArray,
    values: FloatArray,
    row_starts: IntArray,
    v: FloatArray,
    node_starts: IntArray,
    log_sum: FloatArray,
    mean: FloatArray,
) -> None:
    """Mean of the columns of `values` over the rows that may hold each node."""
    size, width = u.shape[1], values.shape[1]
    for g in range(len(row_starts) - 1):
        for k in range(node_starts[g], node_starts[g + 1]):
            for c in range(width):
                mean[k, c] = 0.0
            for b in range(row_starts[g], row_starts[g + 1]):
                value = a[b] - log_sum[k]
                for s in range(size):
                    value += u[b, s] * v[k, s]
                given = weights[b] * math.exp(value)
                for c in range(width):
                    mean[k, c] += given * values[b, c]
