r"""Is a fit with mismatches consistent with what needs no law of the noise?

If a share a of the labels was exchanged at random, least squares on the labels as given estimates
:math:`(1 - a)` times the slopes, whatever the law of the noise. So
:math:`h = (1 - a) b_\text{fit} - b_\text{as given}` is near zero, and its size can be tested with
the sandwich covariance of least squares (Hausman 1978). And among the rows that hold another row's
label the labels do not depend on the features: their slope on the fitted values is 0 if the fit is
right, and 1 if these rows hold their own labels after all.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import f as f_law

from ..kernels.types import FloatArray


class Consistency(NamedTuple):
    """A fit with mismatches beside least squares on the labels as given.

    Attributes
    ----------
    distance : float
        Length of h, as a share of the length of least squares as given.
    p_value : float
        Of h against sampling error.
    slope : float
        Slope of the labels on the fitted values among the rows called mismatched; nan where none
        was.
    rate_difference : float
        Rate of the fit less the rate with coefficients tied to least squares.
    """

    distance: float
    p_value: float
    slope: float
    rate_difference: float


def compare_with_least_squares(
    basis: FloatArray, y: FloatArray, fitted: FloatArray, rate: float
) -> tuple[float, float]:
    """Relative length and p-value of the difference h.

    Parameters
    ----------
    basis : array of shape (n, rank)
        Centred features in orthonormal coordinates.
    y : array of shape (n,)
        Labels as given.
    fitted : array of shape (n,)
        Fitted values, linear in the features.
    rate : float
        Of mismatches.
    """
    n, rank = basis.shape
    given = basis.T @ (y - y.mean())
    difference = (1.0 - rate) * (basis.T @ (fitted - fitted.mean())) - given
    length = float(np.linalg.norm(given))
    if length == 0.0:
        return float("inf"), float("nan")
    # Residuals as if each row had been left out (HC3): rows far from the others have small ones.
    left_out = np.maximum(1.0 - 1.0 / n - (basis**2).sum(axis=1), 1e-9)
    scores = basis * ((y - y.mean() - basis @ given) / left_out)[:, None]
    covariance = scores.T @ scores
    statistic = float(difference @ np.linalg.lstsq(covariance, difference, rcond=None)[0])
    p_value = float(f_law.sf(statistic / rank, rank, max(n - rank - 1, 1)))
    return float(np.linalg.norm(difference)) / length, p_value


def slope_among_mismatched(y: FloatArray, fitted: FloatArray, matched: FloatArray) -> float:
    """Slope of the labels on the fitted values, weighted by the probability of a mismatch."""
    weight = 1.0 - matched
    total = float(weight.sum())
    if total <= 1e-9 * len(y):
        return float("nan")
    centred = fitted - float(weight @ fitted) / total
    square = float(weight @ centred**2)
    return float(weight @ (centred * y)) / square if square > 0.0 else float("nan")
