"""The same fit to other data, from the coefficients found and without standard errors."""

from typing import NamedTuple

import numpy as np

from ...data.threads import Workers
from ...families.bernoulli import BERNOULLI
from ...families.cox import Times, maximise_partial
from ...families.exponential import LabelFamily
from ...families.poisson import safe_exp
from ...kernels.types import FloatArray
from .climb import ascend
from .cox_model import CoxModel
from .data import GlmData
from .known import maximise_known
from .lost_chain import run_chain
from .lost_model import LostBernoulli
from .mostly_right import expected_rate
from .results import FamilyFit
from .settings import CLIMB, GlmSettings
from .tied_model import TiedModel


class Refitted(NamedTuple):
    """Coordinates of the coefficients, and the rate of mismatches (nan where none is estimated)."""

    theta: FloatArray
    rate: float
    converged: bool


class Start(NamedTuple):
    """Where a refit starts: at a fit.

    Attributes
    ----------
    theta : array of shape (q,)
    precision : float
    redrawn : float
        Share of redrawn labels.
    """

    theta: FloatArray
    precision: float
    redrawn: float


def start_at(data: GlmData, fit: FamilyFit) -> Start:
    """The coordinates of a fit."""
    first = int(data.design.fit_intercept)
    values = np.append(fit.intercept, fit.coef) if first else fit.coef
    theta = np.linalg.lstsq(data.design.to_natural, values, rcond=None)[0]
    most = 1.0 - 1.0 / (1.0 + np.exp(CLIMB.highest_logit))
    rate = 0.1 if np.isnan(fit.mismatch_rate) else fit.mismatch_rate
    return Start(theta, fit.precision, float(np.clip(rate, 1e-3, most)))


def refit(
    data: GlmData,
    family: LabelFamily | None,
    pairing: str,
    start: Start,
    settings: GlmSettings,
    seed: int,
) -> Refitted:
    """Maximise again; a family of None is Cox's model."""
    if pairing == "mostly-right":
        return _mostly_right(data, family, start, settings.mismatch_rate)
    nan = float("nan")
    if family is None:
        assert data.event is not None
        times = Times(data.y, data.event)
        partial = maximise_partial(data.Z, data.offset, times, data.weights, start.theta)
        return Refitted(partial.theta, nan, partial.converged)
    if pairing == "known":
        known, _ = maximise_known(data, family)
        return Refitted(known.theta, nan, known.converged)
    if family is BERNOULLI:
        found = ascend(LostBernoulli(data), start.theta, float(data.problem.n_rows))
        return Refitted(found.parameters, nan, found.converged)
    chain = run_chain(data, family, start.theta, start.precision, seed, Workers(1), settings.chain)
    return Refitted(chain.theta, nan, chain.converged)


def _mostly_right(
    data: GlmData, family: LabelFamily | None, start: Start, mismatch_rate: float | None
) -> Refitted:
    model: TiedModel | CoxModel
    if family is None:
        assert data.event is not None
        times = Times(data.y, data.event)
        jumps = times.hazard(safe_exp(data.offset + data.Z @ start.theta), data.weights)
        model = CoxModel(data, times, jumps, mismatch_rate)
        first = model.pack(start.theta, start.redrawn)
    else:
        model = TiedModel(data, family, mismatch_rate, start.precision)
        first = model.pack(start.theta, start.precision, start.redrawn)
    found = ascend(model, first, float(data.weights.sum()))
    rate = expected_rate(data, model, found.parameters) if model.estimates else float("nan")
    return Refitted(found.parameters[: model.n_theta], rate, found.converged)
