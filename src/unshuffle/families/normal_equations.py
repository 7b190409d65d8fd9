"""Least squares from the products of the columns alone."""

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .settings import SOLVER


class NormalEquations:
    """Improve coefficients by the gradient ``X'(ŷ - Xw)`` of a pass over the data.

    Products are of centred columns and exact to a few ulps; coefficients are only ever corrected by
    what is left of the residuals, which refines them from one iteration to the next. Columns
    that depend on others to within 3e-7 of their length count as dependent.

    Attributes
    ----------
    rank, n_parameters, dependent, centre, to_coef
        As in `LeastSquares`.
    """

    def __init__(
        self, gram: FloatArray, centre: FloatArray, n: int, *, fit_intercept: bool, ridge: float
    ) -> None:
        self.gram, self.centre, self.fit_intercept = gram, centre, fit_intercept
        length = np.sqrt(np.maximum(np.diag(gram), 0.0))
        rounding = 4.0 * np.finfo(float).eps * np.abs(centre) * np.sqrt(n)
        constant = length <= rounding
        scale = np.where(constant, 1.0, length)
        correlation = np.where(np.logical_or.outer(constant, constant), 0.0, gram)
        correlation = correlation / np.outer(scale, scale)
        values, axes = np.linalg.eigh(correlation)
        kept = values > SOLVER.smallest_eigenvalue * len(values) * max(
            values.max(initial=0.0), 1e-300
        )
        self.rank = int(kept.sum())
        self.n_parameters = self.rank + int(fit_intercept)
        self.to_coef = axes[:, kept] / scale[:, None] / np.sqrt(values[kept] + ridge)
        self._penalty = ridge * scale**2
        self._null, _ = np.linalg.qr(axes[:, ~kept] / scale[:, None])
        self.dependent: IntArray = np.flatnonzero(np.abs(self._null).max(axis=1, initial=0) > 1e-6)

    def improve(self, coef: FloatArray, gradient: FloatArray) -> FloatArray:
        """Coefficients of least squares, given the gradient at `coef`."""
        step = self.to_coef @ (self.to_coef.T @ (gradient - self._penalty * coef))
        better: FloatArray = coef + step
        better -= self._null @ (self._null.T @ better)
        return better

    def loss(self, residual_ss: float, gradient: FloatArray, step: FloatArray) -> float:
        """Sum of squares after a step, from that before and the gradient there."""
        change = float(step @ (self.gram @ step)) - 2.0 * float(step @ gradient)
        return max(residual_ss + change, 0.0)

    def length(self, coef: FloatArray) -> float:
        """Norm of ``X coef`` (centred)."""
        return float(np.sqrt(max(float(coef @ (self.gram @ coef)), 0.0)))
