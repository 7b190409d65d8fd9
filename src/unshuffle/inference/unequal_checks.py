"""Checks of fits to rows and labels in unequal numbers."""

from math import isnan

from .checks import percent
from .settings import CHECKS, CheckSettings
from .verdict import Level, Reason


def pairs_per_coefficient(
    n_pairs: float, n_coefficients: int, settings: CheckSettings = CHECKS
) -> Reason:
    """Are there enough pairs for the coefficients?"""
    value, limit = n_pairs / max(n_coefficients, 1), settings.pairs_caution
    text = (
        f"{n_pairs:.0f} rows are expected to hold a label, {value:.1f} for each coefficient "
        f"(good: {limit:g} or more)"
    )
    if value >= limit:
        return Reason("trust", "pairs per coefficient", value, limit, text)
    level: Level = "caution" if value >= settings.pairs_reject else "reject"
    advice = "use more rows and labels that share a group, or fewer features"
    return Reason(level, "pairs per coefficient", value, limit, text, advice)


def match_share(share: float, error: float, settings: CheckSettings = CHECKS) -> Reason:
    """Is it known how many rows have their label among those given?"""
    check, limit = "match share", settings.share_error_caution
    if isnan(error):
        text = f"{percent(share)} of the rows have their label among those given"
        return Reason("trust", check, 0.0, limit, text)
    text = (
        f"{percent(share)} of the rows have their label among those given, with a standard error "
        f"of {percent(error)} (good: below {percent(limit)})"
    )
    if error < limit:
        return Reason("trust", check, error, limit, text)
    advice = "give match_share, or bounds of it, if it is known from elsewhere"
    return Reason("caution", check, error, limit, text, advice)
