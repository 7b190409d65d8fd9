"""The checks behind a verdict: one function each, from a number to a reason.

A reason's text is one sentence with the number and the range that is good; its advice says what to
do where the number lies outside.
"""

from math import isnan

from ..kernels.types import FloatArray
from ..search.recovery import usual_distance
from ..search.starts import MUCH_INSIDE
from .settings import CHECKS, CheckSettings
from .verdict import Level, Reason

MORE_DATA = "use smaller groups, more rows with a known label, or fewer features"


def unrelated_labels(p_value: float, used: bool, settings: CheckSettings = CHECKS) -> Reason:
    """Could labels unrelated to the features be matched as well? nan where that is not known."""
    check, limit = "match against unrelated labels", settings.match_p_caution
    if isnan(p_value):
        text = "The match was not compared with unrelated labels, so it has no p-value"
        return Reason("caution", check, p_value, limit, text, "fit with search='auto'")
    level = _level(p_value, limit, settings.match_p_reject)
    if level == "reject" and used:  # it is far better than all others, or was found again
        level = "caution"
    text = f"The p-value of the match against unrelated labels is {p_value:.2g} ({_below(limit)})"
    action = "compare with other evidence, or" if level == "caution" else "do not use this fit;"
    return _reason(level, check, p_value, limit, text, f"{action} {MORE_DATA}")


def recovery(distances: FloatArray, settings: CheckSettings = CHECKS) -> Reason:
    """Would these data recover this fit if it were true?"""
    value, limit = usual_distance(distances), settings.refit_caution
    level = _level(value, limit, settings.refit_reject)
    text = (
        f"Refitting data simulated from this fit moves the coefficients by {_percent(value)} "
        f"({_below_percent(limit)})"
    )
    advice = f"data like these cannot determine such coefficients; {MORE_DATA}"
    return _reason(level, "recoverability", value, limit, text, advice)


def order(p_value: float, settings: CheckSettings = CHECKS) -> Reason:
    """Is the order given informative?"""
    limit = settings.order_p_caution
    text = (
        f"The p-value of the order given against shuffled labels is {p_value:.2g} ({_below(limit)})"
    )
    advice = "set pairing='mostly-right' only if you know that most rows hold their own label"
    return _reason(
        _level(p_value, limit), "information in the order given", p_value, limit, text, advice
    )


def mismatches(rate: float, settings: CheckSettings = CHECKS) -> Reason:
    """Are there enough right rows to fit to?"""
    limit = settings.mismatch_caution
    text = (
        f"An estimated {_percent(rate)} of the rows hold the label of another row "
        f"({_below_percent(limit)})"
    )
    advice = "improve the record linkage, or mark rows whose label is known to be their own"
    return _reason(_level(rate, limit), "share of mismatches", rate, limit, text, advice)


def precision(
    inflation: float, information_left: float, settings: CheckSettings = CHECKS
) -> Reason:
    """How much of the precision is lost with the order?"""
    limit = settings.inflation_caution
    text = f"Standard errors are {inflation:.1f} times those with the order known ({_below(limit)})"
    if information_left <= 0.0:
        text = (
            "The fraction of the information kept (observed / complete) is "
            f"{information_left:.2g} for some combination of coefficients (good: above 0)"
        )
    advice = f"to reduce the standard errors, {MORE_DATA}"
    return _reason(_level(inflation, limit), "precision", inflation, limit, text, advice)


def noise_sensitivity(shift: float, settings: CheckSettings = CHECKS) -> Reason:
    """Does the fit depend on the exact size of the noise?"""
    limit = settings.noise_caution
    level = _level(shift, limit, settings.noise_reject)
    text = (
        f"Aligning the labels at 1.5 times the noise changes the fit by {_percent(shift)} "
        f"({_below_percent(limit)})"
    )
    advice = "check in the residuals that the noise is normal and its variance constant"
    return _reason(level, "sensitivity to the noise", shift, limit, text, advice)


def agreement(n_found: int, certified: bool, settings: CheckSettings = CHECKS) -> Reason:
    """Did independent starts end in the same match?"""
    needed = settings.starts_needed
    text = (
        f"{n_found} independent start{'' if n_found == 1 else 's'} of the search ended in the best "
        f"match (good: {needed} or more)"
    )
    if certified:
        text = "The best match is proved to be optimal"
    level: Level = "trust" if certified or n_found >= needed else "caution"
    advice = "raise n_candidates: a longer search may find a better match"
    return _reason(level, "agreement of searches", float(n_found), needed, text, advice)


def shrinkage(share: float) -> Reason:
    """How much of the fit needs no search? For information; no value counts against a fit."""
    text = (
        f"Least squares on the labels as given, rescaled, explains {_percent(share)} of the "
        "variance of this fit (for information)"
    )
    return Reason("trust", "shrinkage", share, 1.0, text)


def rank(n_found: int, n_features: int) -> Reason | None:
    """Are single coefficients determined?"""
    if n_found == n_features:
        return None
    text = f"X has rank {n_found} (good: {n_features}), so single coefficients are not determined"
    advice = "remove columns that are linear combinations of others"
    return Reason("caution", "rank", float(n_found), float(n_features), text, advice)


def convergence(converged: bool) -> Reason | None:
    """Did EM converge?"""
    if converged:
        return None
    text = "EM did not converge: the coefficients still changed at the last iteration"
    advice = "compare the last rows of coef_path_ and use only the digits that agree"
    return Reason("caution", "convergence", 0.0, 1.0, text, advice)


def no_match_used(temper: float) -> Reason:
    """No match was good enough, and nothing else determines the coefficients."""
    text = (
        f"No match was used: labels were aligned at {temper:g} times the noise (good: 1), so the "
        "coefficients are shrunken and have no standard errors"
    )
    advice = "do not interpret the coefficients, nor their signs"
    return Reason("reject", "no match used", temper, 1.0, text, advice)


def anchor(held_by: str, number: int, p_value: float, settings: CheckSettings = CHECKS) -> Reason:
    """No match was used, but known rows or group means, which no shuffle changes, determine it."""
    limit = settings.match_p_caution
    found = "No match was used"
    if not isnan(p_value):
        found = (
            "The match is no better than one to unrelated labels "
            f"(p-value {p_value:.2g}, {_below(limit)})"
        )
    text = f"{found}, so the fit relies on {number} {held_by}"
    advice = f"compare with a fit to the {held_by} alone"
    return Reason("caution", held_by, p_value, limit, text, advice)


def narrow_groups(share: float) -> Reason:
    """No match was used, but labels can only have moved between similar ones."""
    text = (
        f"No match is better than one to unrelated labels, but only {_percent(share)} of the "
        f"labels' variance lies inside groups ({_below_percent(MUCH_INSIDE)})"
    )
    advice = f"expect slopes that are too small by about {_percent(share)}"
    return Reason("caution", "variance inside groups", share, MUCH_INSIDE, text, advice)


def _reason(
    level: Level, check: str, value: float, threshold: float, text: str, advice: str
) -> Reason:
    """A reason with advice where something is to be done."""
    return Reason(level, check, value, threshold, text, "" if level == "trust" else advice)


def _level(value: float, caution: float, reject: float | None = None) -> Level:
    """Higher is worse, and nan is worst; without `reject` nothing is worse than caution."""
    if value < caution:
        return "trust"
    return "caution" if reject is None or value < reject else "reject"


def _percent(share: float) -> str:
    return f"{100.0 * share:.0f} %"


def _below(limit: float) -> str:
    return f"good: below {limit:g}"


def _below_percent(limit: float) -> str:
    return f"good: below {_percent(limit)}"
