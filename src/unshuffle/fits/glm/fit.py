"""Fit a family of labels: find out what the order given is worth, fit accordingly, judge."""

from dataclasses import replace

import numpy as np
from scipy.special import xlogy

from ...data.threads import Workers
from ...families.bernoulli import BERNOULLI
from ...families.cox import Times, check_times
from ...families.exponential import LabelFamily
from ...inference.verdict import Reason, judge
from ...kernels.types import FloatArray
from ..progress import Reporting, quiet
from .assemble import of_known, of_mostly_right
from .audited import audit_used, with_family_audit
from .consistency import check_consistency
from .data import GlmData
from .groups import fit_lost
from .known import KnownFit, describe_separation, fit_known, fit_known_times
from .mostly_right import fit_mostly_right, fit_mostly_right_times
from .order import order_p_value, scores_of_times
from .results import NORMAL_FREEDOM, Baseline, FamilyFit
from .robust import robust_of_known, robust_of_known_times
from .settings import ORDER, GlmSettings
from .verdict import judge_family


def fit_family(
    data: GlmData,
    family: LabelFamily | None,
    settings: GlmSettings,
    *,
    names: list[str] | None = None,
    workers: Workers | None = None,
    reporting: Reporting = quiet,
) -> FamilyFit:
    """Fit labels of a family; None is Cox's model.

    Parameters
    ----------
    data : GlmData
    family : LabelFamily or None
    settings : GlmSettings
    names : list of str, optional
        Of the features, for messages.
    workers : Workers, optional
        Threads of the chains where the order is lost.
    reporting : callable
        Opens a report of the iterations of these chains.
    """
    if family is None:
        return _fit_times(data, settings, names)
    known = fit_known(data, family, names=names)
    stands_for = np.log(data.y) if family.name == "gamma" else data.y
    pairing, p_value = choose_pairing(data, stands_for, settings)
    if known.separated:
        return _separated(data, known, pairing, p_value)
    if pairing == "lost":
        fit = fit_lost(data, family, known, settings, workers or Workers(1), reporting)
        fit = replace(fit, order_p_value=p_value)
    elif pairing == "known":
        fit = of_known(data, known, family.name, family.dispersion(known.precision))
        robust = data.design.covariance(robust_of_known(data, family, known))
        fit = replace(fit, order_p_value=p_value, robust=robust)
    else:
        found = fit_mostly_right(data, family, known, settings.mismatch_rate)
        fit = of_mostly_right(data, known, found, family.name, p_value)
        fit = replace(
            fit,
            dispersion=family.dispersion(found.precision),
            consistency=check_consistency(data, family, known, found.eta, found.redrawn),
        )

        def at_rate(rate: float) -> FloatArray:
            other = fit_mostly_right(data, family, known, rate)
            return of_mostly_right(data, known, other, family.name, p_value).values

        fit = with_family_audit(fit, audit_used(data, settings), at_rate)
    fit = replace(fit, ratio=family.ratio, freedom=_freedom(fit, family))
    return _judged(fit, data, _informative(data.y, data.weights, family.name))


def _separated(data: GlmData, known: KnownFit, pairing: str, p_value: float) -> FamilyFit:
    """Yes/no labels that a column separates: coefficients that only predict, and a rejection."""
    fit = of_known(data, known, "bernoulli", 1.0)
    text = describe_separation(known.separated, "bernoulli")
    found, _, advice = text.partition("; ")
    reason = Reason("reject", "separation", float("inf"), 0.0, found, advice)
    return replace(
        fit, pairing=pairing, order_p_value=p_value, ratio=BERNOULLI.ratio, verdict=judge([reason])
    )


def _fit_times(data: GlmData, settings: GlmSettings, names: list[str] | None) -> FamilyFit:
    assert data.event is not None
    check_times(data.y, data.event)
    times = Times(data.y, data.event)
    known = fit_known_times(data, times, names=names)
    pairing, p_value = choose_pairing(data, scores_of_times(times, data.weights), settings)
    if pairing == "lost":
        raise ValueError(
            "the order of the times given says nothing about the rows "
            f"(p-value {p_value:.2g}), and Cox's model is not for labels in lost order: two "
            "numbers belong to each row; use pairing='mostly-right' if most rows hold their own "
            "time, or ShuffledRegressor(family='gamma') on times without censoring"
        )
    if pairing == "known":
        fit, eta, jumps = of_known(data, known, "cox", 1.0), known.eta, known.jumps
        robust = data.design.covariance(robust_of_known_times(data, times, known))
        fit = replace(fit, robust=robust)
    else:
        found = fit_mostly_right_times(data, times, known, settings.mismatch_rate)
        events = times.events(data.weights)
        # Of the full likelihood at Breslow's jumps, beyond the partial one.
        constant = float(xlogy(events, events).sum() - events.sum())
        found = found._replace(log_likelihood=found.log_likelihood - constant)
        fit = of_mostly_right(data, known, found, "cox", p_value)
        eta, jumps = found.eta, found.jumps

        def at_rate(rate: float) -> FloatArray:
            other = fit_mostly_right_times(data, times, known, rate)
            return of_mostly_right(data, known, other, "cox", p_value).values

        fit = with_family_audit(fit, audit_used(data, settings), at_rate)
    assert jumps is not None
    shift = float(np.median(eta - fit_predictor(data, fit)))
    happened = jumps > 0.0
    baseline = Baseline(times.distinct[happened], jumps[happened] * np.exp(shift))
    fit = replace(
        fit, ratio="hazard ratio", baseline=baseline, order_p_value=p_value,
        freedom=NORMAL_FREEDOM,
    )  # fmt: skip
    return _judged(fit, data, float(data.weights @ data.event))


def fit_predictor(data: GlmData, fit: FamilyFit) -> FloatArray:
    """Linear predictor of each (arranged) row, from natural coefficients."""
    X = data.problem.X if data.problem.order is None else data.problem.X[data.problem.order]
    value: FloatArray = X @ fit.coef + fit.intercept + data.offset
    return value


def choose_pairing(data: GlmData, labels: FloatArray, settings: GlmSettings) -> tuple[str, float]:
    """What the order given is taken for, and the p-value of its test (nan without one)."""
    if data.n_movable == 0 or settings.pairing == "known":
        return "known", float("nan")
    p_value = order_p_value(data, labels)
    if settings.pairing != "auto":
        return settings.pairing, p_value
    if data.match_prob is not None or p_value < ORDER.informative:
        return "mostly-right", p_value
    return "lost", p_value


def _freedom(fit: FamilyFit, family: LabelFamily) -> int:
    """Of intervals: those of rows where a dispersion is estimated, as other programs have it."""
    return fit.design.freedom if family.name in {"normal"} else NORMAL_FREEDOM


def _informative(y: FloatArray, weights: FloatArray, name: str) -> float:
    """Labels that say something."""
    if name == "bernoulli":
        ones = float(weights @ y)
        return min(ones, float(weights.sum()) - ones)
    if name in {"poisson", "negative-binomial"}:
        return float(weights @ (y > 0))
    return float(weights.sum())


def _judged(fit: FamilyFit, data: GlmData, n_informative: float) -> FamilyFit:
    eta = fit.linear_predictor - data.problem.restore(data.offset)
    longest = float(np.abs(eta - np.median(eta)).max())
    return replace(fit, verdict=judge_family(fit, n_informative, longest))
