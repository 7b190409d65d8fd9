r"""Columns of a curve that leave the coefficients of the plane alone.

With columns :math:`Z` orthogonal to the intercept and to :math:`X`, least squares on :math:`(X, Z)`
gives the same coefficients of :math:`X` as least squares on :math:`X`. So labels can be aligned
around the curve :math:`X b + Z g`, and :math:`b` is still the best plane.
"""

import numpy as np

from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from .curve import standardised
from .settings import DEFAULT, CurveSettings


def n_products(n_features: int) -> int:
    """Squares and products of so many features."""
    return n_features * (n_features + 1) // 2


def curve_columns(
    X: FloatArray, solver: LeastSquares, settings: CurveSettings = DEFAULT.curve
) -> FloatArray:
    """Squares and products of features, without what the plane explains of them.

    Parameters
    ----------
    X : array of shape (n, d)
    solver : LeastSquares
        Of X.

    Returns
    -------
    columns : array of shape (n, k)
        Orthogonal to each other, to X and to an intercept if there is one, with a mean square of
        one. Directions of which the plane explains nearly all are left out.
    """
    features = standardised(X)
    products = [features[:, j : j + 1] * features[:, j:] for j in range(features.shape[1])]
    columns = np.hstack([np.empty((len(X), 0)), *products])
    columns = np.clip(columns, -settings.farthest, settings.farthest)
    columns -= columns.mean(axis=0)  # without an intercept too: squares alone would move the mean
    scale = np.sqrt((columns**2).mean(axis=0))
    columns = columns[:, scale > 0.0] / scale[scale > 0.0]
    basis = solver.basis()
    for _ in range(2):  # the second time for rounding
        columns -= basis @ (basis.T @ columns)
    squares, axes = np.linalg.eigh(columns.T @ columns / len(X))
    kept = squares > settings.smallest_direction
    return np.asarray(columns @ (axes[:, kept] / np.sqrt(squares[kept])))
