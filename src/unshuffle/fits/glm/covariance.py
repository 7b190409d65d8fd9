"""Standard errors of a fit of a family: observed information, sandwich, information kept."""

from typing import NamedTuple

import numpy as np
from scipy.stats import chi2

from ...inference.error_size import median_error
from ...kernels.types import FloatArray


class Errors(NamedTuple):
    """Covariance of all parameters of a fit, and what is left of the information.

    Attributes
    ----------
    covariance : array of shape (k, k)
        Of all parameters; nan where the observed information is not positive.
    fraction_kept, inflation : float
        Smallest share of the complete information about the coefficients that is observed, and the
        root mean square over directions of the standard errors over those of known order.
    expected_error : float
        Median error by these standard errors, in 95 % radii of a fit with known order.
    """

    covariance: FloatArray
    fraction_kept: float
    inflation: float
    expected_error: float


def observed_errors(information: FloatArray, complete: FloatArray, free: FloatArray) -> Errors:
    """Invert the observed information of the free parameters.

    `complete` is the information about the coefficients, the first parameters, in labels of known
    order.
    """
    size, q = len(information), len(complete)
    covariance = np.full((size, size), np.nan)
    chosen = np.ix_(free, free)
    values = np.linalg.eigvalsh(information[chosen])
    if values[0] <= 1e-10 * values[-1]:
        return Errors(covariance, min(0.0, float(values[0])), float("inf"), float("nan"))
    covariance[chosen] = np.linalg.inv(information[chosen])
    root = np.linalg.cholesky(complete)
    # Eigenvalues of the covariance in units of that of known order.
    relative = np.linalg.eigvalsh(root.T @ covariance[:q, :q] @ root)
    inflation = float(np.sqrt(relative.mean()))
    radii = median_error(np.diag(relative)) / float(np.sqrt(chi2.ppf(0.95, q)))
    return Errors(covariance, 1.0 / float(relative[-1]), inflation, radii)


def in_radii(difference: FloatArray, complete: FloatArray) -> float:
    """Length of a difference of coefficients, in 95 % radii of a fit with known order."""
    squared = float(difference @ complete @ difference)
    return float(np.sqrt(max(squared, 0.0) / chi2.ppf(0.95, len(difference))))


def sandwich(covariance: FloatArray, scores: FloatArray, n_parameters: int) -> FloatArray:
    """Sandwich of the scores of independent units, with the correction for few of them."""
    n = len(scores)
    middle = scores.T @ scores * (n / max(n - n_parameters, 1))
    value: FloatArray = covariance @ middle @ covariance
    return value
