r"""Standard errors that hold where the noise is not the same for all rows: the sandwich.

The observed-data score of a unit is the expectation of its complete-data score over permutations.
With J the observed information (Louis' formula) and the units' scores :math:`S_u`

.. math::

    \widehat{\mathrm{Cov}} = c \, J^{-1} \Big( \sum_u S_u S_u^\top \Big) J^{-1}, \qquad
    c = \frac{G}{G - 1} \cdot \frac{n - 1}{n - p},

where noise and rate of mismatches take part as parameters. Units are the G pieces of the data that
inform about the parameters independently of each other: whole groups where the order is lost, since
their rows share their labels, and pinned rows. Where the order is mostly right see `row_sandwich`.
Where nothing is lost c is n / (n - p) and the result is White's covariance in the version HC1.
"""

from typing import NamedTuple

import numpy as np

from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..em.information import Covariance, error_inflation, invert_information, smallest_rate
from ..em.scores import snapshot_count
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray, IntArray
from .sampling_settings import SANDWICH, SandwichSettings


class Expected(NamedTuple):
    """Expectations over permutations at the fitted values.

    Attributes
    ----------
    labels, squares, away : arrays of shape (n,)
        Of the label a row holds, of its square, and of its not being the row's own.
    missing : array of shape (rank + 2, rank + 2)
        Covariance of the complete-data score, which is what Louis' formula needs.
    """

    labels: FloatArray
    squares: FloatArray
    away: FloatArray
    missing: FloatArray


class Robust(NamedTuple):
    """A robust covariance, and the degrees of freedom that its units leave."""

    covariance: Covariance
    freedom: int


def nothing_lost(problem: Problem, solver: LeastSquares) -> Expected:
    """Expectations where every label stands beside its own row."""
    missing = np.zeros((solver.rank + 2, solver.rank + 2))
    return Expected(problem.y, problem.y**2, np.zeros(problem.n_rows), missing)


def expect(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    align: SampledAlignment,
    first_stream: int,
    settings: SandwichSettings = SANDWICH,
) -> Expected:
    """Follow the chain from `state`, which stays at its coefficients.

    Groups are permuted independently of each other, so the covariances of their scores add up.
    Estimated one by one they are much less noisy than that of the sum.
    """
    n_snapshots = settings.more_snapshots * snapshot_count(problem.n_movable)
    n, first_rows = problem.n_movable, problem.starts[:-1]
    basis = (solver.X[problem.user_rows(np.arange(n))] - solver.centre) @ solver.to_coef
    labels, squares, away = np.zeros((3, problem.n_rows))
    parts = np.empty((n, solver.rank + 2))
    origin: FloatArray | float = 0.0
    total = np.zeros((problem.n_blocks, solver.rank + 2))
    products = np.zeros((solver.rank + 2, solver.rank + 2))
    for k in range(n_snapshots):
        alignment = align(state, first_stream + k)
        state = state._replace(perm=alignment.perm)
        held = problem.y[state.perm]
        labels += alignment.expected
        squares += held**2
        away += 1.0 - np.asarray(alignment.match_proba)
        parts[:, :-2] = basis * held[:n, None]
        parts[:, -2] = (held[:n] - state.fitted[:n]) ** 2
        parts[:, :-1] /= state.noise_scale**2
        parts[:, -1] = state.perm[:n] != np.arange(n)
        scores = np.add.reduceat(parts, first_rows, axis=0) - origin
        if k == 0:  # sums of squares around a typical score do not cancel
            origin, scores = scores, np.zeros_like(scores)
        total += scores
        products += scores.T @ scores
    missing = (products - total.T @ total / n_snapshots) / (n_snapshots - 1)
    return Expected(labels / n_snapshots, squares / n_snapshots, away / n_snapshots, missing)


def unit_codes(problem: Problem, *, by_group: bool) -> IntArray:
    """Number of the unit of each row, in the user's order: its group, or the row itself."""
    codes = np.arange(problem.n_rows, dtype=np.int64)
    if by_group:
        n, n_blocks = problem.n_movable, problem.n_blocks
        codes[:n] = np.repeat(np.arange(n_blocks), np.diff(problem.starts))
        codes[n:] = n_blocks + np.arange(problem.n_rows - n)
    restored = np.empty_like(codes)
    restored[problem.user_rows(np.arange(problem.n_rows))] = codes
    return restored


def check_units(codes: IntArray, n_parameters: int, settings: SandwichSettings = SANDWICH) -> int:
    """How many units of like size the rows amount to; too few are refused."""
    sizes = np.bincount(codes)
    worth = len(codes) ** 2 / float((sizes**2).sum())
    needed = settings.spare_units + n_parameters
    if worth < needed:
        raise ValueError(
            f"the rows amount to {worth:.3g} independent groups of like size, and a sandwich of "
            f"{n_parameters} parameters needs at least {needed}; use "
            "method='information' or method='bootstrap', or cut the data into smaller groups"
        )
    return int(worth)


def residual_squares(state: State, expected: Expected) -> FloatArray:
    """Mean square of each (arranged) row's residual, over permutations."""
    return np.asarray(
        expected.squares - 2.0 * state.fitted * expected.labels + state.fitted**2, dtype=np.float64
    )


def row_scores(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    expected: Expected,
    mismatch_rate: float | None,
) -> FloatArray:
    """Expected score of each of the user's rows; shape (n, k), the intercept's direction first."""
    variance, n = state.noise_scale**2, problem.n_rows
    residual = problem.restore(expected.labels - state.fitted)
    columns = [((solver.X - solver.centre) @ solver.to_coef) * residual[:, None] / variance]
    if solver.fit_intercept:
        columns.insert(0, residual[:, None] / (variance * n**0.5))
    deviation = residual_squares(state, expected)
    # The noise is estimated with n - p degrees of freedom; around the mean scores add up to zero.
    columns.append(problem.restore(deviation - deviation.mean())[:, None] / variance)
    if mismatch_rate is not None:
        rate = smallest_rate(mismatch_rate)
        movable = np.arange(n) < problem.n_movable
        columns.append(problem.restore(rate * (expected.away - rate) * movable)[:, None])
    return np.concatenate(columns, axis=1)


class Influences(NamedTuple):
    """How much each unit moves the estimates.

    Attributes
    ----------
    units : array of shape (n_units, k)
        The units' scores times the inverse information; the intercept first where there is one,
        then the directions of the orthonormal basis, the noise and, where it was estimated, the
        rate of mismatches.
    inverse : array of shape (k, k)
        The inverse information: what the products of the units add up to under the model.
    fraction_kept : float
        Smallest fraction of the information kept in any direction.
    """

    units: FloatArray
    inverse: FloatArray
    fraction_kept: float


def influences(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    expected: Expected,
    codes: IntArray,
    mismatch_rate: float | None,
) -> Influences:
    """Influence of the units that `codes` number; see `sandwich`."""
    inner, left = invert_information(
        problem, solver, state.noise_scale, expected.missing, mismatch_rate
    )
    if left <= 0.0:
        raise ValueError(
            "the observed information is not positive in some direction, so that there is nothing "
            "to build a sandwich from; use method='bootstrap'"
        )
    first = int(solver.fit_intercept)
    inverse = np.zeros((len(inner) + first, len(inner) + first))
    inverse[first:, first:] = inner
    if first:
        inverse[0, 0] = state.noise_scale**2  # no permutation changes the mean of the labels
    rows = row_scores(problem, solver, state, expected, mismatch_rate)
    units = np.zeros((int(codes.max()) + 1, rows.shape[1]))
    np.add.at(units, codes, rows)
    return Influences(units @ inverse, inverse, left)


def sandwich(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    expected: Expected,
    codes: IntArray,
    mismatch_rate: float | None,
) -> Robust:
    """Covariance of the estimates from the scores of the units that `codes` number.

    `mismatch_rate` is None where the rate was not estimated.
    """
    n, rank, p = problem.n_rows, solver.rank, solver.n_parameters
    worth = check_units(codes, p + 1 + (mismatch_rate is not None))
    first = int(solver.fit_intercept)
    units, _, left = influences(problem, solver, state, expected, codes, mismatch_rate)
    n_units = len(units)
    found = units.T @ units * (n_units / (n_units - 1) * (n - 1) / (n - p))
    leads = np.zeros((1 + len(solver.to_coef), first + rank))
    leads[1:, first:] = solver.to_coef
    if first:
        leads[0] = np.append(n**-0.5, -solver.centre @ solver.to_coef)
    coef = leads @ found[: first + rank, : first + rank] @ leads.T
    rate_variance = float(found[-1, -1]) if mismatch_rate is not None else float("nan")
    inflation = error_inflation(
        found[first : first + rank, first : first + rank], state.noise_scale
    )
    covariance = Covariance(coef, float(found[p, p]), rate_variance, left, inflation)
    return Robust(covariance, min(n - p, worth - 1))
