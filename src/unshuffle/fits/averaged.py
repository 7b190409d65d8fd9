"""A fit with mismatches, averaged with least squares on the labels as given.

With probability w the fit with mismatches holds, with 1 - w all labels are in order. So expected
labels and probabilities are averages over the two, and so are the coefficients, which are linear in
the labels. Their covariance has a part between the two: the law of total variance.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from ..inference.settings import CHECKS, CheckSettings
from ..kernels.types import FloatArray
from ..search.label_fit import LabelFit
from .auto_results import MismatchFit
from .results import StochasticFit, Uncertainty, standard_errors_of


@dataclass(frozen=True, eq=False)
class Averaged:
    """Probabilities and expected labels if the fit holds with a probability of `weight`."""

    found: LabelFit
    weight: float

    @property
    def rate(self) -> float:
        """Rate of mismatches."""
        return self.weight * self.found.rate

    @property
    def fitted(self) -> FloatArray:
        """Fitted values of the fit with mismatches."""
        return self.found.fitted

    @property
    def matched(self) -> FloatArray:
        """Probability that each row holds its own label."""
        return np.asarray(1.0 - self.weight * (1.0 - self.found.matched))

    def expected(self, labels: FloatArray) -> FloatArray:
        """Expected own label of each row."""
        return np.asarray(self.weight * self.found.expected(labels) + (1.0 - self.weight) * labels)

    def pull(self, labels: FloatArray) -> FloatArray:
        """As under the fit with mismatches."""
        return self.found.pull(labels)


def weight_of(facts: MismatchFit, checks: CheckSettings = CHECKS) -> float:
    """Weight of a fit with mismatches where noise of an unusual kind could look like them.

    Without evidence both are as probable; with more of it in each row, mismatches are nearly sure.
    """
    if not facts.needs_evidence:
        return 1.0
    return 1.0 - 0.5 * math.exp(-facts.gain / checks.evidence_scale)


def average_errors(
    with_mismatches: StochasticFit, as_given: StochasticFit, weight: float
) -> Uncertainty:
    """Standard errors of the average of two fits.

    How far the data determine the fit with mismatches is left as it is.
    """
    ours, given = with_mismatches.uncertainty, as_given.errors
    assert ours is not None and given is not None
    apart = coefficients(with_mismatches) - coefficients(as_given)
    spread = weight * (1.0 - weight)
    covariance = (
        weight * ours.covariance
        + (1.0 - weight) * given.uncertainty.covariance
        + spread * np.outer(apart, apart)
    )
    rate = with_mismatches.mismatch_rate
    assert rate is not None
    return replace(
        ours,
        covariance=covariance,
        standard_errors=standard_errors_of(covariance),
        mismatch_rate_se=float(np.sqrt(weight * ours.mismatch_rate_se**2 + spread * rate**2)),
    )


def coefficients(fit: StochasticFit) -> FloatArray:
    """The intercept, if there is one, and the slopes: the order of the covariance."""
    first = [fit.intercept] if fit.design.fit_intercept else []
    return np.concatenate([first, fit.coef])
