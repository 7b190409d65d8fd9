"""Sweeps over permutations where the noise has any law, given by a table of its log density.

An exchange of the labels of rows i and j changes the log likelihood by

    l(y_j - m_i) + l(y_i - m_j) - l(y_i - m_i) - l(y_j - m_j),

four readings of the table. Pairs are those of `kernels.sweep`: slots in the order of the fitted
values, disjoint, at a random stride. A sweep can stand between two laws, each with its own fitted
values: their log densities are added with weights, which is the path along which the
likelihoods of the two are compared.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .rng import draw, stream_key, to_unit
from .strides import draw_stride, stride_scales, sweep_key
from .swap import HOPELESS
from .types import FloatArray, IntArray


class ResidualTable(NamedTuple):
    """A function of a residual at even nodes, read by linear interpolation.

    Attributes
    ----------
    low : float
        First node.
    per_unit : float
        Nodes in one unit of the residual.
    values : array of shape (n_nodes,)
    """

    low: float
    per_unit: float
    values: FloatArray


class Side(NamedTuple):
    """One law: fitted values of the rows, its log density, and the weight it has in the sweep."""

    fitted: FloatArray
    table: ResidualTable
    weight: float


class LawSums(NamedTuple):
    """What the kept sweeps add up.

    Attributes
    ----------
    expected, matched, pull, weight : arrays of shape (n,)
        Mean over the sweeps of the label, of its being the row's own, and of the two tables of
        the M-step at its residual.
    histogram : array of shape (n_nodes,)
        Mean number of residuals at each node.
    difference : array of shape (n_blocks + 1,)
        Mean of the log density of the last side less that of the first, of every block, and of the
        rows after the last block.
    """

    expected: FloatArray
    matched: FloatArray
    pull: FloatArray
    weight: FloatArray
    histogram: FloatArray
    difference: FloatArray


@kernel
def read_table(table: ResidualTable, residual: float) -> float:
    """Value at one residual; beyond the ends that at the end."""
    place = min(max((residual - table.low) * table.per_unit, 0.0), len(table.values) - 1.001)
    node = int(place)
    part = place - node
    return float((1.0 - part) * table.values[node] + part * table.values[node + 1])


@kernel
def exchange_gain(side: Side, i: int, j: int, held_i: float, held_j: float) -> float:
    """Change of the log density where rows i and j exchange the labels that they hold."""
    m_i, m_j = side.fitted[i], side.fitted[j]
    after = read_table(side.table, held_j - m_i) + read_table(side.table, held_i - m_j)
    before = read_table(side.table, held_i - m_i) + read_table(side.table, held_j - m_j)
    return side.weight * (after - before)


@kernel
def sweep_law(
    order: IntArray,
    labels: FloatArray,
    perm: IntArray,
    first_side: Side,
    last_side: Side,
    precision: float,
    key: np.uint64,
    number: int,
) -> int:
    """One sweep over the rows `order` of a block; return the accepted exchanges."""
    size = len(order)
    mu = last_side.fitted[order]
    low, high = stride_scales(mu, precision)
    this = sweep_key(key, number)
    stride, offset = draw_stride(this, size, low, high)
    accepted = 0
    for start in range(offset - 2 * stride, size - stride, 2 * stride):
        for slot in range(max(start, 0), min(start + stride, size - stride)):
            i, j = order[slot], order[slot + stride]
            held_i, held_j = labels[perm[i]], labels[perm[j]]
            log_ratio = 0.0
            if first_side.weight != 0.0:
                log_ratio += exchange_gain(first_side, i, j, held_i, held_j)
            if last_side.weight != 0.0:
                log_ratio += exchange_gain(last_side, i, j, held_i, held_j)
            odds = math.exp(log_ratio) if HOPELESS < log_ratio < 0.0 else 0.0
            if log_ratio >= 0.0 or to_unit(draw(this, slot)) < odds:
                accepted += 1
                perm[i], perm[j] = perm[j], perm[i]
    return accepted


@kernel
def add_rows(
    first: int,
    last: int,
    labels: FloatArray,
    perm: IntArray,
    sides: tuple[Side, Side],
    pull: ResidualTable,
    weight: ResidualTable,
    sums: LawSums,
    block: int,
) -> None:
    """Add one state of rows [first, last), which are a block, to the sums."""
    low, per_unit = pull.low, pull.per_unit
    for i in range(first, last):
        held = labels[perm[i]]
        residual = held - sides[1].fitted[i]
        place = min(max((residual - low) * per_unit, 0.0), len(pull.values) - 1.001)
        node = int(place)
        part = place - node
        sums.expected[i] += held
        sums.matched[i] += perm[i] == i
        sums.pull[i] += (1.0 - part) * pull.values[node] + part * pull.values[node + 1]
        sums.weight[i] += (1.0 - part) * weight.values[node] + part * weight.values[node + 1]
        sums.histogram[node] += 1.0 - part
        sums.histogram[node + 1] += part
        sums.difference[block] += read_table(sides[1].table, residual)
        sums.difference[block] -= read_table(sides[0].table, held - sides[0].fitted[i])


@kernel
def sweep_law_blocks(
    labels: FloatArray,
    perm: IntArray,
    starts: IntArray,
    order: IntArray,
    sides: tuple[Side, Side],
    pull: ResidualTable,
    weight: ResidualTable,
    precision: float,
    seed: np.uint64,
    iteration: int,
    n_warm: int,
    n_kept: int,
) -> tuple[LawSums, int]:
    """Sweep all blocks, which ends in `perm`; return means over the kept sweeps, and accepted.

    `order` holds the rows of each block by the fitted values of the last side.
    """
    n, n_nodes = len(labels), len(pull.values)
    sums = LawSums(
        np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n_nodes), np.zeros(len(starts))
    )
    accepted = 0
    for block in range(len(starts) - 1):
        first, last = starts[block], starts[block + 1]
        key = stream_key(seed, iteration, block)
        for number in range(n_warm + n_kept):
            accepted += sweep_law(
                order[first:last], labels, perm, sides[0], sides[1], precision, key, number
            )
            if number >= n_warm:
                add_rows(first, last, labels, perm, sides, pull, weight, sums, block)
    for _ in range(n_kept):  # rows after the last block hold their own labels
        add_rows(starts[-1], n, labels, perm, sides, pull, weight, sums, len(starts) - 1)
    means = LawSums(
        sums.expected / n_kept,
        sums.matched / n_kept,
        sums.pull / n_kept,
        sums.weight / n_kept,
        sums.histogram / n_kept,
        sums.difference / n_kept,
    )
    return means, accepted
