"""The checks where the order is lost: was the right match found, and what else speaks for it?"""

from dataclasses import replace
from math import isnan

import numpy as np

from ..kernels.types import FloatArray
from ..search.recovery import usual_distance
from ..search.starts import MUCH_INSIDE
from .checks import MORE_DATA, below, percent
from .group_means import GroupMeans
from .settings import CHECKS, GROUP_MEANS, CheckSettings, GroupMeansSettings
from .verdict import Level, Reason

OF_A_MATCH = {
    "match against unrelated labels",
    "agreement of searches",
    "precision",
    "convergence",
}


def unrelated_labels(p_value: float, used: bool, settings: CheckSettings = CHECKS) -> Reason:
    """Could labels unrelated to the features be matched as well? nan where that is not known."""
    check, limit = "match against unrelated labels", settings.match_p_caution
    if isnan(p_value):
        text = "The match was not compared with unrelated labels, so it has no p-value"
        return Reason("caution", check, p_value, limit, text, "fit with search='auto'")
    # A match that is used is far better than all others, or was found again: it is not rejected.
    rejects = not used and p_value >= settings.match_p_reject
    return below(
        check, p_value, limit, None if used else settings.match_p_reject,
        f"The p-value of the match against unrelated labels is {p_value:.2g}",
        f"{'do not use this fit;' if rejects else 'compare with other evidence, or'} {MORE_DATA}",
    )  # fmt: skip


def recovery(distances: FloatArray, settings: CheckSettings = CHECKS) -> Reason:
    """Would these data recover this fit if it were true?"""
    value = usual_distance(distances)
    return below(
        "recoverability", value, settings.refit_caution, settings.refit_reject,
        f"Refitting data simulated from this fit moves the coefficients by {percent(value)}",
        f"data like these cannot determine such coefficients; {MORE_DATA}",
        form=percent,
    )  # fmt: skip


def agreement(
    n_found: int, certified: bool, settings: CheckSettings = CHECKS, *, one_group: bool = False
) -> Reason:
    """Did independent starts end in the same match?

    More of them are needed in `one_group`, where wrong matches are many.
    """
    check, value = "agreement of searches", float(n_found)
    needed = settings.starts_needed_one_group if one_group else settings.starts_needed
    if certified:
        return Reason("trust", check, value, needed, "The best match is proved to be optimal")
    starts = "1 independent start" if n_found == 1 else f"{n_found} independent starts"
    text = f"{starts} of the search ended in the best match (good: {needed} or more)"
    if n_found >= needed:
        return Reason("trust", check, value, needed, text)
    advice = "raise n_candidates: a longer search may find a better match"
    return Reason("caution", check, value, needed, text, advice)


def doubts(reasons: list[Reason | None], settings: CheckSettings = CHECKS) -> Reason | None:
    """Do several checks say that another match may be the right one? None where few do.

    Each alone can fail for the right match; together they hardly do.
    """
    failed = [
        reason.check
        for reason in reasons
        if reason is not None
        and reason.check in OF_A_MATCH
        and reason.level == "caution"
        and not isnan(reason.value)  # not computed
    ]
    number, limit = len(failed), settings.doubts_reject
    if number < limit:
        return None
    names = f"{', '.join(failed[:-1])} and {failed[-1]}"
    text = f"{number} checks of the match advise caution: {names} (good: fewer than {limit})"
    advice = f"do not use this fit: its match is probably a wrong one; {MORE_DATA}"
    return Reason("reject", "doubts about the match", float(number), limit, text, advice)


def shrinkage(share: float) -> Reason:
    """How much of the fit needs no search? For information; no value counts against a fit."""
    text = (
        f"Least squares on the labels as given, rescaled, explains {percent(share)} of the "
        "variance of this fit (for information)"
    )
    return Reason("trust", "shrinkage", share, 1.0, text)


def distinct_values(
    values: FloatArray, name: str, settings: CheckSettings = CHECKS
) -> Reason | None:
    """Do `values` (the labels, the fitted values) differ enough for a match to mean anything?

    Counted by how often each occurs, ``1 / sum of squared shares``: many rows of one value and a
    few others count as few. None where there are enough.
    """
    counts = np.unique(values, return_counts=True)[1]
    number, needed = (
        float(len(values) ** 2 / (counts.astype(float) ** 2).sum()),
        settings.values_needed,
    )
    if number >= min(needed, len(values) / settings.rows_per_value):
        return None
    text = (
        f"The {name} take only {number:.0f} distinct values, counted by how often each occurs "
        f"(good: {needed} or more)"
    )
    advice = (
        "unrelated labels match as well where values repeat; use finer measurements, more groups, "
        "or rows with a known label"
    )
    return Reason("caution", f"distinct {name}", number, needed, text, advice)


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
            f"(p-value {p_value:.2g}, good: below {limit:g})"
        )
    text = f"{found}, so the fit relies on {number} {held_by}"
    advice = f"compare with a fit to the {held_by} alone"
    return Reason("caution", held_by, p_value, limit, text, advice)


def narrow_groups(share: float) -> Reason:
    """No match was used, but labels can only have moved between similar ones."""
    text = (
        f"No match is better than one to unrelated labels, but only {percent(share)} of the "
        f"labels' variance lies inside groups (good: below {percent(MUCH_INSIDE)})"
    )
    advice = f"expect slopes that are too small by about {percent(share)}"
    return Reason("caution", "variance inside groups", share, MUCH_INSIDE, text, advice)


def group_means(found: GroupMeans, settings: GroupMeansSettings = GROUP_MEANS) -> Reason:
    """Does the regression of group means, which no shuffle changes, agree with the fit?"""
    p_value, distance, limit = found.p_value, found.distance, settings.distance_caution
    text = (
        f"Beyond sampling error the fit differs from the regression of group means by "
        f"{percent(distance)} of its length, p-value {p_value:.2g} "
        f"(good: below {percent(limit)}, or a p-value of at least {settings.p_caution:g})"
    )
    check = "agreement with group means"
    if distance < limit or p_value >= settings.p_caution:
        return Reason("trust", check, distance, limit, text)
    rejects = distance >= settings.distance_reject and p_value < settings.p_reject
    level: Level = "reject" if rejects else "caution"
    advice = "check the groups and the shape of the residuals; compare with a fit to group means"
    return Reason(level, check, distance, limit, text, advice)


def confirmed(reason: Reason, found: GroupMeans | None) -> Reason:
    """A doubt about the match, which group means that agree with the fit can answer."""
    if found is None or reason.level != "caution" or not found.confirm_match():
        return reason
    text = f"{reason.text}, but group means confirm the fit (p-value {found.p_value:.2g})"
    return replace(reason, level="trust", text=text, advice="")


def sufficient(
    reason: Reason, found: GroupMeans | None, settings: GroupMeansSettings = GROUP_MEANS
) -> Reason:
    """The doubt that only group means hold a fit, where they determine it nearly alone."""
    if found is None or not found.suffice(settings):
        return reason
    text = (
        f"{reason.text}, whose standard errors are {found.inflation:.1f} times those with the "
        f"order known (good: below {settings.nearly_known:g})"
    )
    return replace(reason, level="trust", text=text, advice="")
