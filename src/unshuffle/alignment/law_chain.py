"""Expected labels by a chain over permutations where the noise has any law."""

from typing import NamedTuple

import numpy as np

from ..data.problem import Problem
from ..families.law_tables import LawTables, nodes_for, tables_of, typical_precision
from ..kernels.law_sweep import LawSums, Side, sweep_law_blocks
from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray, IntArray
from .state import State


class LawAlignment(NamedTuple):
    """What one E-step leaves.

    Attributes
    ----------
    state : State
        At which it was made.
    sums : LawSums
    tables : LawTables
        Of the law of this state.
    perm : array of shape (n,)
        Where a chain ended.
    acceptance_rate : float
        nan without a chain.
    """

    state: State
    sums: LawSums
    tables: LawTables
    perm: IntArray
    acceptance_rate: float


class LawChain:
    """A chain that continues where the last run left it.

    Parameters
    ----------
    problem : Problem
    seed : int
    n_warm, n_kept : int
        Sweeps of a run that do not count, and that do.
    """

    def __init__(self, problem: Problem, seed: int, n_warm: int, n_kept: int) -> None:
        self.problem, self.seed = problem, np.uint64(seed)
        self.n_warm, self.n_kept = n_warm, n_kept
        self._block = np.repeat(np.arange(problem.n_blocks), np.diff(problem.starts))

    def __call__(self, state: State, iteration: int) -> LawAlignment:
        """Run at `state`, from its permutation."""
        assert state.law is not None
        tables = self.tables(state.law, state.fitted)
        side = Side(state.fitted, tables.log_density, 1.0)
        return self.run(state, side._replace(weight=0.0), side, tables, iteration)

    def tables(self, law: NoiseLaw, fitted: FloatArray) -> LawTables:
        """Tables of a law over the residuals of this problem."""
        return tables_of(law, nodes_for(self.problem.y, fitted, float(law.scales.min())))

    def run(
        self, state: State, first: Side, last: Side, tables: LawTables, iteration: int
    ) -> LawAlignment:
        """Run between two laws, each with its own fitted values and weight."""
        problem, perm = self.problem, state.perm.copy()
        assert state.law is not None
        order = np.lexsort((last.fitted[: problem.n_movable], self._block)).astype(np.int64)
        sums, accepted = sweep_law_blocks(
            problem.y, perm, problem.starts, order, (first, last), tables.pull, tables.weight,
            typical_precision(state.law), self.seed, iteration, self.n_warm, self.n_kept,
        )  # fmt: skip
        proposed = max(problem.n_movable // 2, 1) * (self.n_warm + self.n_kept)
        return LawAlignment(state, sums, tables, perm, accepted / proposed)
