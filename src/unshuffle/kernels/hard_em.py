"""Hard EM from many starts, in an orthonormal basis of the columns of X.

With B an orthonormal basis (stored as r rows of length n), ``mu = B' theta`` and the least
squares solution for labels v is ``theta = B v``. A permutation keeps ``‖v‖``, so the matched
sum of squares is ``‖y‖² - ‖theta‖²``: one hard step costs two products and one sort per group.
"""

import numpy as np

from ..problem import BoolArray, FloatArray, IntArray
from .jit import kernel
from .match import match_groups, shuffle_groups


@kernel
def fitted_values(basis: FloatArray, theta: FloatArray, mu: FloatArray) -> None:
    """Write ``B' theta`` into `mu`."""
    mu[:] = 0.0
    for k in range(len(theta)):
        weight = theta[k]
        row = basis[k]
        for i in range(len(mu)):
            mu[i] += weight * row[i]


@kernel
def coordinates(basis: FloatArray, held: FloatArray, theta: FloatArray) -> float:
    """Write ``B held`` into `theta`; return its squared norm."""
    total = 0.0
    n = len(held)
    whole = n - n % 4
    for k in range(len(theta)):
        row = basis[k]
        # Four running sums break the chain of dependent additions without `fastmath`.
        a = b = c = d = 0.0
        for i in range(0, whole, 4):
            a += row[i] * held[i]
            b += row[i + 1] * held[i + 1]
            c += row[i + 2] * held[i + 2]
            d += row[i + 3] * held[i + 3]
        for i in range(whole, n):
            a += row[i] * held[i]
        theta[k] = (a + b) + (c + d)
        total += theta[k] * theta[k]
    return total


@kernel
def descend(
    basis: FloatArray,
    ascending: FloatArray,
    starts: IntArray,
    thetas: FloatArray,
    explained: FloatArray,
    settled: BoolArray,
    n_iter: int,
    stop: float,
) -> None:
    """Take up to `n_iter` hard steps from each row of `thetas`, in place.

    ``explained[k]`` becomes ``‖thetas[k]‖²``; start k has settled when a step gains no more than
    `stop`. Labels come as `ascending`, sorted inside each group.
    """
    held = np.empty(len(ascending))
    mu = np.empty(len(ascending))
    for k in range(len(thetas)):
        for _ in range(n_iter):
            if settled[k]:
                break
            fitted_values(basis, thetas[k], mu)
            match_groups(mu, ascending, starts, held)
            before = explained[k]
            explained[k] = coordinates(basis, held, thetas[k])
            settled[k] = explained[k] - before <= stop


@kernel
def shuffled_starts(
    basis: FloatArray,
    y: FloatArray,
    starts: IntArray,
    seed: np.uint64,
    first: int,
    thetas: FloatArray,
) -> None:
    """Write the least squares fits to shuffles number first, first + 1, ... into `thetas`."""
    perm = np.empty(len(y), dtype=np.int64)
    held = np.empty(len(y))
    for k in range(len(thetas)):
        shuffle_groups(perm, starts, seed, first + k)
        for i in range(len(y)):
            held[i] = y[perm[i]]
        coordinates(basis, held, thetas[k])
