"""Expected labels by Sinkhorn scaling where the noise has any law."""

import numpy as np

from ..data.problem import Problem
from ..families.law_tables import LawTables, nodes_for, read_at, tables_of
from ..kernels.law_sweep import LawSums
from ..kernels.types import FloatArray
from .law_chain import LawAlignment
from .settings import SINKHORN, SinkhornSettings
from .sinkhorn import scale
from .state import State


class LawSinkhorn:
    """Scale the densities of all pairs of each block, and average what the M-step needs.

    The doubly stochastic matrix takes the place of the posterior of the permutations. O(m²) time
    and memory for a block of m rows.

    Parameters
    ----------
    problem : Problem
    """

    def __init__(self, problem: Problem, settings: SinkhornSettings = SINKHORN) -> None:
        self.problem, self.settings = problem, settings
        largest = int(np.diff(problem.starts).max(initial=0))
        if largest > settings.largest_dense_block:
            raise ValueError(
                f"alignment='sinkhorn' with another law of the noise than the normal takes groups "
                f"of up to {settings.largest_dense_block} rows, but one has {largest}; use 'chain'"
            )
        self._columns = np.zeros(problem.n_movable)  # potentials, carried over

    def __call__(self, state: State, iteration: int) -> LawAlignment:
        """Scaled means at `state`; `iteration` plays no role."""
        assert state.law is not None
        problem, y = self.problem, self.problem.y
        narrowest = float(state.law.scales.min())
        tables = tables_of(state.law, nodes_for(y, state.fitted, narrowest))
        own = y - state.fitted  # rows that are pinned keep their label
        sums = LawSums(
            y.copy(), np.ones(len(y)), read_at(tables.pull, own), read_at(tables.weight, own),
            np.zeros(len(tables.nodes)), np.zeros(problem.n_blocks + 1),
        )  # fmt: skip
        count(sums.histogram, tables, own[problem.n_movable :], np.ones(len(y) - problem.n_movable))
        for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
            self._scale_block(state, slice(int(first), int(last)), tables, sums)
        return LawAlignment(state, sums, tables, state.perm, float("nan"))

    def _scale_block(self, state: State, rows: slice, tables: LawTables, sums: LawSums) -> None:
        """Fill in the sums of one block."""
        y = self.problem.y[rows]
        residual = y - state.fitted[rows, None]
        log_kernel = read_at(tables.log_density, residual)
        plan, self._columns[rows] = scale(log_kernel, self._columns[rows], self.settings)
        plan /= plan.sum(axis=1, keepdims=True)
        sums.expected[rows] = plan @ y
        sums.matched[rows] = np.diagonal(plan)
        sums.pull[rows] = (plan * read_at(tables.pull, residual)).sum(axis=1)
        sums.weight[rows] = (plan * read_at(tables.weight, residual)).sum(axis=1)
        count(sums.histogram, tables, residual.ravel(), plan.ravel())


def count(
    histogram: FloatArray, tables: LawTables, residual: FloatArray, weight: FloatArray
) -> None:
    """Add weighted residuals to the two nodes around each."""
    nodes = tables.nodes
    place = (residual - nodes[0]) / (nodes[1] - nodes[0])
    node = np.clip(place.astype(np.int64), 0, len(nodes) - 2)
    part = np.clip(place - node, 0.0, 1.0)
    histogram += np.bincount(node, weight * (1.0 - part), len(nodes))
    histogram += np.bincount(node + 1, weight * part, len(nodes))
