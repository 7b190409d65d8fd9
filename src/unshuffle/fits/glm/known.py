"""Labels in known order: generalised linear models, with what can go wrong named."""

from typing import NamedTuple

import numpy as np

from ...families.bernoulli import BERNOULLI
from ...families.cox import PartialFit, Times, maximise_partial
from ...families.exponential import LabelFamily
from ...families.irls import Scored, information_of, maximise, separated_column
from ...families.settings import IRLS
from ...kernels.types import FloatArray
from .data import GlmData
from .inverse import inverse_information
from .tied_model import Evaluation, Shares

PRECISION_ROUNDS, PRECISION_CHANGE = 100, 1e-10


class KnownFit(NamedTuple):
    """A model of the labels as given.

    Attributes
    ----------
    theta : array of shape (q,)
    covariance : array of shape (q, q)
        Inverse of the expected information.
    jumps : array or None
        Of the baseline hazard, at the distinct times.
    separated : str
        The column that separates yes/no labels; empty where none does.
    """

    theta: FloatArray
    eta: FloatArray
    precision: float
    covariance: FloatArray
    log_likelihood: float
    converged: bool
    jumps: FloatArray | None = None
    separated: str = ""


class KnownModel:
    """The log-likelihood of labels in known order; interface as `TiedModel`."""

    estimates = False

    def __init__(self, data: GlmData, family: LabelFamily) -> None:
        self.data, self.family = data, family
        self.n_theta = data.Z.shape[1]
        self.n_parameters = self.n_theta + family.has_precision

    def evaluate(self, parameters: FloatArray) -> Evaluation:
        """Value and gradient."""
        data, q = self.data, self.n_theta
        precision = 1.0
        if self.family.has_precision:
            precision = float(np.exp(np.clip(parameters[q], -20.0, 40.0)))
        eta = data.offset + data.Z @ parameters[:q]
        rows = self.family.row_terms(eta, precision)
        labels = self.family.label_terms(data.y, precision)
        density = rows.a + (rows.u * labels.v).sum(axis=1) + labels.b
        by_eta = rows.a_eta + (rows.u_eta * labels.v).sum(axis=1)
        gradient = data.Z.T @ (data.weights * by_eta)
        if self.family.has_precision:
            by_log = rows.a_log + (rows.u_log * labels.v).sum(axis=1) + labels.b_log
            gradient = np.append(gradient, data.weights @ by_log)
        own = np.ones(len(data.y))
        return Evaluation(float(data.weights @ density), gradient, Shares(density, own, own), eta)

    def sharpen(self) -> None:
        """Evaluations are exact to rounding already."""


def fit_known(data: GlmData, family: LabelFamily, *, names: list[str] | None = None) -> KnownFit:
    """Maximum likelihood, as other programs do it."""
    family.check_labels(data.y)
    found, precision = maximise_known(data, family)
    eta = found.eta
    information = information_of(data.Z, data.weights * family.fisher(eta, precision))
    column = None
    if family.name not in {"normal", "gamma"}:
        column = separated_column(data.design, found.theta, eta, data.offset, information)
    if column is not None:
        called = _name(column, names)
        if family is not BERNOULLI:
            raise ValueError(describe_separation(called, family.name))
        return _penalised(data, called)
    density = family.log_density(data.y, eta, precision)
    return KnownFit(
        found.theta,
        eta,
        precision,
        inverse_information(information),
        float(data.weights @ density),
        found.converged,
    )


def maximise_known(data: GlmData, family: LabelFamily) -> tuple[Scored, float]:
    """Coefficients and precision of the labels as given."""
    sums, theta, precision = (data.weights * data.y)[:, None], None, 1.0
    for _ in range(PRECISION_ROUNDS):
        found = maximise(family, data.Z, data.offset, data.weights, sums, precision, theta)
        theta, before = found.theta, precision
        precision = family.fit_precision(data.y, found.eta, data.weights, len(theta))
        # Only the weights of negative binomial labels depend on the precision.
        if family.name != "negative-binomial" or abs(precision / before - 1) < PRECISION_CHANGE:
            break
    return found, precision


def _penalised(data: GlmData, column: str) -> KnownFit:
    """Yes/no labels that are separated: finite coefficients, which only predict."""
    # On the variance of the linear predictor, which no unit and no dependence of columns changes.
    centred = data.Z - np.average(data.Z, axis=0, weights=data.weights)
    spread = information_of(centred, data.weights / data.weights.sum())
    ridge = IRLS.separated_penalty * spread
    sums = (data.weights * data.y)[:, None]
    found = maximise(BERNOULLI, data.Z, data.offset, data.weights, sums, ridge=ridge)
    density = BERNOULLI.log_density(data.y, found.eta, 1.0)
    unknown = np.full(found.information.shape, np.nan)
    value = float(data.weights @ density)
    return KnownFit(found.theta, found.eta, 1.0, unknown, value, found.converged, None, column)


def fit_known_times(data: GlmData, times: Times, *, names: list[str] | None = None) -> KnownFit:
    """Cox's model with Breslow's ties."""
    found: PartialFit = maximise_partial(data.Z, data.offset, times, data.weights)
    column = separated_column(data.design, found.theta, found.eta, data.offset, found.information)
    if column is not None:
        raise ValueError(describe_separation(_name(column, names), "cox"))
    return KnownFit(
        found.theta,
        found.eta,
        1.0,
        inverse_information(found.information),
        found.log_likelihood,
        found.converged,
        found.jumps,
    )


def _name(column: int, names: list[str] | None) -> str:
    return f"column {column}" if names is None else f"column {names[column]!r}"


def describe_separation(called: str, family: str) -> str:
    """Name the column whose coefficient is infinite, and what to do."""
    what = {"bernoulli": "the two classes", "cox": "events from none"}.get(
        family, "zeros from others"
    )
    return (
        f"perfect separation: {called} separates {what}, alone or with other columns, so its "
        "coefficient is infinite; leave it out, merge its rare categories, or collect more rows"
    )
