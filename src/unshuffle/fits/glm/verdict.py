"""Which checks speak for or against a fit of a family."""

from math import isnan

import numpy as np

from ...inference import checks, order_checks
from ...inference.checks import below, percent
from ...inference.settings import CHECKS
from ...inference.verdict import Reason, Verdict, judge
from ...kernels.types import FloatArray
from ...search.rate_profile import p_value_of
from .results import FamilyFit
from .settings import FAMILY_CHECKS

MORE = "collect more rows, mark rows whose label is known, or use smaller groups"


def judge_family(fit: FamilyFit, n_informative: float, longest: float) -> Verdict:
    """Judge a fit.

    Parameters
    ----------
    fit : FamilyFit
    n_informative : float
        Labels that say something: of the rarer class, positive counts, events, or rows.
    longest : float
        Largest distance of a linear predictor from their median.
    """
    k = max(len(fit.coef), 1)
    reasons = [
        checks.rank(fit.design.rank, len(fit.coef)),
        checks.convergence(fit.converged),
        informative_labels(n_informative / k, fit.family),
        separation(fit.covariance, longest, fit.family),
    ]
    if fit.pairing == "mostly-right":
        reasons += [
            None if isnan(fit.order_p_value) else order_checks.order(fit.order_p_value),
            order_checks.mismatches(fit.mismatch_rate),
            _consistency(fit),
            sign_of_mismatches(fit),
            rate_error(fit.mismatch_rate_se),
            checks.precision(fit.inflation, fit.fraction_kept, order_used=True),
            order_checks.expected_error(fit.expected_error),
        ]
    if fit.pairing == "lost":
        reasons += lost_checks(fit)
    return judge([reason for reason in reasons if reason is not None])


def informative_labels(per_coefficient: float, family: str) -> Reason:
    """Are there enough labels that say something?"""
    settings = FAMILY_CHECKS
    what = {
        "bernoulli": "labels of the rarer class", "cox": "events",
        "poisson": "positive counts", "negative-binomial": "positive counts",
    }.get(family, "labels")  # fmt: skip
    text = (
        f"There are {per_coefficient:.0f} {what} per coefficient "
        f"(good: at least {settings.labels_per_coefficient:g})"
    )
    check = "labels per coefficient"
    if per_coefficient >= settings.labels_per_coefficient:
        return Reason("trust", check, per_coefficient, settings.labels_per_coefficient, text)
    level = "reject" if per_coefficient < settings.fewest_labels else "caution"
    advice = "collect more rows, or use fewer features"
    return Reason(level, check, per_coefficient, settings.labels_per_coefficient, text, advice)  # type: ignore[arg-type]


def separation(covariance: FloatArray, longest: float, family: str) -> Reason | None:
    """Are coefficients on their way to infinity?"""
    if family in {"normal", "gamma"}:
        return None
    finite = bool(np.isfinite(covariance).all())
    return below(
        "size of linear predictors", longest, FAMILY_CHECKS.long_predictor,
        None if finite else FAMILY_CHECKS.long_predictor,
        f"Linear predictors reach {longest:.1f} from their median",
        "labels may be separated by a feature: look for one that takes them apart",
    )  # fmt: skip


def sign_of_mismatches(fit: FamilyFit) -> Reason | None:
    """Do the labels show the mismatches that change the fit? nan: the rate was given or is zero."""
    if isnan(fit.mismatch_rate_se):
        return None
    p_value, distance = p_value_of(max(fit.evidence, 0.0), fit.mismatch_rate), fit.given_distance
    text = (
        f"The p-value of no mismatches is {p_value:.2g}, and they change the coefficients by "
        f"{distance:.2g} times the 95 % radius of a fit with known order (good: a p-value below "
        f"{CHECKS.mismatch_p:g}, or a change below {CHECKS.same_fit:g})"
    )
    check = "sign of mismatches"
    if p_value < CHECKS.mismatch_p or distance < CHECKS.same_fit:
        return Reason("trust", check, p_value, CHECKS.mismatch_p, text)
    advice = (
        "the labels may be in order: unless you know that some are not, use the coefficients of "
        f"the labels as given, which the summary shows beside the fit; or {MORE}"
    )
    return Reason("caution", check, p_value, CHECKS.mismatch_p, text, advice)


def rate_error(error: float) -> Reason | None:
    """Is the rate of mismatches known at all? nan where it was given, or is zero."""
    if isnan(error):
        return None
    return below(
        "error of the rate", error, FAMILY_CHECKS.rate_error, None,
        f"The rate of mismatches has a standard error of {percent(error)}",
        f"give a rate from a sample checked by hand, or {MORE}",
        form=percent,
    )  # fmt: skip


def _consistency(fit: FamilyFit) -> Reason | None:
    found, settings = fit.consistency, FAMILY_CHECKS
    if found is None:
        return None
    text = (
        f"The model of the labels as given differs from what the fit predicts for it by "
        f"{percent(found.distance)}, with p-value {found.p_value:.2g} (good: below "
        f"{percent(settings.consistent_distance)}, or a p-value above {settings.consistent_p:g})"
    )
    limit = settings.consistent_distance
    if found.distance < limit or found.p_value > settings.consistent_p:
        return Reason("trust", "consistency", found.distance, limit, text)
    advice = "look for curves, interactions and labels far off; try another family"
    return Reason("caution", "consistency", found.distance, limit, text, advice)


def lost_checks(fit: FamilyFit) -> list[Reason | None]:
    """What holds a fit whose order is lost: the sums of labels in groups, and little else."""
    found = fit.group_sums
    if found is None:
        text = (
            "Nothing but the labels inside groups holds the fit: there are too few groups, or "
            "their features are alike (good: more groups than three times the coefficients)"
        )
        advice = "use smaller groups, or mark rows whose label is known"
        return [Reason("reject", "sums of groups", 0.0, 1.0, text, advice)]
    settings = FAMILY_CHECKS
    held = below(
        "precision of group sums", found.inflation, settings.sums_caution, settings.sums_reject,
        f"From sums of groups alone standard errors would be {found.inflation:.1f} times those "
        "with the order known",
        "labels in groups decide little: use smaller groups whose features differ",
    )  # fmt: skip
    related = below(
        "relation in group sums", found.relation_p, settings.relation_caution,
        settings.relation_reject,
        "The p-value of group sums against labels that have nothing to do with the features is "
        f"{found.relation_p:.2g}",
        "unrelated labels can be matched inside groups as well: use more or smaller groups",
    )  # fmt: skip
    text = (
        f"The fit differs from that of group sums by {percent(found.distance)}, with p-value "
        f"{found.p_value:.2g} (good: a p-value above {settings.consistent_p:g})"
    )
    agrees = Reason("trust", "agreement with group sums", found.p_value, 0.0, text)
    if found.p_value <= settings.consistent_p:
        advice = "check the groups and the family; compare with a fit to group sums"
        agrees = Reason(
            "caution" if found.p_value > settings.disagree_p else "reject",
            "agreement with group sums", found.p_value, settings.consistent_p, text, advice,
        )  # fmt: skip
    return [held, related, agrees, checks.precision(fit.inflation, fit.fraction_kept)]
