"""What the verdict is made of: one function per check, from a number to a reason.

Thresholds were set on one family of simulations and checked on another; both are in `benchmarks/`.
"""

import numpy as np

from ..problem import FloatArray
from .verdict import Level, Reason

# Chance of matching unrelated labels as well.
SURELY_BETTER, BETTER = 0.01, 0.05
# Distance of refits to simulated labels, as a share of the coefficients' length.
NEAR, FAR = 0.3, 0.7
# Chance that shuffled labels explain as much as the order given, and share of mismatched rows.
SURELY_ORDERED = 0.001
MANY_MISMATCHES, MOST_MISMATCHES = 0.6, 0.8
# Share of the information with known order that the worst direction keeps.
LITTLE_INFORMATION, NO_INFORMATION = 0.02, 0.002


def _level(value: float, caution: float, reject: float) -> Level:
    """Higher is worse; what is not a number is not good either."""
    if value < caution:
        return "trust"
    return "caution" if value < reject else "reject"


def chance(p_value: float, followed: bool) -> Reason:
    """Could labels unrelated to the features be matched as well?"""
    level = _level(p_value, SURELY_BETTER, BETTER)
    if level == "reject" and followed:  # it stands far below all other matches
        level = "caution"
    text = f"labels unrelated to the features would be matched as well with p = {p_value:.2g}"
    advice = {
        "trust": "",
        "caution": "compare with other evidence, or get smaller groups or some known rows",
        "reject": "do not use the coefficients; get smaller groups, known rows or fewer features",
    }[level]
    return Reason(level, "comparison with chance", p_value, SURELY_BETTER, text, advice)


def not_compared() -> Reason:
    """The order is lost and nothing was compared with chance."""
    text = "the order is lost and the match was not compared with chance"
    return Reason(
        "caution", "comparison with chance", float("nan"), SURELY_BETTER, text,
        "fit with search='auto'",
    )  # fmt: skip


def recovery(distances: FloatArray) -> Reason:
    """Do labels simulated from the fit lead back to it?"""
    value = float(np.median(distances))
    level = _level(value, NEAR, FAR)
    text = f"refits to labels simulated from this fit end {value:.0%} of its length away"
    advice = "" if level == "trust" else "even if the model is right, its data could not show it"
    return Reason(level, "recoverability", value, NEAR, text, advice)


def order(p_value: float) -> Reason:
    """Does the order given carry the information that the fit rests on?"""
    level: Level = "trust" if p_value < SURELY_ORDERED else "caution"
    text = f"shuffled labels would explain as much as the order given with p = {p_value:.2g}"
    advice = "" if level == "trust" else "say pairing='mostly-right' only if you know it is"
    return Reason(level, "information in the order given", p_value, SURELY_ORDERED, text, advice)


def mismatches(rate: float) -> Reason:
    """Are there enough right rows to fit to?"""
    level = _level(rate, MANY_MISMATCHES, MOST_MISMATCHES)
    text = f"an estimated {rate:.0%} of the rows do not hold their own label"
    advice = "" if level == "trust" else "improve the linkage, or mark rows that are surely right"
    return Reason(level, "share of mismatches", rate, MANY_MISMATCHES, text, advice)


def information(left: float) -> Reason | None:
    """Is there a direction of the coefficients of which next to nothing is known?"""
    if left >= LITTLE_INFORMATION:
        return None
    level: Level = "caution" if left >= NO_INFORMATION else "reject"
    text = f"some combination of coefficients keeps {max(left, 0.0):.1%} of its information"
    return Reason(
        level, "information left", left, LITTLE_INFORMATION, text,
        "look at the standard errors; smaller groups or known rows would help",
    )  # fmt: skip


def rank(n_found: int, n_features: int) -> Reason | None:
    """Do single coefficients mean anything?"""
    if n_found == n_features:
        return None
    text = f"X has rank {n_found} of {n_features}: single coefficients are not determined"
    return Reason("caution", "rank", float(n_found), float(n_features), text, "drop columns")


def convergence(converged: bool) -> Reason | None:
    """Did EM settle?"""
    if converged:
        return None
    text = "the coefficients were still moving when the iterations ended"
    return Reason("caution", "convergence", 0.0, 1.0, text, "treat the last digits with care")


def caution(temper: float) -> Reason:
    """The match was not followed."""
    text = "no match was followed: the coefficients are shrunk and have no standard errors"
    return Reason("reject", "caution", temper, 1.0, text, "see the comparison with chance")


def anchor(n_known: int, p_value: float) -> Reason:
    """No match was followed, but there are known rows to rest on."""
    text = f"no match beats chance (p = {p_value:.2g}); the fit rests on {n_known} known rows"
    return Reason(
        "caution", "known rows", p_value, SURELY_BETTER, text, "compare with a fit to them alone"
    )
