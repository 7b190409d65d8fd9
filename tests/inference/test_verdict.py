import json
import warnings

import numpy as np
import pandas as pd
import pytest

from unshuffle import ShuffledRegressor, UnidentifiableWarning
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.fits.auto import fit_auto
from unshuffle.fits.data import InMemory
from unshuffle.fits.settings import AutoSettings
from unshuffle.inference import checks, lost_checks, order_checks
from unshuffle.inference.settings import CheckSettings
from unshuffle.inference.verdict import Reason, judge

pytestmark = pytest.mark.long


def fit(data, **settings):
    model = ShuffledRegressor(random_state=0, **settings)
    return model.fit(data.X, data.y, groups=data.groups)


def test_the_worst_reason_decides_and_comes_first():
    good = Reason("trust", "a", 0.0, 1.0, "fine")
    bad = Reason("reject", "b", 2.0, 1.0, "hopeless", "stop")
    doubt = Reason("caution", "c", 1.5, 1.0, "doubtful")
    verdict = judge([good, bad, doubt])
    assert verdict.level == "reject"
    assert [r.text for r in verdict.reasons] == ["hopeless", "doubtful", "fine"]
    assert str(verdict) == "reject: hopeless"
    assert judge([good, doubt]).level == "caution"
    assert judge([]).level == "trust"
    with pytest.raises(AttributeError):
        verdict.level = "trust"


@pytest.mark.parametrize(
    ("reason", "level"),
    [
        (lost_checks.unrelated_labels(0.001, True), "trust"),
        (lost_checks.unrelated_labels(0.03, True), "caution"),
        (lost_checks.unrelated_labels(0.15, True), "caution"),
        (lost_checks.unrelated_labels(0.15, False), "reject"),
        (lost_checks.unrelated_labels(np.nan, True), "caution"),
        (lost_checks.recovery(np.array([0.1, 0.1, 2.0])), "trust"),
        (lost_checks.recovery(np.array([0.1, 0.9, 2.0])), "reject"),
        (order_checks.order(1e-5), "trust"),
        (order_checks.order(0.03), "caution"),
        (order_checks.mismatches(0.2), "trust"),
        (order_checks.mismatches(0.85), "caution"),
        (order_checks.mismatch_test(0.4), "trust"),
        (order_checks.mismatch_test(0.03, two_models=True), "trust"),
        (order_checks.agreement(0.5), "trust"),
        (order_checks.agreement(2.0), "caution"),
        (order_checks.agreement(np.inf), "caution"),
        (order_checks.agreement(1.8, normal=True), "trust"),
        (order_checks.agreement(2.1, normal=True), "caution"),
        (order_checks.evidence(0.1, 0.86), "trust"),
        (order_checks.evidence(0.01, 0.56), "caution"),
        (order_checks.hidden_mismatches(0.05, 1.9), "trust"),
        (order_checks.hidden_mismatches(0.05, 2.1), "caution"),
        (order_checks.hidden_mismatches(1.0, np.inf), "caution"),
        (order_checks.tails(0.01, 1.5), "trust"),
        (order_checks.tails(0.2, 1.5), "caution"),
        (order_checks.tails(0.2, 0.9), "trust"),
        (order_checks.tails(0.2, np.nan), "caution"),
        (order_checks.one_label(0.1), "trust"),
        (order_checks.one_label(0.9), "caution"),
        (order_checks.consistency(0.1, 0.001), "trust"),
        (order_checks.consistency(0.5, 0.4), "trust"),
        (order_checks.consistency(0.15, 1e-5), "caution"),
        (order_checks.consistency(0.05, 1e-5), "trust"),
        (order_checks.consistency(0.5, 0.001), "caution"),
        (order_checks.mismatched_slope(0.0), "trust"),
        (order_checks.mismatched_slope(0.9), "caution"),
        (order_checks.noise_law("t", 0.05), "trust"),
        (order_checks.noise_law("normal", 0.4), "caution"),
        (order_checks.rate_under_mixture(0.1), "trust"),
        (order_checks.rate_under_mixture(0.4), "caution"),
        (order_checks.doubtful_mismatches(0.02), "caution"),
        (order_checks.expected_error(1.2), "trust"),
        (order_checks.expected_error(2.5), "caution"),
        (checks.precision(1.3, 0.4), "trust"),
        (checks.precision(2.5, 0.1), "caution"),
        (checks.precision(12.0, -0.1), "caution"),
        (checks.precision(np.inf, -0.1), "caution"),
        (checks.precision(np.nan, np.nan), "caution"),
        (checks.precision(12.0, -0.4), "caution"),
        (checks.other_noise("t", 0.1, 0.3), "trust"),
        (checks.other_noise("mixture", 0.1, 0.1), "caution"),
        (checks.other_noise("t", 0.1, np.nan), "caution"),
        (lost_checks.recovery(np.array([np.inf, np.inf])), "reject"),
        (checks.noise_sensitivity(0.1), "trust"),
        (checks.noise_sensitivity(0.3), "caution"),
        (checks.noise_sensitivity(0.8), "reject"),
        (checks.noise_sensitivity(np.nan), "reject"),
        (lost_checks.agreement(1, False), "caution"),
        (lost_checks.agreement(1, True), "trust"),
        (lost_checks.agreement(2, False), "trust"),
        (lost_checks.agreement(2, False, one_group=True), "caution"),
        (lost_checks.agreement(3, False, one_group=True), "trust"),
        (lost_checks.shrinkage(0.99), "trust"),
        (lost_checks.narrow_groups(0.1), "caution"),
        (lost_checks.anchor("group means", 40, 0.3), "caution"),
        (lost_checks.no_match_used(1.5), "reject"),
        (lost_checks.distinct_values(np.arange(12.0), "labels"), None),
        (lost_checks.distinct_values(np.arange(300.0), "labels"), None),
        (lost_checks.distinct_values(np.arange(300.0) // 4, "labels"), None),
        (lost_checks.distinct_values(np.arange(300.0) % 5, "labels"), "caution"),
        (lost_checks.distinct_values(np.maximum(np.arange(300.0), 200.0), "labels"), "caution"),
        (checks.rank(3, 3), None),
        (checks.rank(2, 3), "trust"),
        (checks.convergence(True), None),
        (checks.convergence(False), "caution"),
    ],
)
def test_each_check_has_its_thresholds(reason, level):
    assert (reason and reason.level) == level
    assert reason is None or (reason.text and (reason.advice or level == "trust"))


@pytest.mark.parametrize(
    ("limit", "radii", "start"),
    [
        (0.554, 3.21, "Up to 55 % of the labels could be exchanged without a sign; the slopes would "
                      "then be off by 3.2 times the 95 % radius"),
        (0.008, 0.3, "Up to 0.8 % of the labels"),
        (1.0, np.inf, "Any share of the labels could be exchanged without a sign"),
    ],
)  # fmt: skip
def test_mismatches_that_cannot_be_excluded_are_put_in_words(limit, radii, start):
    assert order_checks.hidden_mismatches(limit, radii).text.startswith(start)


def caution(check, value=1.0):
    return Reason("caution", check, value, 1.0, "doubtful", "look")


def test_three_doubts_about_a_match_reject_it():
    doubts = [caution("precision"), caution("convergence"), caution("agreement of searches")]
    others = [None, caution("recoverability"), Reason("trust", "rank", 3.0, 3.0, "fine")]
    assert lost_checks.doubts(doubts[:2] + others) is None
    not_computed = caution("match against unrelated labels", np.nan)
    assert lost_checks.doubts([*doubts[:2], not_computed]) is None
    reason = lost_checks.doubts(doubts + others)
    assert reason.level == "reject" and reason.value == 3.0
    assert reason.text.startswith(
        "3 checks of the match advise caution: precision, convergence and agreement of searches "
    )


@pytest.mark.parametrize(
    ("n_groups", "n_candidates", "level"), [(1, 40, "reject"), (4, None, "caution")]
)
def test_an_imprecise_match_is_rejected_where_other_checks_doubt_it_too(
    n_groups, n_candidates, level
):
    data = make_shuffled_regression(
        300, 8, noise=0.5, shuffle="groups", n_groups=n_groups, random_state=0
    )
    problem = make_problem(data.X, data.y, data.groups, np.zeros(300, dtype=bool))
    with Workers(1) as workers:
        settings = AutoSettings(0, pairing="lost", n_candidates=n_candidates, start="match")
        found = fit_auto(InMemory(problem, workers), settings)
    checked = {reason.check: reason.level for reason in found.verdict.reasons}
    assert found.verdict.level == level
    assert checked["precision"] == "caution"
    assert ("doubts about the match" in checked) == (level == "reject")


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (
            lost_checks.unrelated_labels(0.02, True),
            "The p-value of the match against unrelated labels is 0.02 (good: below 0.01)",
        ),
        (
            lost_checks.recovery(np.array([0.03, 0.03, 0.5])),
            "Refitting data simulated from this fit moves the coefficients by 3 % (good: below 30 %)",
        ),
        (
            checks.precision(1.52, 0.4),
            "Standard errors are 1.5 times those with the order known (good: below 2)",
        ),
        (
            checks.precision(9.0, -0.13),
            "The fraction of the information kept (observed / complete) is -0.13 for some "
            "combination of coefficients (good: above 0)",
        ),
        (
            lost_checks.agreement(1, False),
            "1 independent start of the search ended in the best match (good: 2 or more)",
        ),
        (
            lost_checks.distinct_values(np.arange(300.0) % 5, "labels"),
            "The labels take only 5 distinct values, counted by how often each occurs "
            "(good: 20 or more)",
        ),
        (
            lost_checks.narrow_groups(0.1),
            "No match is better than one to unrelated labels, but only 10 % of the labels' "
            "variance lies inside groups (good: below 20 %)",
        ),
    ],
)
def test_a_reason_is_one_sentence_with_its_number_and_the_good_side(reason, text):
    assert reason.text == text


def test_thresholds_are_settings():
    strict = CheckSettings(inflation_caution=1.2, match_p_caution=1e-4, match_p_reject=1e-3)
    reason = checks.precision(1.3, 0.4, strict)
    assert (reason.level, reason.threshold) == ("caution", 1.2)
    assert "good: below 1.2" in reason.text
    assert lost_checks.unrelated_labels(5e-4, False, strict).level == "caution"
    assert lost_checks.unrelated_labels(5e-3, False, strict).level == "reject"


def test_recovered_data_are_trusted():
    lost = make_shuffled_regression(
        400, 3, noise=0.3, shuffle="groups", n_groups=40, group_by="random", random_state=0
    )
    linked = make_shuffled_regression(
        400, 5, noise=0.5, shuffle="fraction", fraction=0.2, random_state=0
    )
    assert fit(lost).verdict_.level == "trust"
    assert fit(linked).verdict_.level == "trust"


def test_hopeless_data_are_rejected_with_a_warning():
    data = make_shuffled_regression(300, 30, noise=1.0, random_state=0)
    with pytest.warns(UnidentifiableWarning, match="do not trust this fit"):
        model = ShuffledRegressor(pairing="lost", random_state=0).fit(data.X, data.y)
    assert model.verdict_.level == "reject"
    assert any(
        reason.check == "match against unrelated labels" for reason in model.verdict_.reasons
    )
    assert np.all(np.isnan(model.standard_errors_))


def test_unrelated_labels_are_not_trusted():
    levels = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        X, y, groups = rng.normal(size=(150, 4)), rng.normal(size=150), np.arange(150) // 50
        model = ShuffledRegressor(pairing="lost", random_state=seed, n_candidates=1000)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UnidentifiableWarning)
            levels.append(model.fit(X, y, groups=groups).verdict_.level)
    assert levels.count("trust") == 0
    assert levels.count("reject") >= 6


@pytest.mark.parametrize("kind", ["labels", "fitted values"])
def test_a_match_of_few_distinct_values_is_never_trusted(kind):
    rng = np.random.default_rng(0)
    X = rng.integers(0, 2, size=(200, 1)).astype(float) if kind == "fitted values" else None
    X = rng.normal(size=(200, 2)) if X is None else X
    y = X @ np.ones(X.shape[1]) + 0.05 * rng.normal(size=200)
    labels = np.round(y) if kind == "labels" else y
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnidentifiableWarning)
        model = ShuffledRegressor(pairing="lost", search="population", random_state=0)
        model.fit(X, rng.permutation(labels))
    reasons = {reason.check: reason for reason in model.verdict_.reasons}
    assert model.start_ == "match"
    assert reasons[f"distinct {kind}"].level == "caution"
    # Group means determine a fit whatever values repeat; there the check does not apply.
    model.fit(X, labels, groups=np.arange(200) // 10)
    assert f"distinct {kind}" not in {reason.check for reason in model.verdict_.reasons}


def test_summary_in_every_form():
    data = make_shuffled_regression(
        200, 2, noise=0.3, shuffle="groups", n_groups=20, group_by="random", random_state=0
    )
    frame = pd.DataFrame(data.X, columns=["dose_mg", "a<b"])
    model = ShuffledRegressor(random_state=0).fit(frame, data.y, groups=data.groups)
    summary = model.summary(level=0.9)
    text = str(summary)
    assert text.startswith("Verdict: trust")
    assert "dose_mg" in text and "(intercept)" in text and "[0.05" in text
    assert "a&lt;b" in summary._repr_html_() and "<script" not in summary._repr_html_()
    assert r"dose\_mg" in summary.to_latex() and r"\toprule" in summary.to_latex()
    table = summary.to_frame()
    assert table.loc["dose_mg", ("unshuffle", "coef")] == pytest.approx(model.coef_[0])
    assert ("as given", "coef") in table.columns
    as_dict = json.loads(json.dumps(summary.to_dict()))
    assert as_dict["verdict"] == "trust"
    low = as_dict["coefficients"]["dose_mg"]["unshuffle"]["low"]
    assert low == pytest.approx(model.conf_int(0.9)[1, 0])
    apart = ShuffledRegressor(random_state=0)
    apart.fit_unpaired(frame, data.y, data.groups, data.groups)
    assert "as given" not in str(apart.summary())


def test_narrow_bins_of_the_label_are_a_reason_for_caution_only():
    bins = make_shuffled_regression(
        200, 2, noise=0.5, shuffle="groups", n_groups=5, group_by="label", random_state=0
    )
    # With the order left open a p-value of .013 leads to least squares, with caution too.
    model = ShuffledRegressor(pairing="lost", random_state=0)
    model.fit(bins.X, bins.y, groups=bins.groups)
    assert model.verdict_.level == "caution"
    assert "of the labels' variance lies inside groups" in str(model.verdict_)
    assert np.linalg.norm(model.coef_ - bins.coef) < 0.2 * np.linalg.norm(bins.coef)


def test_group_means_are_used_where_no_match_is_better_than_one_to_unrelated_labels():
    tens = make_shuffled_regression(
        400, 4, noise=1.0, shuffle="groups", n_groups=40, group_by="random", random_state=7
    )
    held = fit(tens, search="none", pairing="lost")
    assert held.start_ == "group means"
    assert "40 group means" in str(held.verdict_)
    assert held.verdict_.level == "caution"


def test_an_order_inside_given_groups_needs_stronger_evidence():
    assert order_checks.order(1e-4).level == "trust"
    assert order_checks.order(1e-4, inside_groups=True).level == "caution"
    assert order_checks.order(1e-6, inside_groups=True).level == "trust"


@pytest.mark.parametrize(("weight", "level"), [(0.65, "caution"), (1.0, "trust")])
def test_a_weak_order_inside_groups_is_not_trusted(weight, level):
    """Labels in order beside weak features, p-value 3e-5, and beside strong ones."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 2))
    y = weight * X[:, 0] + rng.normal(size=160)
    model = ShuffledRegressor(random_state=0).fit(X, y, groups=np.arange(160) // 8)
    assert model.pairing_ == "mostly-right"
    assert model.verdict_.level == level
