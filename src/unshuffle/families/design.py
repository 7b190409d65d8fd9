"""Features in coordinates of unit variance, so that no unit and no dependence matters to a fit."""

import numpy as np

from ..kernels.types import FloatArray
from .least_squares import LeastSquares


class Design:
    """An intercept, where there is one, and an orthogonal basis of the columns of X.

    Attributes
    ----------
    Z : array of shape (n, q)
        Columns of unit variance, the intercept first.
    to_natural : array of shape (k, q)
        From coordinates to intercept (where there is one) and coefficients.
    solver : LeastSquares
    """

    def __init__(self, X: FloatArray, *, fit_intercept: bool, centred: bool = False) -> None:
        """With `centred` and without an intercept a baseline takes up the means of the columns."""
        self.solver = solver = LeastSquares(X, fit_intercept=fit_intercept or centred)
        n = len(X)
        to_coef = solver.to_coef * np.sqrt(n)
        basis = (X - solver.centre) @ to_coef
        coef = solver.shortest(to_coef)
        if fit_intercept:
            self.Z = np.column_stack([np.ones(n), basis])
            self.to_natural = np.zeros((X.shape[1] + 1, basis.shape[1] + 1))
            self.to_natural[0, 0] = 1.0
            # The intercept of the columns that were kept is that of all columns: combinations
            # that vanish have a mean of zero once they are centred.
            self.to_natural[0, 1:] = -(solver.centre @ coef)
            self.to_natural[1:, 1:] = coef
        else:
            self.Z = basis
            self.to_natural = coef
        self.fit_intercept = fit_intercept

    @property
    def n_coordinates(self) -> int:
        """Number of coefficients that the data determine, the intercept included."""
        return int(self.Z.shape[1])

    def natural(self, theta: FloatArray) -> tuple[FloatArray, float]:
        """Coefficients and intercept."""
        values = self.to_natural @ theta
        if self.fit_intercept:
            return values[1:], float(values[0])
        return values, 0.0

    def covariance(self, of_theta: FloatArray) -> FloatArray:
        """Covariance of intercept (where there is one) and coefficients."""
        value: FloatArray = self.to_natural @ of_theta @ self.to_natural.T
        return value
