"""Hard EM from many starts, in an orthonormal basis of the columns of X.

With B an orthonormal basis (stored as r rows of length n), ``mu = B' theta`` and the least
squares solution for labels v is ``theta = B v``. A permutation keeps ``‖v‖``, so the matched
sum of squares is ``‖y‖² - ‖theta‖²``: one hard step costs two products and one sort per group.
"""

import numpy as np

from ..problem import FloatArray, IntArray
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
def hard_em(
    basis: FloatArray,
    ascending: FloatArray,
    starts: IntArray,
    theta: FloatArray,
    held: FloatArray,
    mu: FloatArray,
    max_iter: int,
    stop: float,
) -> float:
    """Alternate matching and least squares from `theta`, in place.

    Stops when a step gains no more than `stop` in ``‖theta‖²``. Returns ``‖theta‖²``.
    """
    explained = -1.0
    for _ in range(max_iter):
        fitted_values(basis, theta, mu)
        match_groups(mu, ascending, starts, held)
        before = explained
        explained = coordinates(basis, held, theta)
        if explained - before <= stop:
            break
    return explained


@kernel
def hard_em_from_shuffles(
    basis: FloatArray,
    y: FloatArray,
    ascending: FloatArray,
    starts: IntArray,
    seed: np.uint64,
    first: int,
    last: int,
    max_iter: int,
    stop: float,
    out: FloatArray,
) -> None:
    """Run hard EM from shuffles number first .. last-1; write each ``‖theta‖²`` into `out`."""
    n = len(y)
    theta = np.empty(len(basis))
    perm = np.empty(n, dtype=np.int64)
    held = np.empty(n)
    mu = np.empty(n)
    for number in range(first, last):
        shuffle_groups(perm, starts, seed, number)
        for i in range(n):
            held[i] = y[perm[i]]
        coordinates(basis, held, theta)
        out[number - first] = hard_em(basis, ascending, starts, theta, held, mu, max_iter, stop)
