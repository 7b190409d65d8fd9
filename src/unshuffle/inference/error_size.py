r"""How large is the error of a fit, by its own standard errors?

The error of the fitted values has the covariance of the coordinates in an orthonormal basis, with
eigenvalues :math:`\lambda_k`. Its squared length is a sum of independent :math:`\lambda_k \chi^2_1`
variables, near :math:`c\,\chi^2_\nu` with the same mean and variance (Satterthwaite 1946):
:math:`c = \sum \lambda_k^2 / \sum \lambda_k` and
:math:`\nu = (\sum \lambda_k)^2 / \sum \lambda_k^2`.
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
