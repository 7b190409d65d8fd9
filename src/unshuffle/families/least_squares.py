"""Least squares with one design and many right-hand sides.

X is factored once: a QR decomposition taken over blocks of rows (so that no second array of the
size of X is needed), then a singular value decomposition of the small triangular factor. Each
solve uses the seminormal equations with one step of iterative refinement, which makes them as
accurate as a QR solve at the memory of a Gram matrix (Björck 1987).
"""

from collections.abc import Iterator
from functools import partial
from typing import NamedTuple, TypeAlias

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .settings import SOLVER

Blocks: TypeAlias = Iterator[tuple[slice, FloatArray]]


class Solution(NamedTuple):
    """A least squares fit: ``fitted`` has shape (n,), ``coef`` shape (d,)."""

    coef: FloatArray
    intercept: float
    fitted: FloatArray
    residual_ss: float


class LeastSquares:
    """Minimise ``‖v - intercept - X coef‖² + ridge n Σ (coef_j sd_j)²`` for many v.

    Where columns are linearly dependent the solution of minimum norm is taken. The ridge is in
    units of standardised columns, so that it does not depend on their scale.

    Attributes
    ----------
    rank : int
        Rank of X (centred when there is an intercept).
    dependent : array of int
        The columns that take part in a linear dependence.
    n_parameters : int
        Coefficients that the data determine, the intercept included.
    centre : array of shape (d,)
        Means of the columns; zero without an intercept.
    well_conditioned : bool
        Whether X has full rank, and all directions of its scaled columns have like length.
    offset : array of shape (d,) or None
        What is taken off the columns before they are added up; None where they lie near zero.
    to_coef : array of shape (d, rank)
        Leads from coordinates in an orthonormal basis to coefficients.
    to_theta : array of shape (rank, d)
        Leads back, whatever the units of the columns: a pseudo-inverse of `to_coef` would take
        columns of small units for rounding.
    """

    def __init__(
        self,
        X: FloatArray,
        *,
        fit_intercept: bool,
        ridge: float = 0.0,
        rows_per_block: int = SOLVER.rows_per_block,
    ) -> None:
        n, d = X.shape
        self.X = X
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.centre = X.mean(axis=0) if fit_intercept else np.zeros(d)
        blocks = _centred_blocks(X, self.centre if fit_intercept else None, rows_per_block)
        self._triangle = triangle = _triangular_factor(blocks, d)
        scale = _column_scale(triangle, self.centre, n)
        # Where columns lie near zero, sums over them lose nothing, and no block need be copied.
        far = np.abs(self.centre) * n**0.5 > SOLVER.far_from_zero * scale
        self._blocks = partial(
            _centred_blocks, X, self.centre if far.any() else None, rows_per_block
        )
        self._moved = self.centre if not far.any() else np.zeros(d)
        self.offset = self.centre if far.any() else None
        _, singular, axes = np.linalg.svd(triangle / scale, full_matrices=True)
        singular = np.concatenate([singular, np.zeros(d - len(singular))])
        threshold = max(n, d) * np.finfo(float).eps * singular[0]
        kept = singular > threshold
        self.rank = int(kept.sum())
        # The second round refines the first; where X is this well conditioned, by nothing.
        worst = singular[0] / singular[kept].min(initial=singular[0]) if self.rank else 1.0
        self.well_conditioned = self.rank == d and worst <= SOLVER.well_conditioned
        self._rounds = 2 if ridge or worst > SOLVER.well_conditioned else 1
        self.n_parameters = self.rank + int(fit_intercept)
        # coef = to_coef @ to_coef' @ X' v solves the normal equations on the determined subspace;
        # without ridge X @ to_coef is an orthonormal basis.
        lengths = np.sqrt(singular[kept] ** 2 + ridge)
        self.to_coef = (axes[kept] / scale).T / lengths
        self.to_theta: FloatArray = axes[kept] * scale * lengths[:, None]
        self._penalty = ridge * scale**2  # a column's length is its standard deviation times √n
        self._null = _null_space(axes[~kept], scale)
        self.dependent: IntArray = np.flatnonzero(np.abs(self._null).max(axis=1, initial=0) > 1e-6)

    def solve(self, labels: FloatArray) -> Solution:
        """Fit `labels`, a vector beside the rows of X."""
        mean = float(labels.mean()) if self.fit_intercept else 0.0
        residual = labels - mean
        coef = np.zeros(self.X.shape[1])
        for _ in range(self._rounds):
            coef += self._solve_normal_equations(residual, coef)
            fitted = self.predict(coef, mean - float(self.centre @ coef))
            np.subtract(labels, fitted, out=residual)
        coef -= self._null @ (self._null.T @ coef)
        return Solution(coef, mean - float(self.centre @ coef), fitted, float(residual @ residual))

    def shortest(self, coef: FloatArray) -> FloatArray:
        """The coefficients of minimum norm among those with the same fitted values."""
        shortened: FloatArray = coef - self._null @ (self._null.T @ coef)
        return shortened

    def basis(self) -> FloatArray:
        """Orthonormal basis of the (centred) columns of X, shape (n, rank)."""
        Q: FloatArray = (self.X - self.centre) @ self.to_coef
        gram = Q.T @ Q
        if np.abs(gram - np.eye(self.rank)).max(initial=0.0) > SOLVER.nearly_orthonormal:
            return np.linalg.qr(Q)[0]
        # What rounding left is mended by a triangle, at a tenth of the cost.
        mended: FloatArray = Q @ np.linalg.inv(np.linalg.cholesky(gram)).T
        return mended

    def coordinates(self, labels: FloatArray) -> FloatArray:
        """Coefficients of `labels` in the orthonormal basis that `to_coef` leads from."""
        gradient = -float(labels.sum()) * self._moved
        for rows, block in self._blocks():
            gradient += labels[rows] @ block
        theta: FloatArray = self.to_coef.T @ gradient
        return theta

    def length(self, coef: FloatArray) -> float:
        """Norm of ``X coef`` (centred), at the cost of a d × d product."""
        return float(np.linalg.norm(self._triangle @ coef))

    def predict(self, coef: FloatArray, intercept: float) -> FloatArray:
        """Fitted values of given coefficients."""
        fitted = np.empty(len(self.X))
        shift = intercept + float((self.centre - self._moved) @ coef)
        for rows, block in self._blocks():
            fitted[rows] = block @ coef + shift
        return fitted

    def _solve_normal_equations(self, residual: FloatArray, coef: FloatArray) -> FloatArray:
        gradient = -self._penalty * coef - float(residual.sum()) * self._moved
        for rows, block in self._blocks():
            gradient += residual[rows] @ block
        step: FloatArray = self.to_coef @ (self.to_coef.T @ gradient)
        return step


def _centred_blocks(X: FloatArray, centre: FloatArray | None, rows_per_block: int) -> Blocks:
    """Blocks of rows, centred one at a time: exact far from zero, without a copy of X."""
    for first in range(0, len(X), rows_per_block):
        rows = slice(first, first + rows_per_block)
        yield rows, X[rows] if centre is None else X[rows] - centre


def _triangular_factor(blocks: Blocks, n_columns: int) -> FloatArray:
    triangle = np.empty((0, n_columns))
    for _, block in blocks:
        triangle = np.asarray(np.linalg.qr(np.concatenate([triangle, block]), mode="r"))
    return triangle


def _column_scale(triangle: FloatArray, centre: FloatArray, n: int) -> FloatArray:
    """Length of each centred column, so that the rank does not depend on units."""
    length = np.sqrt((triangle**2).sum(axis=0))
    rounding = n * np.finfo(float).eps * np.abs(centre)
    constant = length <= rounding * np.sqrt(n)
    triangle[:, constant] = 0.0
    return np.where(length > 0.0, length, 1.0)


def _null_space(axes: FloatArray, scale: FloatArray) -> FloatArray:
    """Orthonormal basis (as columns) of the combinations of columns that vanish."""
    Q, _ = np.linalg.qr((axes / scale).T)
    return Q
