r"""Yes/no labels of a group of which only their number is known.

With odds :math:`w_i = e^{\eta_i}` the probability of exactly k ones is :math:`\prod_i (1 - p_i)`
times the elementary symmetric polynomial of the odds of degree k. Distributions of the rows before
and after each row give its expected label in O(m k) per group, by sums of positive terms
alone. A shift of all linear predictors of a group changes no expected label; it is chosen such that
k is the expected number of ones, so that nothing underflows.
"""

import math

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray


@kernel
def probability(eta: float) -> float:
    """Inverse logit."""
    if eta >= 0.0:
        return 1.0 / (1.0 + math.exp(-eta))
    odds = math.exp(eta)
    return odds / (1.0 + odds)


@kernel
def log_of_zero(eta: float) -> float:
    """Log probability of label 0."""
    return -max(eta, 0.0) - math.log1p(math.exp(-abs(eta)))


@kernel
def find_shift(eta: FloatArray, count: int) -> float:
    """Shift of the linear predictors at which `count` ones are expected, by bisection."""
    low: float = -eta.max() - 40.0
    high: float = -eta.min() + 40.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        total = 0.0
        for i in range(len(eta)):
            total += probability(eta[i] + middle)
        if total < count:
            low = middle
        else:
            high = middle
    return 0.5 * (low + high)


@kernel
def tails(p: FloatArray, most: int) -> FloatArray:
    """Probability of k ones among the rows from i on, in row i and column k <= most."""
    m = len(p)
    table = np.zeros((m + 1, most + 1))
    table[m, 0] = 1.0
    for i in range(m - 1, -1, -1):
        table[i, 0] = (1.0 - p[i]) * table[i + 1, 0]
        for k in range(1, most + 1):
            table[i, k] = (1.0 - p[i]) * table[i + 1, k] + p[i] * table[i + 1, k - 1]
    return table


@kernel
def expect_group(eta: FloatArray, count: int, expected: FloatArray) -> float:
    """Expected label of each row given the number of ones; return its log probability.

    Ones and zeros change roles where there are more ones, so that the table stays small.
    """
    m = len(eta)
    log_zeros = 0.0
    for i in range(m):
        log_zeros += log_of_zero(eta[i])
    if count in (0, m):
        total = log_zeros
        for i in range(m):
            expected[i] = 0.0 if count == 0 else 1.0
            total += 0.0 if count == 0 else eta[i]
        return total
    shift = find_shift(eta, count)
    flipped = 2 * count > m
    k_ones = m - count if flipped else count
    q = np.empty(m)
    log_shifted = 0.0
    for i in range(m):
        q[i] = probability(-eta[i] - shift if flipped else eta[i] + shift)
        log_shifted += log_of_zero(eta[i] + shift)
    after = tails(q, k_ones)
    before = np.zeros(k_ones + 1)
    before[0] = 1.0
    total = after[0, k_ones]
    for i in range(m):
        ones = 0.0
        for k in range(k_ones):
            ones += before[k] * after[i + 1, k_ones - 1 - k]
        share = q[i] * ones / total
        expected[i] = 1.0 - share if flipped else share
        for k in range(k_ones, 0, -1):
            before[k] = (1.0 - q[i]) * before[k] + q[i] * before[k - 1]
        before[0] *= 1.0 - q[i]
    return log_zeros + math.log(total) - log_shifted - shift * count


@kernel
def expect_labels(
    eta: FloatArray, counts: IntArray, starts: IntArray, expected: FloatArray
) -> float:
    """Expected labels of all groups; return the log probability of their numbers of ones."""
    total = 0.0
    for g in range(len(starts) - 1):
        first, last = starts[g], starts[g + 1]
        total += expect_group(eta[first:last], counts[g], expected[first:last])
    return total
