"""Hard EM from many starts where groups have more rows than labels, or fewer.

A step sorts the fitted values of each group, matches every item of the smaller side (`skip_match`),
and solves least squares over the rows that hold a label. Which rows these are changes from step to
step, so the normal equations are added up anew; there are few coefficients.

All matchings have the same number K of pairs. What is minimised is minus the log likelihood at the
noise that belongs to a match, with labels of nobody at their price,

    K / 2 log(S) + sum of prices,    S the sum of squares of the pairs,

in the units of a sum of squares: S exp(2 / K sum of prices). With the noise of the step before, a
label that nobody holds costs ``2 S / K`` times its price, so that every step lowers this objective.
Without prices, wrong lines that leave the outer labels to nobody would often have the lower S.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .ranking import Ranking, new_ranking, rank_block
from .skip_match import match_all
from .types import BoolArray, FloatArray, IntArray

RIDGE = 1e-12  # share of the largest diagonal entry: a solution where few rows hold a label


class PartialTables(NamedTuple):
    """Rows and labels in groups.

    Attributes
    ----------
    Z : array of shape (n_rows, p)
        Features, group by group; a column of ones where there is an intercept.
    ascending, price : arrays of shape (n_labels,)
        Labels, ascending inside each group, and what each costs if nobody holds it: minus the
        logarithm of its density.
    row_starts, label_starts : arrays of shape (n_groups + 1,)
    """

    Z: FloatArray
    ascending: FloatArray
    price: FloatArray
    row_starts: IntArray
    label_starts: IntArray


@kernel
def solve_normal(gram: FloatArray, right: FloatArray, out: FloatArray) -> None:
    """Solve ``gram out = right`` by Cholesky's factor, which overwrites `gram`."""
    p = len(right)
    largest = 0.0
    for k in range(p):
        largest = max(largest, gram[k, k])
    floor = RIDGE * largest
    for k in range(p):
        for j in range(k + 1):
            total = gram[k, j] + (floor if k == j else 0.0)
            for m in range(j):
                total -= gram[k, m] * gram[j, m]
            if k == j:
                gram[k, k] = math.sqrt(max(total, floor)) if largest > 0.0 else 1.0
            else:
                gram[k, j] = total / gram[j, j]
    for k in range(p):
        total = right[k]
        for m in range(k):
            total -= gram[k, m] * out[m]
        out[k] = total / gram[k, k]
    for k in range(p - 1, -1, -1):
        total = out[k]
        for m in range(k + 1, p):
            total -= gram[m, k] * out[m]
        out[k] = total / gram[k, k]


@kernel
def solve_held(Z: FloatArray, held: FloatArray, holds: BoolArray, out: FloatArray) -> float:
    """Least squares over the rows that hold a label; returns the sum of squares."""
    p = Z.shape[1]
    gram, right = np.zeros((p, p)), np.zeros(p)
    for i in range(len(held)):
        if holds[i]:
            for k in range(p):
                z = Z[i, k]
                right[k] += z * held[i]
                for j in range(k + 1):
                    gram[k, j] += z * Z[i, j]
    solve_normal(gram, right, out)
    total = 0.0
    for i in range(len(held)):
        if holds[i]:
            apart = held[i]
            for k in range(p):
                apart -= Z[i, k] * out[k]
            total += apart * apart
    return total


@kernel
def descend_partial(
    tables: PartialTables,
    thetas: FloatArray,
    objectives: FloatArray,
    scales: FloatArray,
    settled: BoolArray,
    n_iter: int,
    stop: float,
    momentum: float,
) -> int:
    """Take up to `n_iter` hard steps from each row of `thetas`, in place; return the steps taken.

    ``objectives[k]`` becomes the objective of start k, and ``scales[k]`` its mean square; start k
    has settled when a plain step lowers its objective by no more than the share `stop`. With
    `momentum` each step goes on so many times as far as the last one led, and falls back to a
    plain step where that does not gain.
    """
    Z, p = tables.Z, tables.Z.shape[1]
    n_rows = len(Z)
    work = Hands(
        new_ranking(n_rows), np.empty(n_rows), np.empty(n_rows), np.empty(n_rows, dtype=np.bool_)
    )
    point, found = np.empty(p), np.empty(p)
    n_pairs = 0
    for g in range(len(tables.row_starts) - 1):
        rows = tables.row_starts[g + 1] - tables.row_starts[g]
        n_pairs += min(rows, tables.label_starts[g + 1] - tables.label_starts[g])
    n_steps = 0
    for k in range(len(thetas)):
        theta = thetas[k]
        point[:] = theta
        plain = True
        for step in range(n_iter):
            if settled[k]:
                break
            alone = _hand_out(tables, point, 2.0 * scales[k], step > 0, work)
            squares = solve_held(Z, work.held, work.holds, found)
            objective = squares * math.exp(2.0 * alone / n_pairs)
            n_steps += 1
            if objective >= (1.0 - stop) * objectives[k]:
                settled[k] = plain
                point[:] = theta
                plain = True
                continue
            objectives[k], scales[k] = objective, squares / n_pairs
            plain = step == 0 or momentum == 0.0
            for j in range(p):
                ahead = 0.0 if plain else momentum * (found[j] - theta[j])
                point[j] = found[j] + ahead
                theta[j] = found[j]
    return n_steps


class Hands(NamedTuple):
    """Work space of one step: order and fitted values of rows, and the labels they hold."""

    ranking: Ranking
    mu: FloatArray
    held: FloatArray
    holds: BoolArray


@kernel
def _hand_out(
    tables: PartialTables, theta: FloatArray, per_price: float, repair: bool, work: Hands
) -> float:
    """Write the label that each row holds into ``work.held``, where it holds one.

    Returns the sum of the prices of labels that nobody holds, above the least price of each group.
    """
    order, mu, alone = work.ranking.order, work.mu, 0.0
    for i in range(len(mu)):
        total = 0.0
        for m in range(len(theta)):
            total += tables.Z[i, m] * theta[m]
        mu[i] = total
    for g in range(len(tables.row_starts) - 1):
        first, last = tables.row_starts[g], tables.row_starts[g + 1]
        first_label, last_label = tables.label_starts[g], tables.label_starts[g + 1]
        rank_block(mu, first, last, work.ranking, repair)
        labels, price = (
            tables.ascending[first_label:last_label],
            tables.price[first_label:last_label],
        )
        size = last - first
        if size == len(labels):
            for k in range(size):
                work.held[order[first + k]] = labels[k]
                work.holds[order[first + k]] = True
            continue
        sorted_mu, places = np.empty(size), np.empty(size, dtype=np.int64)
        for k in range(size):
            sorted_mu[k] = mu[order[first + k]]
        match_all(sorted_mu, labels, price, per_price, places)
        if size < len(labels):
            alone += price.sum()
        for k in range(size):
            i = order[first + k]
            work.holds[i] = places[k] >= 0
            work.held[i] = labels[places[k]] if places[k] >= 0 else 0.0
            if size < len(labels):
                alone -= price[places[k]]
    return alone


@kernel
def hand_out_labels(
    tables: PartialTables, mu: FloatArray, per_price: float, partner: IntArray
) -> None:
    """Match every item of the smaller side; ``partner[i]`` is the place of a label, or -1."""
    for g in range(len(tables.row_starts) - 1):
        first, last = tables.row_starts[g], tables.row_starts[g + 1]
        first_label, last_label = tables.label_starts[g], tables.label_starts[g + 1]
        order = first + np.argsort(mu[first:last], kind="mergesort")
        places = np.empty(last - first, dtype=np.int64)
        labels, price = (
            tables.ascending[first_label:last_label],
            tables.price[first_label:last_label],
        )
        match_all(mu[order], labels, price, per_price, places)
        for k in range(last - first):
            partner[order[k]] = first_label + places[k] if places[k] >= 0 else -1
