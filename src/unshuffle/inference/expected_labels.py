r"""Covariance of least squares on expected labels, where the noise has any law.

Coefficients and rate solve :math:`\sum_i q_i (\hat y_i - q_i^\top\theta) = 0` and
:math:`\sum_i (1 - p_i - a) = 0`, where :math:`p_i` is the probability that label i is the row's
own, :math:`\hat y_i = p_i y_i + (1 - p_i) m_i` its expected own label, and q the features in
orthonormal coordinates. The sandwich of these equations holds for noise of any law and spread.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.types import FloatArray


class ExpectedCovariance(NamedTuple):
    """Covariance of the coordinates and the rate.

    Attributes
    ----------
    theta : array of shape (1 + rank, 1 + rank)
        Of the mean (first) and the orthonormal coordinates; nan where it is not determined.
    rate : float
        Variance of the rate.
    fraction_kept : float
        Smallest fraction of the information kept in any direction.
    inflation : float
        Standard errors as a multiple of those with known order.
    """

    theta: FloatArray
    rate: float
    fraction_kept: float
    inflation: float


def expected_label_covariance(
    basis: FloatArray,
    residual: FloatArray,
    label_residual: FloatArray,
    pull: FloatArray,
    matched: FloatArray,
    movable: FloatArray,
) -> ExpectedCovariance:
    """The sandwich.

    Parameters
    ----------
    basis : array of shape (n, 1 + rank)
        A constant column and orthonormal coordinates, all of length one.
    residual : array of shape (n,)
        Expected label less fitted value.
    label_residual : array of shape (n,)
        Label as given less its mean, on the curve if there is one.
    pull : array of shape (n,)
        Label residual times the derivative of the log density of the label by the fitted value:
        u² for standard normal noise.
    matched : array of shape (n,)
        Probability that the label is the row's own.
    movable : array of shape (n,)
        1 where the label can be another row's, else 0.
    """
    n, size = basis.shape
    doubt = matched * (1.0 - matched)
    kept = matched - doubt * pull
    rate = float((1.0 - matched) @ movable) / max(float(movable.sum()), 1.0)
    slack = max(rate * (1.0 - rate), 1e-9)
    away = np.where(label_residual == 0.0, 0.0, doubt * pull / _nonzero(label_residual))
    jacobian = np.zeros((size + 1, size + 1))
    jacobian[:size, :size] = (basis * kept[:, None]).T @ basis
    jacobian[:size, size] = basis.T @ (doubt * label_residual) / slack
    jacobian[size, :size] = basis.T @ away
    jacobian[size, size] = float(movable.sum()) - float(doubt.sum()) / slack
    scores = np.column_stack([basis * residual[:, None], (1.0 - matched - rate) * movable])
    found = np.full((size + 1, size + 1), np.nan)
    smallest = float(np.linalg.eigvalsh(jacobian[:size, :size]).min())
    if smallest <= 0.0 or abs(np.linalg.det(jacobian)) == 0.0:
        return ExpectedCovariance(found[:size, :size], np.nan, smallest, np.nan)
    units = np.linalg.solve(jacobian, scores.T).T
    found = units.T @ units * (n / max(n - size, 1))
    # With known order, residuals are distances from the plane: a curve that the plane does not
    # follow is part of them.
    from_plane = residual + (1.0 - matched) * label_residual
    known = basis[:, 1:] ** 2 * (matched * from_plane**2)[:, None]
    usual = float(known.sum()) / max(float(matched.mean()), 1e-9)
    inflation = (float(np.trace(found[1:size, 1:size])) / usual) ** 0.5 if usual > 0.0 else np.nan
    return ExpectedCovariance(found[:size, :size], float(found[size, size]), smallest, inflation)


def _nonzero(values: FloatArray) -> FloatArray:
    return np.where(values == 0.0, 1.0, values)
