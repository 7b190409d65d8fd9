r"""Standard errors of a fit whose rate of mismatches comes from an audit.

The fit takes the audited rate r for known. What the audit leaves open is added by the delta method,

.. math:: \mathrm{Cov} + \mathrm{Var}(r)\, \frac{db}{dr} \frac{db}{dr}^\top,

with the derivative from two further fits, one standard error of the audit below and above r.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..inference.audited_rate import Audit
from ..kernels.types import FloatArray
from .results import StochasticFit, Uncertainty, standard_errors_of


def rate_of(given: Any) -> Any:
    """A rate as the fits take it: the estimate of an audit, anything else as it is."""
    return given.interior_rate if isinstance(given, Audit) else given


def with_audit(
    fit: StochasticFit, given: Any, refit: Callable[[float], StochasticFit]
) -> StochasticFit:
    """Add what an audit leaves open to the covariances of a fit; `given` may be no audit.

    Parameters
    ----------
    fit : StochasticFit
        At the audited rate.
    given : Audit, or any other rate
    refit : callable
        The same fit at another rate, from the coefficients found.

    Returns
    -------
    fit : StochasticFit
        With the audit's part in all covariances of the coefficients.
    """
    if not isinstance(given, Audit) or fit.uncertainty is None or fit.errors is None:
        return fit
    rate, step = given.interior_rate, given.standard_error
    # Rates stay inside 0..1 where the audit is small.
    low, high = max(rate - step, 0.1 * rate), min(rate + step, 1.0 - 0.1 * (1.0 - rate))
    first, last = (_values(refit(at)) for at in (low, high))
    shift = (last - first) * (step / (high - low))
    added = np.outer(shift, shift)
    first_kept = 0 if fit.design.fit_intercept else 1
    kept = added[first_kept:, first_kept:]
    errors, robust = fit.errors, fit.errors.robust
    if robust is not None:
        covariance = robust.covariance._replace(coef=robust.covariance.coef + added)
        robust = robust._replace(covariance=covariance)
    return replace(
        fit,
        uncertainty=_widened(fit.uncertainty, kept, step),
        errors=replace(errors, uncertainty=_widened(errors.uncertainty, kept, step), robust=robust),
    )


def _values(fit: StochasticFit) -> FloatArray:
    return np.append(fit.intercept, fit.coef)


def _widened(found: Uncertainty, added: FloatArray, rate_se: float) -> Uncertainty:
    covariance = found.covariance + added
    return replace(
        found,
        covariance=covariance,
        standard_errors=standard_errors_of(covariance),
        mismatch_rate_se=rate_se,
    )
