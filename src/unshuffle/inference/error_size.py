r"""How large is the error of a fit, by its standard errors, or by mismatches it does not know of?

The error of the fitted values has the covariance of the coordinates in an orthonormal basis, with
eigenvalues :math:`\lambda_k`. Its squared length is a sum of independent :math:`\lambda_k \chi^2_1`
variables, near :math:`c\,\chi^2_\nu` with the same mean and variance (Satterthwaite 1946):
:math:`c = \sum \lambda_k^2 / \sum \lambda_k` and
:math:`\nu = (\sum \lambda_k)^2 / \sum \lambda_k^2`.

If a share a of the labels was exchanged at random, least squares on the labels as given estimates
1 - a times the slopes.
"""

import numpy as np
from scipy.stats import chi2

from ..kernels.types import FloatArray


def median_error(covariance: FloatArray) -> float:
    """Median length of an error with this covariance; nan where the covariance is not known."""
    if not np.isfinite(covariance).all():
        return float("nan")
    # Squares add up to the same whatever the axes, so that no eigenvalue is needed.
    total, squares = float(np.trace(covariance)), float((covariance**2).sum())
    if total <= 0.0:
        return 0.0
    return float(np.sqrt(squares / total * chi2.median(total**2 / squares)))


def error_by_mismatches(rate: float, radius: float, r_squared: float) -> float:
    """Error of least squares on labels as given by a share `rate` of mismatches, in 95 % radii.

    Its slopes are then too short by ``rate / (1 - rate)`` of their length; `radius` is that of
    least squares as a share of the same length. Labels as given explain at most ``(1 - rate)²`` of
    their variance, so that `r_squared` excludes higher rates. A rate of 1: nothing is known.
    """
    if not rate < 1.0:
        return float("inf")
    share = min(rate, 1.0 - np.sqrt(max(r_squared, 0.0)))
    too_short = share / (1.0 - share) if share > 0.0 else 0.0
    return float(too_short / radius) if radius > 0.0 else 0.0
