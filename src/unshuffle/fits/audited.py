r"""Standard errors of a fit whose rate of mismatches comes from an audit.

The fit takes the audited rate r for known. What the audit leaves open is added by the delta method,

.. math:: \mathrm{Cov} + \mathrm{Var}(r)\, \frac{db}{dr} \frac{db}{dr}^\top,

with the derivative from two further fits, one standard error of the audit below and above r. With
audits of several strata there is such a term for each of them.
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..inference.audited_rate import Audit
from ..inference.stratum_rates import StratumRates
from ..kernels.types import FloatArray
from .data import Data, InMemory
from .results import StochasticFit, Uncertainty, standard_errors_of
from .settings import StochasticSettings
from .stochastic import fit_stochastic


def rate_of(given: Any) -> Any:
    """A rate as the fits take it: the estimate of an audit, anything else as it is.

    Rates per stratum are match probabilities of rows, beside which "estimate" estimates nothing.
    """
    if isinstance(given, Mapping):
        return "estimate"
    return given.interior_rate if isinstance(given, Audit) else given


def with_audit(
    fit: StochasticFit, given: Any, refit: Callable[[Any], StochasticFit]
) -> StochasticFit:
    """Add what an audit leaves open to the covariances of a fit; `given` may be no audit.

    Parameters
    ----------
    fit : StochasticFit
        At the audited rate.
    given : Audit, StratumRates, or any other rate
    refit : callable
        The same fit at another rate (or `StratumRates`), from the coefficients found.

    Returns
    -------
    fit : StochasticFit
        With the audit's part in all covariances of the coefficients.
    """
    if fit.uncertainty is None or fit.errors is None:
        return fit
    if isinstance(given, Audit):
        shifts = [
            shift_of(given.interior_rate, given.standard_error, lambda at: _values(refit(at)))
        ]
    elif isinstance(given, StratumRates) and len(given.audited):
        shifts = [_shift_of_stratum(given, int(k), refit) for k in given.audited]
    else:
        return fit
    step = given.standard_error
    size = 1 + len(fit.coef)
    added = sum((np.outer(shift, shift) for shift in shifts), np.zeros((size, size)))
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


def refit_at(
    data: Data, settings: StochasticSettings, fit: StochasticFit, rate: Any
) -> StochasticFit:
    """The same fit at another rate of mismatches, or other ones of strata, from where it ended."""
    if isinstance(rate, StratumRates):
        assert isinstance(data, InMemory)
        return fit_stochastic(data.with_strata(rate), replace(settings, init=fit.coef))
    return fit_stochastic(data, replace(settings, mismatch_rate=rate, init=fit.coef))


def shift_of(rate: float, step: float, values: Callable[[float], FloatArray]) -> FloatArray:
    """What one standard error of an audit changes in the values that are fitted at a rate."""
    # Rates stay inside 0..1 where the audit is small.
    low, high = max(rate - step, 0.1 * rate), min(rate + step, 1.0 - 0.1 * (1.0 - rate))
    first, last = values(low), values(high)
    return np.asarray((last - first) * (step / (high - low)))


def _shift_of_stratum(
    given: StratumRates, stratum: int, refit: Callable[[Any], StochasticFit]
) -> FloatArray:
    """The same of one stratum's audit, at the rates of the others."""
    rate, step = float(given.rates[stratum]), float(given.errors[stratum])
    return shift_of(rate, step, lambda at: _values(refit(given.with_rate(stratum, at))))


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
