"""What a fit of a family returns: frozen and complete, vectors in the user's order."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...inference.intervals import Estimates
from ...inference.verdict import Verdict
from ...kernels.types import FloatArray, IntArray
from ..results import Design
from .partners import Redraws

NORMAL_FREEDOM = 10**9  # degrees of freedom at which Student's t is the normal distribution


@dataclass(frozen=True, eq=False)
class Baseline:
    """The baseline hazard at the distinct event times.

    Attributes
    ----------
    times : array of shape (m,)
    hazard : array of shape (m,)
        Jumps, for a row with a linear predictor of zero.
    """

    times: FloatArray
    hazard: FloatArray

    @property
    def cumulative(self) -> FloatArray:
        """Cumulative hazard."""
        value: FloatArray = np.cumsum(self.hazard)
        return value

    def survival(self, eta: FloatArray, times: Any = None) -> FloatArray:
        """Probability of no event up to given times, shape (len(eta), n_times).

        By default at the event times; constant after the last of them.
        """
        at = self.times if times is None else np.asarray(times, dtype=np.float64).ravel()
        steps = np.searchsorted(self.times, at, side="right")
        cumulative = np.append(0.0, self.cumulative)[steps]
        value: FloatArray = np.exp(-np.exp(np.minimum(eta, 500.0))[:, None] * cumulative)
        return value


@dataclass(frozen=True, eq=False)
class Consistency:
    """The model of the labels as given, beside what the fit says of it.

    Attributes
    ----------
    distance : float
        Length of the difference as a share of its length.
    p_value : float
    """

    distance: float
    p_value: float


@dataclass(frozen=True, eq=False)
class GroupSums:
    """A fit to the sums of labels in groups, which no shuffle inside groups changes.

    Attributes
    ----------
    inflation : float
        Its standard errors over those with the order known (root mean square).
    distance : float
        Length of its difference from the fit as a share of the length of the fit.
    p_value : float
        Of equal coefficients.
    relation_p : float
        p-value of the sums if no label had anything to do with the features.
    """

    inflation: float
    distance: float
    p_value: float
    relation_p: float


@dataclass(frozen=True, eq=False)
class FamilyFit:
    """A fit of a family of labels.

    Attributes
    ----------
    pairing : {"known", "mostly-right", "lost"}
    order_p_value : float
        p-value of the order given against shuffled labels; nan where nothing was tested.
    dispersion : float
        1 where the family has none.
    mismatch_rate, mismatch_rate_se : float
        nan where the order is lost.
    covariance, robust : arrays of shape (k, k)
        From the observed information, and the sandwich (None where there is none).
    as_given : Estimates or None
        The model of the labels as given; None where none was given beside a row.
    evidence : float
        Twice the gain in log-likelihood over the model of the labels as given.
    fraction_kept, inflation : float
        Smallest fraction of the information kept, and standard errors over those of known order.
    expected_error : float
        Median error by the standard errors, in 95 % radii of a fit with known order; nan where no
        label can be mismatched, or the order is lost.
    given_distance : float
        From the coefficients of the labels as given, in the same radii; nan likewise.
    linear_predictor : array of shape (n,)
    expected_labels : array of shape (n,) or None
        Where the order is lost.
    redraws : Redraws or None
        Whose label each may be, where the order is mostly right.
    """

    family: str
    pairing: str
    order_p_value: float
    coef: FloatArray
    intercept: float
    precision: float
    dispersion: float
    mismatch_rate: float
    mismatch_rate_se: float
    match_proba: FloatArray
    covariance: FloatArray
    robust: FloatArray | None
    freedom: int
    as_given: Estimates | None
    log_likelihood: float
    evidence: float
    fraction_kept: float
    inflation: float
    linear_predictor: FloatArray
    converged: bool
    n_iter: int
    design: Design
    ratio: str = ""
    baseline: Baseline | None = None
    expected_labels: FloatArray | None = None
    permutation: IntArray | None = None
    consistency: Consistency | None = None
    group_sums: GroupSums | None = None
    verdict: Verdict | None = None
    redraws: Redraws | None = None
    expected_error: float = float("nan")
    given_distance: float = float("nan")

    @property
    def standard_errors(self) -> FloatArray:
        """Square roots of the diagonal of the covariance."""
        with np.errstate(invalid="ignore"):
            errors: FloatArray = np.sqrt(np.diag(self.covariance))
        return errors

    @property
    def values(self) -> FloatArray:
        """Intercept, where there is one, and coefficients."""
        return np.append(self.intercept, self.coef) if self.design.fit_intercept else self.coef
