"""The checks where labels are given beside rows and their order is used."""

from dataclasses import replace
from math import isfinite, isnan

from .checks import LAWS, below, percent
from .consistency import Consistency
from .settings import CHECKS, CheckSettings
from .verdict import Reason

# Where a likelihood fit is not consistent with what holds for any noise.
MOMENTS = "MomentRegressor(mismatch_rate=Audit(checked, wrong))"


def order(
    p_value: float, settings: CheckSettings = CHECKS, *, inside_groups: bool = False
) -> Reason:
    """Is the order given informative?"""
    limit = settings.order_p_inside if inside_groups else settings.order_p_caution
    return below(
        "information in the order given", p_value, limit, None,
        f"The p-value of the order given against shuffled labels is {p_value:.2g}",
        "set pairing='mostly-right' only if you know that most rows hold their own label",
    )  # fmt: skip


def order_unclear(p_value: float, settings: CheckSettings = CHECKS) -> Reason:
    """Neither the order given nor a match says anything, so that the fit is least squares."""
    text = (
        f"The p-value of the order given against shuffled labels is {p_value:.2g} (good: below "
        f"{settings.order_p_caution:g}), and no match was good enough either: the features hardly "
        "explain the labels, or the order is lost and the slopes cannot be known; the fit is least "
        "squares on the labels as given"
    )
    advice = "use these slopes only if you know that the labels are in order"
    return Reason(
        "caution", "information in the order given", p_value, settings.order_p_caution, text, advice
    )


def mismatches(rate: float, settings: CheckSettings = CHECKS) -> Reason:
    """Are there enough right rows to fit to?"""
    return below(
        "share of mismatches", rate, settings.mismatch_caution, None,
        f"An estimated {percent(rate)} of the rows hold the label of another row",
        "improve the record linkage, or mark rows whose label is known to be their own",
        form=percent,
    )  # fmt: skip


def mismatch_test(
    p_value: float,
    settings: CheckSettings = CHECKS,
    *,
    two_models: bool = False,
    least_squares: bool = True,
) -> Reason:
    """No clear sign of exchanged labels: they are used as given."""
    limit = settings.mismatch_p_of_two if two_models else settings.mismatch_p
    way = "least squares" if least_squares else "maximum likelihood"
    text = (
        f"There is no clear sign of exchanged labels (p-value {p_value:.2g}, good: above "
        f"{limit:g}): the fit is {way} on the labels as given"
    )
    return Reason("trust", "mismatches", p_value, limit, text)


def hidden_mismatches(limit: float, radii: float, settings: CheckSettings = CHECKS) -> Reason:
    """Would least squares still be sound with as many mismatches as cannot be excluded?

    `limit` is the upper limit of their rate, `radii` the error of least squares at that rate.
    """
    if isfinite(radii):
        share = f"{100.0 * limit:.0f}" if limit >= 0.1 else f"{100.0 * limit:.1f}"
        text = (
            f"Up to {share} % of the labels could be exchanged without a sign; the slopes would "
            f"then be off by {radii:.2g} times the 95 % radius of a fit with known order"
        )
    else:
        text = (
            "Any share of the labels could be exchanged without a sign, so that the slopes could "
            "be off by any amount"
        )
    return below(
        "mismatches that cannot be excluded", radii, settings.hidden_error, None, text,
        "see mismatch_sensitivity() for what other rates would mean, or mark known rows",
    )  # fmt: skip


def tails(share: float, radii: float, settings: CheckSettings = CHECKS) -> Reason:
    """Are there too many labels far off to exclude mismatches?

    `radii` is the error by mismatches that cannot be excluded. Heavy tails can make it too low, but
    where it is far below what would matter that changes nothing.
    """
    reason = below(
        "labels far off", share, settings.tail_caution, None,
        f"{100.0 * share:.1f} % of the labels lie more than {settings.tail_scales:g} robust "
        "standard deviations from the fit",
        "many labels far off hide mismatches; look at suspects() and mismatch_sensitivity()",
        form=lambda most: f"{100.0 * most:.1f} %",
    )  # fmt: skip
    if reason.level == "trust" or not radii < settings.tail_hidden_error:
        return reason
    text = (
        f"{reason.text}, but mismatches that change the slopes by more than "
        f"{settings.tail_hidden_error:g} times their 95 % radius would have been noticed"
    )
    return replace(reason, level="trust", text=text, advice="")


def one_label(share: float, settings: CheckSettings = CHECKS) -> Reason:
    """Does one label decide the fit?"""
    return below(
        "weight of one label", share, settings.one_label_caution, None,
        f"One label holds {percent(share)} of the residual sum of squares",
        "check this label: see suspects(), or fit without it",
        form=percent,
    )  # fmt: skip


def not_consistent(found: Consistency, settings: CheckSettings = CHECKS) -> Reason:
    """A fit with mismatches contradicts least squares, so that it was not used."""
    text = (
        "A fit with mismatches is not consistent with least squares on the labels as given "
        f"(relative difference {percent(found.distance)}, good: below "
        f"{percent(settings.consistent_distance)}; slope among mismatched rows "
        f"{found.slope:.2f}, good: below {settings.mismatched_slope:g}), so the fit is least "
        "squares, and the rate of mismatches cannot be determined"
    )
    advice = (
        "look for outliers and curvature; see mismatch_sensitivity() for other rates; if you check "
        f"some links at random, {MOMENTS} fits without a law of the noise"
    )
    return Reason(
        "caution", "consistency", found.distance, settings.consistent_distance, text, advice
    )


def consistency(distance: float, p_value: float, settings: CheckSettings = CHECKS) -> Reason:
    """Is the fit consistent with least squares as given, which needs no law of the noise?"""
    limit, least = settings.consistent_distance, settings.consistent_p
    if p_value < settings.inconsistent_p:
        limit = settings.trusted_distance
    text = (
        "Least squares on the labels as given differs from the fit times the share of matches by "
        f"{percent(distance)}, with p-value {p_value:.2g} (good: below {percent(limit)}, or a "
        f"p-value above {least:g})"
    )
    if distance < limit or p_value > least:
        return Reason("trust", "consistency", distance, limit, text)
    advice = (
        "compare with mismatch_sensitivity(), which needs no law of the noise; if some links are "
        f"checked at random, use {MOMENTS}"
    )
    return Reason("caution", "consistency", distance, limit, text, advice)


def named_law(name: str, found: Consistency, settings: CheckSettings = CHECKS) -> Reason:
    """Does a fit under the law that was asked for agree with least squares?

    Both estimate the same slopes where the noise does not depend on the features, whatever its law.
    """
    limit = settings.other_noise_p
    check = "agreement with least squares"
    text = (
        f"With {LAWS[name]} for the noise the fit differs from least squares by "
        f"{percent(found.distance)}, p-value {found.p_value:.2g} (good: at least {limit:g})"
    )
    if found.p_value >= limit:
        return Reason("trust", check, found.p_value, limit, text)
    advice = "the noise seems to depend on the features; fit with noise='auto'"
    return Reason("caution", check, found.p_value, limit, text, advice)


def law_not_consistent(name: str, found: Consistency, settings: CheckSettings = CHECKS) -> Reason:
    """A fit under the law that was asked for contradicts least squares, so that it was not used."""
    limit = settings.consistent_distance
    text = (
        f"With {LAWS[name]} for the noise the fit is not consistent with least squares on the "
        f"labels as given (relative difference {percent(found.distance)}, good: below "
        f"{percent(limit)}; p-value {found.p_value:.2g}), so the fit is least squares, and the "
        "rate of mismatches cannot be determined"
    )
    advice = "the noise seems to depend on the features; fit with noise='auto'"
    return Reason("caution", "agreement with least squares", found.distance, limit, text, advice)


def chain(inflation: float, settings: CheckSettings = CHECKS) -> Reason:
    """A fit over permutations, which is the better one under normal noise, was not kept."""
    limit = settings.inflation_linked
    text = (
        "A fit over permutations was not kept: its standard errors are "
        f"{inflation:.1f} times those with the order known (good: below {limit:g}), or it differs "
        "from least squares on expected labels"
    )
    advice = "mark rows whose label is known to be their own, or improve the record linkage"
    return Reason("caution", "fit over permutations", inflation, limit, text, advice)


def expected_error(radii: float, settings: CheckSettings = CHECKS) -> Reason | None:
    """Is the fit sound by its own standard errors? Where they are nan, `precision` reports it."""
    if isnan(radii):
        return None
    return below(
        "expected error", radii, settings.expected_error, None,
        f"By its standard errors the fit has a median error of {radii:.2g} times the 95 % radius "
        "of a fit with known order",
        "mark rows whose label is known to be their own, or use fewer features",
    )  # fmt: skip


def mismatched_slope(slope: float, settings: CheckSettings = CHECKS) -> Reason | None:
    """Do the labels of mismatched rows depend on the features?"""
    if isnan(slope):
        return None
    return below(
        "slope among mismatched rows", slope, settings.mismatched_slope, None,
        f"Among the rows called mismatched the slope of labels on fitted values is {slope:.2f} "
        "(0 if they are mismatched, 1 if they are not)",
        "some of these rows hold their own label; look at suspects()",
    )  # fmt: skip


def doubtful_mismatches(gain: float, settings: CheckSettings = CHECKS) -> Reason:
    """Noise that grows explains nearly as much as mismatches, so that these were not used."""
    limit = settings.doubtful_gain
    text = (
        "The noise changes with the fitted value, and mismatches explain little more "
        f"(twice the log likelihood per row {gain:.2f}, good: above {limit:g}), so the fit is "
        "least squares, and the rate of mismatches cannot be determined"
    )
    advice = (
        "transform the labels so that their noise is even, or mark known rows; if you check some "
        f"links at random, {MOMENTS} fits without a law of the noise"
    )
    return Reason("caution", "evidence of mismatches", gain, limit, text, advice)


def evidence(gain: float, weight: float, settings: CheckSettings = CHECKS) -> Reason:
    """Is the evidence of mismatches strong in every row, or only because the rows are many?"""
    limit = settings.trusted_gain
    text = (
        f"Mismatches make the labels as given more likely by {gain:.2f} per row (twice the log "
        f"likelihood, good: above {limit:g}), so the fit with mismatches has a weight of "
        f"{percent(weight)} in the answer, and least squares as given the rest"
    )
    if gain > limit:
        return Reason("trust", "strength of evidence", gain, limit, text)
    advice = (
        "noise of an unusual kind can look alike: see suspects(), mismatch_sensitivity(), or mark "
        "known rows"
    )
    return Reason("caution", "strength of evidence", gain, limit, text, advice)


def agreement(distance: float, settings: CheckSettings = CHECKS, *, normal: bool = False) -> Reason:
    """Does a fit that needs no law of the noise agree with one under a law?

    With `normal` noise of one spread this is asked unless a test finds that the noise is even.
    """
    limit = settings.normal_agreement if normal else settings.agreement
    return below(
        "agreement of two models", distance, limit, None,
        "The fit with a law of the noise and the fit without differ by "
        f"{distance:.2g} times the 95 % radius of a fit with known order",
        "the noise decides about the fit; see mismatch_sensitivity(), or mark known rows",
    )  # fmt: skip


def noise_law(name: str, distance: float, settings: CheckSettings = CHECKS) -> Reason | None:
    """Does the law of the noise describe the residuals of matched rows? nan: not known."""
    if isnan(distance):
        return None
    law = LAWS[name]
    return below(
        "law of the noise", distance, settings.pit_caution, None,
        f"The residuals of matched rows differ from the law chosen ({law}) by {distance:.2f} in "
        "distribution",
        "plot the residuals; transform the labels if their noise is of another kind",
    )  # fmt: skip


def rate_under_mixture(rate: float, settings: CheckSettings = CHECKS) -> Reason:
    """Could components of the noise stand for mismatches, or the other way round?"""
    return below(
        "mismatches or noise", rate, settings.mixture_rate, None,
        f"The noise is a mixture of normals and the rate of mismatches {percent(rate)}, so that "
        "some mismatches may count as noise",
        "compare with mismatch_sensitivity(), which needs no law of the noise",
        form=percent,
    )  # fmt: skip
