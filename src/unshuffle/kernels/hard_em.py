"""Hard EM from many starts, in an orthonormal basis of the columns of X.

With B an orthonormal basis (stored as r rows of length n), ``mu = B' theta`` and the least
squares solution for labels v is ``theta = B v``. A permutation keeps ``‖v‖``, so the matched
sum of squares is ``‖y‖² - ‖theta‖²``: one hard step costs two products and one sort per group.
"""

from typing import NamedTuple

import numpy as np

from .jit import inlined, kernel
from .match import shuffle_groups
from .ranking import Ranking, new_ranking, rank_block
from .types import BoolArray, FloatArray, IntArray


class Labels(NamedTuple):
    """What is matched: B of shape (r, n), labels ascending inside each group, group starts."""

    basis: FloatArray
    ascending: FloatArray
    starts: IntArray


class Matching(NamedTuple):
    """Work space of one step: fitted values, the label each row holds, and their ranking."""

    mu: FloatArray
    held: FloatArray
    ranking: Ranking


@inlined
def new_matching(labels: Labels) -> Matching:
    """Work space in which pinned rows hold their own label."""
    n = len(labels.ascending)
    return Matching(np.empty(n), labels.ascending.copy(), new_ranking(n))


@inlined
def fitted_values(basis: FloatArray, theta: FloatArray, mu: FloatArray) -> None:
    """Write ``B' theta`` into `mu`."""
    for i in range(len(mu)):
        mu[i] = 0.0
    rank = len(theta)
    whole = rank - rank % 4
    for k in range(0, whole, 4):  # four rows at once: mu is loaded and stored a quarter as often
        a, b, c, d = basis[k], basis[k + 1], basis[k + 2], basis[k + 3]
        s, t, u, v = theta[k], theta[k + 1], theta[k + 2], theta[k + 3]
        for i in range(len(mu)):
            mu[i] += (s * a[i] + t * b[i]) + (u * c[i] + v * d[i])
    for k in range(whole, rank):
        a, s = basis[k], theta[k]
        for i in range(len(mu)):
            mu[i] += s * a[i]


@kernel
def inner(a: FloatArray, b: FloatArray) -> float:
    """Inner product in eight running sums, which vectorise without `fastmath`."""
    n = len(a)
    whole = n - n % 8
    s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
    for i in range(0, whole, 8):
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        s4 += a[i + 4] * b[i + 4]
        s5 += a[i + 5] * b[i + 5]
        s6 += a[i + 6] * b[i + 6]
        s7 += a[i + 7] * b[i + 7]
    for i in range(whole, n):
        s0 += a[i] * b[i]
    return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))


@kernel
def coordinates(basis: FloatArray, held: FloatArray, theta: FloatArray) -> float:
    """Write ``B held`` into `theta`; return its squared norm."""
    total = 0.0
    for k in range(len(theta)):
        theta[k] = inner(basis[k], held)
        total += theta[k] * theta[k]
    return total


@inlined
def match_labels(labels: Labels, theta: FloatArray, matching: Matching, repair: bool) -> None:
    """Hand the labels out in the order of ``B' theta``; `repair` starts from the last order."""
    fitted_values(labels.basis, theta, matching.mu)
    order = matching.ranking.order
    for g in range(len(labels.starts) - 1):
        first = labels.starts[g]
        last = labels.starts[g + 1]
        rank_block(matching.mu, first, last, matching.ranking, repair)
        for k in range(first, last):
            matching.held[order[k]] = labels.ascending[k]


@inlined
def copy_into(to: FloatArray, values: FloatArray) -> None:
    """Copy `values`; an assignment to a slice would compile for more than a second."""
    for j in range(len(to)):
        to[j] = values[j]


@kernel
def descend(
    labels: Labels,
    thetas: FloatArray,
    explained: FloatArray,
    settled: BoolArray,
    n_iter: int,
    stop: float,
    momentum: float,
) -> int:
    """Take up to `n_iter` hard steps from each row of `thetas`, in place; return the steps taken.

    ``explained[k]`` becomes ``‖thetas[k]‖²``; start k has settled when a plain step gains no more
    than `stop`. With `momentum` each step goes on so many times as far as the last one led, and
    falls back to a plain step where that does not gain: far fewer steps, and small hollows are
    passed over.
    """
    matching = new_matching(labels)
    rank = len(labels.basis)
    point, found = np.empty(rank), np.empty(rank)
    n_steps = 0
    for k in range(len(thetas)):
        theta = thetas[k]
        copy_into(point, theta)
        plain = True
        for step in range(n_iter):
            if settled[k]:
                break
            match_labels(labels, point, matching, step > 0)
            gained = coordinates(labels.basis, matching.held, found)
            n_steps += 1
            if gained - explained[k] <= stop:
                settled[k] = plain
                copy_into(point, theta)
                plain = True
                continue
            explained[k] = gained
            plain = step == 0 or momentum == 0.0
            for j in range(rank):
                ahead = 0.0 if plain else momentum * (found[j] - theta[j])
                point[j] = found[j] + ahead
                theta[j] = found[j]
    return n_steps


@kernel
def support(labels: Labels, thetas: FloatArray, values: FloatArray) -> None:
    """Write ``max <theta, B v>`` over all matchings v into `values`, for each row of `thetas`."""
    matching = new_matching(labels)
    for k in range(len(thetas)):
        match_labels(labels, thetas[k], matching, k > 0)
        values[k] = inner(matching.mu, matching.held)


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
