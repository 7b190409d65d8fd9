"""The checks behind a verdict: one function each, from a number to a reason.

A reason's text is one sentence with the number and the range that is good; its advice says what to
do where the number lies outside.
"""

from collections.abc import Callable
from dataclasses import replace
from math import isnan

import numpy as np

from ..data.isolated import IsolatedLabels
from .settings import CHECKS, CheckSettings
from .verdict import Level, Reason

MORE_DATA = "use smaller groups, more rows with a known label, or fewer features"
LAWS = {"normal": "normal", "t": "Student's t", "mixture": "a mixture of normals"}


def precision(
    inflation: float,
    fraction_kept: float,
    settings: CheckSettings = CHECKS,
    *,
    order_used: bool = False,
) -> Reason:
    """How much of the precision is lost with the order?"""
    limit = settings.inflation_linked if order_used else settings.inflation_caution
    times = f"are {inflation:.1f} times those with the order known"
    reason = below(
        "precision", inflation, limit, None,
        f"Standard errors {'cannot be determined' if isnan(inflation) else times}",
        f"to reduce the standard errors, {MORE_DATA}",
    )  # fmt: skip
    if order_used and inflation < settings.inflation_least:
        text = (
            f"Standard errors {times}, which is too small to be right (good: above "
            f"{settings.inflation_least:g}): a few rows called mismatched decide the fit"
        )
        return replace(reason, level="caution", text=text, advice="look at suspects()")
    if fraction_kept > 0.0 or isnan(fraction_kept):
        return reason
    text = (
        f"The fraction of the information kept (observed / complete) is {fraction_kept:.2g} for "
        "some combination of coefficients (good: above 0)"
    )
    return replace(reason, text=text)


def noise_sensitivity(
    shift: float, settings: CheckSettings = CHECKS, *, order_used: bool = False
) -> Reason:
    """Does the fit depend on the exact size of the noise?"""
    limit = settings.noise_caution_linked if order_used else settings.noise_caution
    return below(
        "sensitivity to the noise", shift, limit, settings.noise_reject,
        f"Aligning the labels at 1.5 times the noise changes the fit by {percent(shift)}",
        "check in the residuals that the noise is normal and its variance constant",
        form=percent,
    )  # fmt: skip


def rank(n_found: int, n_features: int) -> Reason | None:
    """Are single coefficients determined? For information: `RankWarning` names the columns.

    A constant column, or one that repeats others, changes neither the fitted values nor the other
    coefficients, so that it does not count against the fit.
    """
    if n_found == n_features:
        return None
    text = (
        f"X has rank {n_found} of {n_features}: single coefficients of columns that are constant "
        "or linear combinations of others are not determined (for information)"
    )
    return Reason("trust", "rank", float(n_found), float(n_features), text)


def convergence(converged: bool) -> Reason | None:
    """Did EM converge?"""
    if converged:
        return None
    text = "EM did not converge: the coefficients still changed at the last iteration"
    advice = "compare the last rows of coef_path_ and use only the digits that agree"
    return Reason("caution", "convergence", 0.0, 1.0, text, advice)


def isolated(labels: IsolatedLabels, shift: float, *, mismatches: bool) -> Reason:
    """Are there labels far from all others, which least squares follows alone?

    `mismatches` says that the other labels look exchanged, so that they would need another fit.
    """
    number, values = len(labels.labels), np.unique(labels.labels)
    named = ", ".join(f"{value:.6g}" for value in values[:3]) + (", ..." if len(values) > 3 else "")
    lie, them = ("1 label lies", "it") if number == 1 else (f"{number} labels lie", "them")
    text = (
        f"{lie} far from all others ({named}; the others from {labels.lowest:.6g} to "
        f"{labels.highest:.6g}; good: no such label), which changes least squares on the labels as "
        f"given by {percent(shift)}"
    )
    if mismatches:
        text += "; others look exchanged, but that is not accounted for beside " + them
    advice = (
        "where such a label is an error or a code for a missing one, drop its row and fit again; "
        "where it is right, transform the labels, for example by logarithms"
    )
    return Reason("caution", "isolated labels", float(number), 1.0, text, advice)


def other_noise(
    law: str, distance: float, p_value: float, settings: CheckSettings = CHECKS
) -> Reason:
    """Does a fit with another law of the noise agree with that of normal noise?

    Both estimate the same slopes where the noise does not depend on the features, whatever its law.
    Where it does, the law takes part of the relation for noise.
    """
    check, limit = "agreement with normal noise", settings.other_noise_p
    text = (
        f"With {LAWS[law]} for the noise the fit differs from that with normal noise by "
        f"{percent(distance)}, p-value {p_value:.2g} (good: at least {limit:g})"
    )
    if p_value >= limit:
        return Reason("trust", check, p_value, limit, text)
    advice = "the noise seems to depend on the features; fit with noise='normal'"
    return Reason("caution", check, p_value, limit, text, advice)


def below(
    check: str,
    value: float,
    caution: float,
    reject: float | None,
    text: str,
    advice: str,
    form: Callable[[float], str] = "{:g}".format,
) -> Reason:
    """A reason of a check whose value should be small; nan counts as large."""
    level: Level = "caution" if reject is None or value < reject else "reject"
    text = f"{text} (good: below {form(caution)})"
    if value < caution:
        return Reason("trust", check, value, caution, text)
    return Reason(level, check, value, caution, text, advice)


def percent(share: float) -> str:
    """A share as people read it."""
    return f"{100.0 * share:.0f} %"
