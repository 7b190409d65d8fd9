r"""The E-step where a label is the row's own or that of any row of its group.

The density of a redrawn label is tied to the model: the mean over the rows of the group,

.. math::

    g(y) = \sum_j w_j f(y \mid \eta_j) \Big/ \sum_j w_j .

Labels of a group with few distinct values are summed exactly. Where a group has many, log g is
computed at nodes and interpolated, which is a cubic polynomial in a variable in which log g is
smooth; likewise large groups of rows are collected at nodes of the linear predictor. So an E-step
costs O(n) and not O(n²).
"""

from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..families.exponential import RowTerms
from ..kernels.tied import mean_over_rows, sum_over_nodes, sum_over_rows
from ..kernels.types import FloatArray, IntArray
from .settings import TIED, TiedSettings
from .stencils import Stencil, cubic_stencil, exact_stencil, join_stencils, nodes_between

RowsAt = Callable[[FloatArray], RowTerms]


class LabelNodes(NamedTuple):
    """Labels of every block, collected at nodes.

    Attributes
    ----------
    v : array of shape (n_nodes, k)
        Statistic of each node.
    starts : array of shape (n_blocks + 1,)
    stencil : Stencil
        From nodes to labels.
    """

    v: FloatArray
    starts: IntArray
    stencil: Stencil


class RowNodes(NamedTuple):
    """Rows of every block, those of large ones collected at nodes.

    Attributes
    ----------
    rows : RowTerms
        Of the nodes.
    weights : array
        Weight of each node.
    starts : array of shape (n_blocks + 1,)
    stencil : Stencil or None
        From nodes to rows; None where the nodes are the rows.
    log_total : array of shape (n,)
        Log of the weight of each row's block.
    """

    rows: RowTerms
    weights: FloatArray
    starts: IntArray
    stencil: Stencil | None
    log_total: FloatArray


class Tied(NamedTuple):
    """Densities of redrawn labels at given linear predictors.

    Attributes
    ----------
    log_mean : array of shape (n,)
        Log of the mean density of each label over the rows of its block, up to its own term b.
    """

    log_mean: FloatArray
    log_sum: FloatArray
    rows: RowTerms
    row_weights: FloatArray
    row_starts: IntArray
    row_stencil: Stencil | None
    labels: LabelNodes

    def give_back(self, amounts: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Expected mass (n,) and statistic (n, k) of each row per unit of its weight.

        `amounts` is what each label has to give away to the rows of its block.
        """
        share = self.labels.stencil.collect(amounts)
        a, u = self.rows.a, self.rows.u
        mass, statistic = np.empty(len(a)), np.empty(u.shape)
        sum_over_nodes(
            a, u, self.row_starts, self.labels.v, self.labels.starts, self.log_sum, share,
            mass, statistic,
        )  # fmt: skip
        if self.row_stencil is None:
            return mass, statistic
        return self.row_stencil.interpolate(mass), self.row_stencil.interpolate(statistic)

    def means(self, values: FloatArray) -> FloatArray:
        """Mean of `values` of rows (or their nodes) over the rows that may hold each label."""
        mean = np.empty((len(self.labels.v), values.shape[1]))
        mean_over_rows(
            self.rows.a, self.rows.u, self.row_weights, values, self.row_starts, self.labels.v,
            self.labels.starts, self.log_sum, mean,
        )  # fmt: skip
        return self.labels.stencil.interpolate(mean)


def tie(
    rows_at: RowsAt,
    eta: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    labels: LabelNodes,
    width: float = 1.0,
    settings: TiedSettings = TIED,
) -> Tied:
    """Mean density of every label over the rows of its block.

    Parameters
    ----------
    rows_at : callable
        From linear predictors to the row's part of the log density.
    eta, weights : arrays of shape (n,)
        Of the rows that can move, block by block.
    starts : array of shape (n_blocks + 1,)
    labels : LabelNodes
    width : float
        Width of the narrowest density as a function of the linear predictor.
    """
    return tie_nodes(nodes_of_rows(rows_at, eta, weights, starts, width, settings), labels)


def nodes_of_rows(
    rows_at: RowsAt,
    eta: FloatArray,
    weights: FloatArray,
    starts: IntArray,
    width: float = 1.0,
    settings: TiedSettings = TIED,
) -> RowNodes:
    """What is the same for any labels at given linear predictors; parameters as those of `tie`."""
    collected = _collect_rows(eta, starts, width, settings)
    row_weights, row_starts, at = weights, starts, eta
    stencil: Stencil | None = None
    if collected is not None:
        stencil, row_starts, at = collected
        row_weights = stencil.collect(weights)
    totals = np.add.reduceat(weights, starts[:-1]) if len(weights) else np.empty(0)
    log_total = np.repeat(np.log(totals), np.diff(starts))
    return RowNodes(rows_at(at), row_weights, row_starts, stencil, log_total)


def tie_nodes(nodes: RowNodes, labels: LabelNodes) -> Tied:
    """Mean density of every label over the rows of its block."""
    rows = nodes.rows
    log_sum = np.empty(len(labels.v))
    sum_over_rows(rows.a, rows.u, nodes.weights, nodes.starts, labels.v, labels.starts, log_sum)
    log_mean = labels.stencil.interpolate(log_sum) - nodes.log_total
    return Tied(log_mean, log_sum, rows, nodes.weights, nodes.starts, nodes.stencil, labels)


def _collect_rows(
    eta: FloatArray, starts: IntArray, width: float, settings: TiedSettings
) -> tuple[Stencil, IntArray, FloatArray] | None:
    """Rows of large blocks at nodes; None where no block is large."""
    smallest = settings.rows_per_node * settings.fewest_nodes
    if not settings.collects or np.diff(starts).max(initial=0) < smallest:
        return None
    stencils, nodes = [], []
    for first, last in pairwise(starts):
        inside = eta[first:last]
        low, high = float(inside.min()), float(inside.max())
        n_nodes = nodes_between(low, high, width, settings)
        if last - first < settings.rows_per_node * n_nodes:
            stencils.append(exact_stencil(np.arange(last - first), last - first))
            nodes.append(inside)
        else:
            stencils.append(cubic_stencil(inside, low, high, n_nodes))
            nodes.append(np.linspace(low, high, n_nodes))
    stencil, node_starts = join_stencils(stencils)
    return stencil, node_starts, np.concatenate(nodes)


def nodes_of_labels(
    v: FloatArray,
    starts: IntArray,
    smooth: FloatArray,
    back: Callable[[FloatArray], FloatArray],
    width: float,
    *,
    continuous: bool,
    settings: TiedSettings = TIED,
) -> LabelNodes:
    """Nodes of labels: their distinct values, or a grid in each block that has too many of them.

    Parameters
    ----------
    v : array of shape (n, k)
        Statistics of labels. All columns but the last have few values, which are kept apart.
    smooth : array of shape (n,)
        A variable in which log g is smooth, increasing in the last column.
    back : callable
        From that variable to the last column.
    width : float
        Width of the narrowest density in that variable.
    continuous : bool
        Whether hardly any labels are equal, so that it is not worth looking for them.
    """
    alone = settings.most_distinct if continuous else settings.small_block
    if np.diff(starts).max(initial=0) <= alone:  # also where there are no blocks
        own = exact_stencil(np.arange(len(v)), len(v))
        return LabelNodes(np.ascontiguousarray(v), starts.astype(np.int64), own)
    stencils, values = [], []
    for first, last in pairwise(starts):
        block = v[first:last]
        made, place = _distinct(block, continuous)
        if len(made) <= settings.most_distinct:
            stencil = exact_stencil(place, len(made))
        else:
            stencil, made = _grids(block, smooth[first:last], back, width, settings)
        stencils.append(stencil)
        values.append(made)
    stencil, node_starts = join_stencils(stencils)
    return LabelNodes(np.ascontiguousarray(np.concatenate(values)), node_starts, stencil)


def _distinct(block: FloatArray, continuous: bool) -> tuple[FloatArray, IntArray]:
    """Distinct labels, and the place of each label among them."""
    if continuous:
        return block, np.arange(len(block))
    distinct, place = np.unique(block, axis=0, return_inverse=True)
    return distinct, place.ravel()


def _grids(
    block: FloatArray,
    smooth: FloatArray,
    back: Callable[[FloatArray], FloatArray],
    width: float,
    settings: TiedSettings,
) -> tuple[Stencil, FloatArray]:
    """One grid of the last column for each value of the column before it, where there is one."""
    n = len(block)
    kinds, kind = np.array([0.0]), np.zeros(n, dtype=np.int64)
    if block.shape[1] == 2:
        kinds, kind = np.unique(block[:, 0], return_inverse=True)
    nodes, weights = np.empty((n, 4), dtype=np.int64), np.empty((n, 4))
    values, n_before = [], 0
    for number, value in enumerate(kinds):
        chosen = kind == number
        low, high = float(smooth[chosen].min()), float(smooth[chosen].max())
        n_nodes = nodes_between(low, high, width, settings)
        stencil = cubic_stencil(smooth[chosen], low, high, n_nodes)
        nodes[chosen], weights[chosen] = stencil.nodes + n_before, stencil.weights
        grid = back(np.linspace(low, high, n_nodes))[:, None]
        fixed = np.full((n_nodes, block.shape[1] - 1), value)
        values.append(np.hstack([fixed, grid]))
        n_before += n_nodes
    return Stencil(nodes, weights, n_before), np.concatenate(values)
