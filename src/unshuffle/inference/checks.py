"""What the verdict is made of: one function per check, from a number to a reason.

Thresholds were set on one family of simulations and checked on another; both are in `benchmarks/`.
"""

from math import isnan

from ..kernels.types import FloatArray
from ..search.recovery import usual_distance
from ..search.starts import MUCH_INSIDE
from .verdict import Level, Reason

# Chance of matching unrelated labels as well.
SURELY_BETTER, BETTER = 0.01, 0.05
# Distance of refits to simulated labels, as a share of the coefficients' length.
NEAR, FAR = 0.3, 0.7
# Chance that shuffled labels explain as much as the order given, and share of mismatched rows.
SURELY_ORDERED = 0.001
MANY_MISMATCHES = 0.7
# Length of the error to expect, as a multiple of that with known order.
INEXACT = 2.0
# Independent starts that must end in the best match.
FOUND_AGAIN = 2
# Shift of the fit when labels are aligned at inflated noise, as a share of its length.
SHAKY, UNSTEADY = 0.25, 0.5


def _level(value: float, caution: float, reject: float) -> Level:
    """Higher is worse; what is not a number is not good either."""
    if value < caution:
        return "trust"
    return "caution" if value < reject else "reject"


def chance(p_value: float, followed: bool) -> Reason:
    """Could labels unrelated to the features be matched as well?"""
    level = _level(p_value, SURELY_BETTER, BETTER)
    if level == "reject" and followed:  # it stands far below all others, or was found again
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
    value = usual_distance(distances)
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
    level: Level = "trust" if rate < MANY_MISMATCHES else "caution"
    text = f"an estimated {rate:.0%} of the rows do not hold their own label"
    advice = "" if level == "trust" else "improve the linkage, or mark rows that are surely right"
    return Reason(level, "share of mismatches", rate, MANY_MISMATCHES, text, advice)


def precision(inflation: float, information_left: float) -> Reason:
    """How much of the precision is lost with the order?"""
    level: Level = "trust" if inflation < INEXACT else "caution"
    text = f"coefficients are about {inflation:.1f} times less exact than with known order"
    if information_left <= 0.0:
        text = "some combination of coefficients is hardly determined by the data near this fit"
    advice = "" if level == "trust" else "smaller groups or known rows would help"
    return Reason(level, "precision", inflation, INEXACT, text, advice)


def tempering(shift: float) -> Reason:
    """Does the answer hang on the exact size of the noise?"""
    level = _level(shift, SHAKY, UNSTEADY)
    text = f"aligned at 1.5 times the noise, the fit moves by {shift:.0%} of its length"
    advice = "" if level == "trust" else "look at the residuals: is the noise normal and constant?"
    return Reason(level, "sensitivity to the noise", shift, SHAKY, text, advice)


def agreement(n_found: int, certified: bool) -> Reason:
    """Did independent searches end in the same match?"""
    text = f"independent starts found the best match {n_found} times"
    if certified:
        text = "the best match was proved to be the best of all"
    level: Level = "trust" if certified or n_found >= FOUND_AGAIN else "caution"
    advice = (
        "" if level == "trust" else "raise n_candidates: a longer search may find another match"
    )
    return Reason(level, "agreement of searches", float(n_found), FOUND_AGAIN, text, advice)


def shrinkage(share: float) -> Reason:
    """What would have been found without a search?"""
    text = f"shrinking least squares on the labels as given would give {share:.0%} of this fit"
    return Reason("trust", "shrinkage", share, 1.0, text)


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
    return Reason(
        "reject", "match not followed", temper, 1.0, text, "see the comparison with chance"
    )


def anchor(held_by: str, number: int, p_value: float) -> Reason:
    """No match was followed, but there is something to rest on that no shuffle can touch."""
    found = (
        "no match was followed" if isnan(p_value) else f"no match beats chance (p = {p_value:.2g})"
    )
    text = f"{found}; the fit rests on {number} {held_by}"
    return Reason(
        "caution", held_by, p_value, SURELY_BETTER, text, "compare with a fit to them alone"
    )


def narrow_groups(share: float) -> Reason:
    """No match was followed, but labels could not move far."""
    text = f"no match beats chance, but only {share:.0%} of the labels' variance lies inside groups"
    advice = "expect slopes a little too small, by about that share"
    return Reason("caution", "spread inside groups", share, MUCH_INSIDE, text, advice)
