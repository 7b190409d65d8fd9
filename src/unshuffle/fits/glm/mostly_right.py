"""Labels of which most are the row's own: the tied mixture, maximised and judged."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from ...families.cox import Times, cox_rows, partial_derivatives
from ...families.exponential import LabelFamily, RowTerms
from ...families.irls import information_of
from ...kernels.types import FloatArray
from .climb import Climbed, climb
from .covariance import Errors, in_radii, observed_errors, sandwich
from .cox_model import CoxModel
from .data import GlmData
from .known import KnownFit
from .partners import Redraws, redraws_of
from .robust import profile_scores
from .settings import CLIMB
from .tied_model import TiedModel


class MostlyRight(NamedTuple):
    """A maximum of the likelihood with mismatches.

    Attributes
    ----------
    theta : array of shape (q,)
    rate, rate_se : float
        Expected share of rows that hold the label of another row.
    matched : array of shape (n,)
        Probability that the label of each (arranged) row is its own.
    robust : array of shape (q, q) or None
    redrawn : array of shape (n_movable,)
        Probability, before the labels are seen, that a label was redrawn.
    redraws : Redraws
        Whose label each may be.
    distance : float
        From the coefficients of the labels as given, in 95 % radii of a fit with known order.
    """

    theta: FloatArray
    eta: FloatArray
    precision: float
    rate: float
    rate_se: float
    matched: FloatArray
    errors: Errors
    robust: FloatArray | None
    log_likelihood: float
    converged: bool
    n_iter: int
    redrawn: FloatArray
    redraws: Redraws
    distance: float = float("nan")
    jumps: FloatArray | None = None


def fit_mostly_right(
    data: GlmData,
    family: LabelFamily,
    known: KnownFit,
    mismatch_rate: float | None,
    *,
    robust: bool = True,
) -> MostlyRight:
    """Maximise the likelihood of labels with mismatches."""
    model = TiedModel(data, family, mismatch_rate, known.precision)
    first = int(data.design.fit_intercept)
    starts = [model.pack(theta, known.precision, share) for theta, share in _starts(known, first)]
    total = float(data.weights.sum())
    found = climb(model, starts if model.estimates else starts[:2], total)
    at = model.unpack(found.parameters)
    eta = found.evaluation.eta
    complete = information_of(data.Z, data.weights * family.fisher(eta, at.precision))
    free = _free(model, found)
    errors = observed_errors(-found.hessian, complete, free)
    middle = None
    if robust:
        middle = _sandwich(model, errors, lambda: model.row_scores(found.parameters))
    terms = family.row_terms(eta, at.precision), family.label_terms(data.y, at.precision).v
    result = _result(data, model, found, errors, middle, at.precision, terms)
    return result._replace(distance=in_radii(result.theta - known.theta, complete))


def fit_mostly_right_times(
    data: GlmData, times: Times, known: KnownFit, mismatch_rate: float | None
) -> MostlyRight:
    """The same for times to an event."""
    assert known.jumps is not None
    model = CoxModel(data, times, known.jumps, mismatch_rate)
    starts = [model.pack(theta, share) for theta, share in _starts(known, 0)]
    found = climb(model, starts[1:], float(data.weights.sum()))
    _, complete = partial_derivatives(data.Z, found.evaluation.eta, times, data.weights)
    errors = observed_errors(-found.hessian, complete, _free(model, found))
    middle = _sandwich(model, errors, lambda: profile_scores(model, found.parameters))
    model.evaluate(found.parameters)  # the baseline, which derivatives have moved
    v = np.column_stack([times.event, times.cumulative(model.jumps)])
    terms = cox_rows(found.evaluation.eta), v
    result = _result(data, model, found, errors, middle, 1.0, terms)
    distance = in_radii(result.theta - known.theta, complete)
    return result._replace(distance=distance, jumps=model.jumps)


def _sandwich(
    model: TiedModel | CoxModel, errors: Errors, scores: Callable[[], FloatArray]
) -> FloatArray | None:
    """Sandwich of the coefficients; None where there is no information to start from."""
    if not np.isfinite(errors.covariance[0, 0]):
        return None
    inside = np.where(np.isnan(errors.covariance), 0.0, errors.covariance)
    return sandwich(inside, scores(), model.n_parameters)[: model.n_theta, : model.n_theta]


def expected_rate(data: GlmData, model: TiedModel | CoxModel, parameters: FloatArray) -> float:
    """Expected share of rows that hold the label of another row; zero at the lower bound."""
    if model.estimates and parameters[-1] < CLIMB.lowest_logit + 0.1:
        return 0.0
    n = data.n_movable
    other = 1.0 - data.weights[:n] / data.block_weights()
    redrawn = model.unpack(parameters).redrawn
    return float(np.average(redrawn * other, weights=data.weights[:n]))


def _starts(known: KnownFit, first: int) -> list[tuple[FloatArray, float]]:
    """Coefficients for several shares of redrawn labels, which shrink those of labels as given."""
    starts = []
    for share in CLIMB.starts:
        theta = known.theta.copy()
        theta[first:] /= 1.0 - share
        starts.append((theta, share))
    return starts


def _free(model: TiedModel | CoxModel, found: Climbed) -> FloatArray:
    """Parameters that are not at a bound: a rate of zero has no standard error."""
    free = np.ones(model.n_parameters, dtype=bool)
    if model.estimates:
        free[-1] = CLIMB.lowest_logit + 0.1 < found.parameters[-1] < CLIMB.highest_logit - 0.1
    return free


def _result(
    data: GlmData,
    model: TiedModel | CoxModel,
    found: Climbed,
    errors: Errors,
    robust: FloatArray | None,
    precision: float,
    terms: tuple[RowTerms, FloatArray],
) -> MostlyRight:
    n, q = data.n_movable, model.n_theta
    matched = found.evaluation.shares.matched
    other = 1.0 - data.weights[:n] / data.block_weights()
    redrawn = model.unpack(found.parameters).redrawn
    rate = expected_rate(data, model, found.parameters)
    rate_se = float("nan")
    if model.estimates and rate > 0.0:
        share = float(expit(found.parameters[-1]))
        by_logit = share * (1.0 - share) * float(np.average(other, weights=data.weights[:n]))
        with np.errstate(invalid="ignore"):
            rate_se = by_logit * float(np.sqrt(errors.covariance[-1, -1]))
    elif not model.estimates:
        # What was given is an average over rows; the labels say which they are.
        rate = float(np.average(1.0 - matched[:n], weights=data.weights[:n]))
    return MostlyRight(
        found.parameters[:q],
        found.evaluation.eta,
        precision,
        rate,
        rate_se,
        matched,
        errors,
        robust,
        found.evaluation.value,
        found.converged,
        found.n_iter,
        redrawn,
        redraws_of(data, *terms, found.evaluation.shares.log_density, redrawn, matched),
    )
