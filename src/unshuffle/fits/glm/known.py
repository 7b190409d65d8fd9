"""Labels in known order: generalised linear models, with what can go wrong named."""

from typing import NamedTuple

import numpy as np

from ...families.cox import PartialFit, Times, maximise_partial
from ...families.exponential import LabelFamily
from ...families.irls import maximise, separated_column
from ...kernels.types import FloatArray
from .data import GlmData

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
    """

    theta: FloatArray
    eta: FloatArray
    precision: float
    covariance: FloatArray
    log_likelihood: float
    converged: bool
    jumps: FloatArray | None = None


def fit_known(data: GlmData, family: LabelFamily, *, names: list[str] | None = None) -> KnownFit:
    """Maximum likelihood, as other programs do it."""
    family.check_labels(data.y)
    sums, theta, precision = (data.weights * data.y)[:, None], None, 1.0
    for _ in range(PRECISION_ROUNDS):
        found = maximise(family, data.Z, data.offset, data.weights, sums, precision, theta)
        theta, eta = found.theta, found.eta
        before = precision
        precision = family.fit_precision(data.y, eta, data.weights, len(theta))
        # Only the weights of negative binomial labels depend on the precision.
        if family.name != "negative-binomial" or abs(precision / before - 1) < PRECISION_CHANGE:
            break
    information = data.Z.T @ ((data.weights * family.fisher(eta, precision))[:, None] * data.Z)
    refuse_separation(data, family.name, eta, information, names)
    density = family.log_density(data.y, eta, precision)
    return KnownFit(
        theta,
        eta,
        precision,
        np.linalg.inv(information),
        float(data.weights @ density),
        found.converged,
    )


def fit_known_times(data: GlmData, times: Times, *, names: list[str] | None = None) -> KnownFit:
    """Cox's model with Breslow's ties."""
    found: PartialFit = maximise_partial(data.Z, data.offset, times, data.weights)
    refuse_separation(data, "cox", found.eta, found.information, names)
    return KnownFit(
        found.theta,
        found.eta,
        1.0,
        np.linalg.inv(found.information),
        found.log_likelihood,
        found.converged,
        found.jumps,
    )


def refuse_separation(
    data: GlmData,
    name: str,
    eta: FloatArray,
    information: FloatArray,
    names: list[str] | None,
) -> None:
    """An infinite coefficient is no estimate."""
    if name in {"normal", "gamma"}:
        return
    column = separated_column(data.design, eta, data.offset, information)
    if column is None:
        return
    called = f"column {column}" if names is None else f"column {names[column]!r}"
    what = {"bernoulli": "the two classes", "cox": "events from none"}.get(
        name, "zeros from others"
    )
    raise ValueError(
        f"perfect separation: {called} separates {what}, alone or with other columns, so its "
        "coefficient is infinite; leave it out, merge its rare categories, or collect more rows"
    )
