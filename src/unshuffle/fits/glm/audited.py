"""Standard errors of a fit of a family whose rate of mismatches comes from an audit."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ...inference.audited_rate import Audit
from ...kernels.types import FloatArray
from ..audited import shift_of
from .data import GlmData
from .results import FamilyFit
from .settings import GlmSettings


def audit_used(data: GlmData, settings: GlmSettings) -> Audit | None:
    """The audit, unless match probabilities take the place of its rate."""
    return settings.audit if data.match_prob is None else None


def with_family_audit(
    fit: FamilyFit, audit: Audit | None, values: Callable[[float], FloatArray]
) -> FamilyFit:
    """Add what an audit leaves open to the covariances of a fit, as `fits.audited` does.

    Parameters
    ----------
    fit : FamilyFit
        At the audited rate.
    audit : Audit or None
        None leaves the fit as it is.
    values : callable
        Intercept (where there is one) and coefficients at another rate.
    """
    if audit is None:
        return fit
    shift = shift_of(audit.interior_rate, audit.standard_error, values)
    added = np.outer(shift, shift)
    return replace(
        fit,
        covariance=fit.covariance + added,
        robust=None if fit.robust is None else fit.robust + added,
        mismatch_rate_se=audit.standard_error,
    )
