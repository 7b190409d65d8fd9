"""Sums over all permutations of a small group, by subsets of its labels."""

import math

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray


@kernel
def log_permanent(log_weights: FloatArray) -> float:
    """Logarithm of the sum over permutations p of the product of ``exp(log_weights[i, p(i)])``.

    The first k rows can hold any k labels: the sum for a set of labels follows from those for the
    sets with one label less. That takes ``m 2^m`` steps instead of ``m!``.
    """
    m = len(log_weights)
    sums = np.empty(1 << m)
    sums[0] = 0.0
    size = np.zeros(1 << m, dtype=np.int64)
    for labels in range(1, 1 << m):
        size[labels] = size[labels >> 1] + (labels & 1)
        row = size[labels] - 1
        largest = -math.inf
        for j in range(m):
            if labels >> j & 1:
                largest = max(largest, sums[labels ^ (1 << j)] + log_weights[row, j])
        total = 0.0
        for j in range(m):
            if labels >> j & 1:
                total += math.exp(sums[labels ^ (1 << j)] + log_weights[row, j] - largest)
        sums[labels] = largest + math.log(total)
    return float(sums[(1 << m) - 1])


@kernel
def block_log_means(
    labels: FloatArray, fitted: FloatArray, noise_scale: float, starts: IntArray, out: FloatArray
) -> None:
    """For each block the log mean over permutations of ``exp(-‖labels[p] - fitted‖² / 2 s²)``."""
    for block in range(len(starts) - 1):
        first = starts[block]
        m = starts[block + 1] - first
        log_weights = np.empty((m, m))
        for i in range(m):
            for j in range(m):
                z = (labels[first + j] - fitted[first + i]) / noise_scale
                log_weights[i, j] = -0.5 * z * z
        out[block] = log_permanent(log_weights) - math.lgamma(m + 1.0)
