"""Whole groups in folds, to be held out in turn."""

import numpy as np

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..kernels.streams import FIRST_FOLD, numbered_generator
from ..kernels.types import BoolArray, IntArray


def hold_out(problem: Problem, fraction: float, seed: int) -> tuple[Problem, Problem]:
    """Groups to fit, and about a fraction of the rows, in whole groups, to score."""
    fold_of_row, _ = fold_rows(problem, max(round(1.0 / fraction), 2), seed)
    return take_rows(problem, fold_of_row != 0), take_rows(problem, fold_of_row == 0)


def fold_rows(problem: Problem, n_folds: int, seed: int) -> tuple[IntArray, int]:
    """Fold of each arranged row: whole groups, in random order, to the fold with fewest rows."""
    pinned = np.arange(problem.n_movable, problem.n_rows)
    firsts = np.concatenate([problem.starts[:-1], pinned]).astype(np.int64)
    sizes = np.diff(np.append(firsts, problem.n_rows))
    n_folds = min(n_folds, len(sizes))
    if n_folds < 2:
        raise ValueError(
            "labels are in one group, so that none can be held out; pass groups, or fit with "
            "ShuffledRegressor"
        )
    filled, fold_of = np.zeros(n_folds), np.empty(len(sizes), dtype=np.int64)
    for unit in numbered_generator(seed, FIRST_FOLD).permutation(len(sizes)):
        fold_of[unit] = int(np.argmin(filled))
        filled[fold_of[unit]] += sizes[unit]
    return np.repeat(fold_of, sizes), n_folds


def take_rows(problem: Problem, kept: BoolArray) -> Problem:
    """The problem of some whole groups and pinned rows."""
    rows, sizes = np.flatnonzero(kept), np.diff(problem.starts)
    stay = kept[problem.starts[:-1]] if len(sizes) else np.empty(0, dtype=bool)
    starts = np.concatenate([[0], np.cumsum(sizes[stay])]).astype(np.int64)
    n_groups = int(stay.sum()) + len(rows) - int(starts[-1])
    return Problem(problem.X[problem.user_rows(rows)], problem.y[rows], starts, None, n_groups)


def check_rows_left(train: Problem, fit_intercept: bool) -> None:
    """Refuse to hold out groups where too few rows are left to fit."""
    n, d = train.X.shape
    # Columns that depend on each other take no degrees of freedom; only then is the rank needed.
    if (
        n <= d + fit_intercept
        and n <= LeastSquares(train.X, fit_intercept=fit_intercept).n_parameters
    ):
        raise ValueError(
            f"without the groups held out {n} rows are left for {d} features"
            f"{' plus an intercept' if fit_intercept else ''}; hold out less, or give more rows"
        )
    if np.all(train.y == train.y[0]):
        raise ValueError(
            f"without the groups held out all {n} labels equal {train.y[0]:g}; hold out less, or "
            "give more groups"
        )
