"""Hard alignment: the single most likely permutation, by sorting inside groups."""

import numpy as np

from ..data.problem import Problem, make_problem
from ..kernels.match import match_groups, rank_inside
from ..kernels.types import BoolArray, FloatArray, IntArray
from .state import Alignment, State


def ranked_labels(problem: Problem) -> IntArray:
    """Indices of the labels in ascending order inside each block; pinned rows keep theirs."""
    ranked = np.empty(problem.n_rows, dtype=np.int64)
    rank_inside(problem.y, problem.starts, ranked)
    return ranked


def most_likely_permutation(problem: Problem, fitted: FloatArray) -> IntArray:
    """Permutation that minimises ``‖y[perm] - fitted‖²`` inside the blocks."""
    perm = np.empty(problem.n_rows, dtype=np.int64)
    match_groups(fitted, ranked_labels(problem), problem.starts, perm)
    return perm


def sort_all_but(problem: Problem, fitted: FloatArray, stay: BoolArray) -> IntArray:
    """Sort labels like the fitted values inside the blocks, except for rows that `stay`."""
    codes = np.repeat(np.arange(problem.n_blocks), np.diff(problem.starts))
    codes = np.concatenate([codes, np.full(problem.n_rows - len(codes), problem.n_blocks)])
    pool = make_problem(problem.X, problem.y, codes, stay)
    perm = most_likely_permutation(pool, pool.arrange(fitted))
    return pool.restore_permutation(perm)


class HardAlignment:
    """Match sorted labels to sorted fitted values, in O(n log n)."""

    def __init__(self, problem: Problem) -> None:
        self.problem = problem
        self._ranked = ranked_labels(problem)

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Align the labels with `state`; `iteration` plays no role."""
        y, perm = self.problem.y, np.empty_like(self._ranked)
        match_groups(state.fitted, self._ranked, self.problem.starts, perm)
        return Alignment(y[perm], 0.0, y, perm, float("nan"))
