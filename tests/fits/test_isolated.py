"""Codes for missing labels, and slips of the decimal point, in tables that are fitted."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares

SLOPES = np.array([1.0, -0.5])
CODES = [7, 100]


def table(seed, n_moved=0):
    """300 rows in order, but for labels that are exchanged."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(300, 2))
    y = X @ SLOPES + 0.5 * rng.normal(size=300)
    rows = np.setdiff1d(rng.permutation(300), CODES)[:n_moved]
    y[rows] = np.roll(y[rows], 1)
    return X, y


def fit(X, y, codes=(), **options):
    y = y.copy()
    y[list(codes)] = -999.0
    return ShuffledRegressor(random_state=0, **options).fit(X, y), y


def reasons(model):
    return {reason.check: reason for reason in model.verdict_.reasons}


def as_given(X, y):
    return LeastSquares(X, fit_intercept=True).solve(y).coef


def test_labels_in_order_are_fitted_as_given_and_the_codes_are_named():
    X, y = table(0)
    model, given = fit(X, y, CODES)
    assert model.start_ == "least squares" and np.array_equal(model.coef_, as_given(X, given))
    assert model.pairing_pvalue_ < 1e-20 and model.mismatch_rate_ == 0.0
    assert model.verdict_.level == "caution"
    text = reasons(model)["isolated labels"].text
    assert text.startswith("2 labels lie far from all others (-999; the others from ")
    assert "look exchanged" not in text
    suspects = model.suspects()
    assert suspects["row"].tolist() == CODES and set(suspects["kind"]) == {"off"}
    assert suspects["label"].tolist() == [-999.0, -999.0]


@pytest.mark.parametrize("n_moved", [0, 60])
def test_without_codes_nothing_is_said_of_them(n_moved):
    model, _ = fit(*table(0, n_moved))
    assert model.verdict_.level == "trust" and "isolated labels" not in reasons(model)


def test_exchanged_labels_are_seen_beside_codes_but_not_accounted_for():
    X, y = table(0, n_moved=60)
    model, given = fit(X, y, CODES)
    assert model.start_ == "least squares" and np.array_equal(model.coef_, as_given(X, given))
    assert np.isnan(model.mismatch_rate_) and model.verdict_.level == "caution"
    text = reasons(model)["isolated labels"].text
    assert text.endswith("; others look exchanged, but that is not accounted for beside them")
    assert np.all(model.off_proba_[CODES] == 1.0) and set(CODES) <= set(model.suspects()["row"])
    others = np.setdiff1d(np.arange(300), CODES)
    model, _ = fit(X[others], y[others])  # what the advice says
    assert model.start_ == "labels as given" and model.verdict_.level == "trust"
    assert np.linalg.norm(model.coef_ - SLOPES) < 0.2


@pytest.mark.parametrize("options", [{"noise": "t"}, {"mismatch_rate": 0.2}])
def test_a_law_or_a_rate_that_is_asked_for_is_used_beside_codes(options):
    model, _ = fit(*table(0, n_moved=60), CODES, pairing="mostly-right", **options)
    assert model.start_ == "labels as given" and 0.1 < model.mismatch_rate_ < 0.3
    assert "isolated labels" in reasons(model) and model.verdict_.level == "caution"


@pytest.mark.parametrize("seed", range(4))
def test_no_fit_inside_groups_is_trusted_beside_a_code(seed):
    data = make_shuffled_regression(
        400, 3, noise=0.5, shuffle="groups", n_groups=50, group_by="random", random_state=seed
    )
    y = data.y.copy()
    y[seed] = 9999.0
    model = ShuffledRegressor(random_state=0).fit(data.X, y, groups=data.groups)
    assert reasons(model)["isolated labels"].text.startswith("1 label lies ")
    assert model.verdict_.level != "trust"


def test_a_known_order_is_least_squares_whatever_the_labels():
    X, y = table(0)
    model, given = fit(X, y, CODES, pairing="known")
    assert np.array_equal(model.coef_, as_given(X, given))
    assert "isolated labels" not in reasons(model)
