r"""The sandwich where the order is mostly right, so that rows exchange labels with each other.

Scores of single rows, averaged over permutations, are no independent pieces there: labels are held
once, so that what one row loses another one gains, and squares of such scores add up to less than
the variance of their sum. The complete-data scores :math:`c_i` of rows with their own labels are
independent. By the law of total variance the observed-data score has the variance

.. math:: B = \sum_i E[c_i c_i^\top] - M = J + \Big( \sum_i E[c_i c_i^\top] - A \Big),

where M is the covariance of the score over permutations, A the complete-data information of the
model and J = A - M the observed one. Expectations are over permutations given the labels. The
covariance is :math:`J^{-1} B J^{-1}`. Mismatches take part as the model has them. Where nothing is
lost it is White's covariance in the version HC1.
"""

from typing import NamedTuple

import numpy as np

from ..alignment.state import State
from ..data.problem import Problem
from ..em.information import Covariance, error_inflation, invert_information
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from .sandwich import Expected, Robust, check_units, residual_squares

SMALLEST_SHARE = 0.05  # of the model's variance of the score, in any direction


class RowMoments(NamedTuple):
    """Mean powers of each (arranged) row's residual, over permutations."""

    second: FloatArray
    third: FloatArray
    fourth: FloatArray


def row_moments(problem: Problem, state: State, expected: Expected) -> RowMoments:
    """Powers of residuals: those of the label given, and normal ones of labels of other rows."""
    own, matched = problem.y - state.fitted, 1.0 - expected.away
    second = residual_squares(state, expected)
    of_others = np.maximum(second - matched * own**2, 0.0)
    away = np.where(expected.away > 0.0, expected.away, 1.0)
    return RowMoments(second, matched * own**3, matched * own**4 + 3.0 * of_others**2 / away)


def row_sandwich(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    expected: Expected,
    mismatch_rate: float | None,
) -> Robust:
    """Covariance of the estimates; arguments as of `sandwich.sandwich`."""
    n, rank, p = problem.n_rows, solver.rank, solver.n_parameters
    worth = check_units(np.arange(n), p + 1 + (mismatch_rate is not None))
    first, variance = int(solver.fit_intercept), state.noise_scale**2
    inner, left = invert_information(
        problem, solver, state.noise_scale, expected.missing, mismatch_rate
    )
    if left <= 0.0:
        raise ValueError(
            "the observed information is not positive in some direction, so that there is nothing "
            "to build a sandwich from; use method='bootstrap'"
        )
    inverse = np.zeros((len(inner) + first, len(inner) + first))
    inverse[first:, first:] = inner
    if first:
        inverse[0, 0] = variance  # no permutation changes the mean of the labels
    excess = np.zeros_like(inverse)
    size = first + rank + 1  # all but the rate of mismatches
    excess[:size, :size] = _excess(problem, solver, state, row_moments(problem, state, expected))
    found = _sandwiched(inverse, excess)
    leads = np.zeros((1 + len(solver.to_coef), first + rank))
    leads[1:, first:] = solver.to_coef
    if first:
        leads[0] = np.append(n**-0.5, -solver.centre @ solver.to_coef)
    coef = leads @ found[: first + rank, : first + rank] @ leads.T
    rate_variance = float(found[-1, -1]) if mismatch_rate is not None else float("nan")
    slopes = slice(first, first + rank)
    inflation = error_inflation(found[slopes, slopes], state.noise_scale)
    covariance = Covariance(coef, float(found[size - 1, size - 1]), rate_variance, left, inflation)
    return Robust(covariance, min(n - p, worth - 1))


def _excess(
    problem: Problem, solver: LeastSquares, state: State, moments: RowMoments
) -> FloatArray:
    """Squares of complete-data scores less what the model expects of them."""
    n, variance = problem.n_rows, state.noise_scale**2
    columns = (solver.X - solver.centre) @ solver.to_coef
    if solver.fit_intercept:
        columns = np.column_stack([np.full(n, n**-0.5), columns])
    second, third, fourth = (problem.restore(values) for values in moments)
    size = columns.shape[1]
    found = np.empty((size + 1, size + 1))
    found[:size, :size] = columns.T @ (columns * second[:, None]) / variance**2
    found[:size, size] = columns.T @ (third - third.mean()) / variance**2
    found[size, :size] = found[:size, size]
    found[size, size] = float(np.sum(fourth / variance**2 - 2.0 * second / variance + 1.0))
    found *= n / (n - solver.n_parameters)
    expected = np.append(np.full(size, 1.0 / variance), 2.0 * n)
    return found - np.diag(expected)


def _sandwiched(inverse: FloatArray, excess: FloatArray) -> FloatArray:
    """J⁻¹ (J + excess) J⁻¹, in whose middle no direction may have next to no variance."""
    root = np.linalg.cholesky(inverse)
    values, axes = np.linalg.eigh(np.eye(len(inverse)) + root.T @ excess @ root)
    spread = root @ axes * np.sqrt(np.maximum(values, SMALLEST_SHARE))
    found: FloatArray = spread @ spread.T
    return found
