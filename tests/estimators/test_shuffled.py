"""The default estimator: what it decides, and how far its numbers are from the truth."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from unshuffle import ShuffledRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import coefficient_error, matched_mse

pytestmark = pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")


def fit(data, **settings):
    model = ShuffledRegressor(random_state=0, **settings)
    return model.fit(data.X, data.y, groups=data.groups)


def deviations(model, truth):
    """Errors of the coefficients in standard errors of the fit."""
    return np.abs(model.coef_ - truth) / model.standard_errors_[1:]


@pytest.mark.long
def test_a_lost_order_is_found_and_undone():
    data = make_shuffled_regression(400, 5, noise=0.1, random_state=0)
    model = fit(data)
    assert model.pairing_ == "lost"
    assert model.pairing_pvalue_ > 0.05
    assert model.search_ == "population"
    assert model.null_pvalue_ < 0.01
    assert model.temper_ == 1.0
    assert model.start_ == "match"
    assert deviations(model, data.coef).max() < 4.5
    assert coefficient_error(model.coef_, data.coef) < 0.05
    assert model.verdict_.level == "caution"
    assert "information kept" in str(model.verdict_)
    # The control: without the search the same data give other coefficients.
    em = StochasticEMRegressor(random_state=0).fit(data.X, data.y)
    assert coefficient_error(em.coef_, data.coef) > 1.0
    assert (np.abs(em.coef_ - data.coef) / model.standard_errors_[1:]).max() > 4.5


@pytest.fixture(scope="module")
def mostly_right():
    data = make_shuffled_regression(
        400, 5, noise=0.5, shuffle="fraction", fraction=0.3, random_state=0
    )
    return data, fit(data)


def test_a_mostly_right_order_is_found_and_used(mostly_right):
    data, model = mostly_right
    assert model.pairing_ == "mostly-right"
    assert model.pairing_pvalue_ < 1e-6
    assert model.search_ == "none"
    assert model.verdict_.level == "trust"
    declared = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
    declared.fit(data.X, data.y)
    np.testing.assert_array_equal(model.coef_, declared.coef_)
    assert deviations(model, data.coef).max() < 4.5
    # The control: least squares on the labels as given is not within these errors.
    as_given = LinearRegression().fit(data.X, data.y).coef_
    assert (np.abs(as_given - data.coef) / model.standard_errors_[1:]).max() > 4.5


def test_mismatches_are_counted_and_named(mostly_right):
    data, model = mostly_right
    moved = data.permutation != np.arange(400)
    assert abs(model.mismatch_rate_ - moved.mean()) < 4.5 * model.mismatch_rate_se_
    assert abs(0.0 - moved.mean()) > 4.5 * model.mismatch_rate_se_  # the control: no mismatch
    suspects = model.suspects()
    # Each suspect has its own label with a probability, so that the number that do is known to
    # the error of a sum of coins.
    p = suspects["match_proba"].to_numpy()
    own = (~moved)[suspects["row"].to_numpy()].sum()
    assert abs(own - p.sum()) < 4.5 * np.sqrt((p * (1 - p)).sum())
    assert np.all(p < 0.5)
    assert len(suspects) == (model.match_proba_ < 0.5).sum()


@pytest.mark.long
def test_hopeless_data_are_treated_with_caution():
    data = make_shuffled_regression(300, 20, noise=2.0, random_state=1)
    length, known_order = np.linalg.norm(data.coef), 2.0 * np.sqrt(20 / 300)
    model = fit(data)
    assert model.null_pvalue_ > 0.05
    assert model.temper_ > 1.0 and model.ridge_ > 0.0
    assert model.verdict_.level == "reject"
    # Shrunk to zero by less than the error of a fit with known order, and so no worse than zero.
    assert np.linalg.norm(model.coef_) < known_order
    assert coefficient_error(model.coef_, data.coef) < length + known_order
    # The control: the match, followed without that caution, is worse than zero.
    followed = fit(data, search="population")
    assert followed.temper_ == 1.0
    assert np.isnan(followed.null_pvalue_)
    assert coefficient_error(followed.coef_, data.coef) > length + known_order


def test_known_order_is_least_squares():
    data = make_shuffled_regression(80, 3, shuffle="swaps", n_swaps=0, random_state=0)
    plain = LinearRegression().fit(data.X, data.y)
    for model in (
        fit(data, pairing="known"),
        ShuffledRegressor().fit(data.X, data.y, known=np.ones(80, dtype=bool)),
        ShuffledRegressor().fit(data.X, data.y, groups=np.arange(80)),
    ):
        assert model.pairing_ == "known"
        np.testing.assert_allclose(model.coef_, plain.coef_)
        np.testing.assert_array_equal(model.permutation_, np.arange(80))


def test_known_rows_are_used_where_the_match_has_no_meaning():
    data = make_shuffled_regression(200, 12, noise=2.0, random_state=3)
    known = np.arange(200) < 60
    y = np.concatenate(
        [data.y_ordered[:60], np.random.default_rng(0).permutation(data.y_ordered[60:])]
    )
    model = ShuffledRegressor(pairing="lost", n_candidates=200, random_state=0)
    model.fit(data.X, y, known=known)
    alone = LinearRegression().fit(data.X[:60], y[:60])
    error = coefficient_error(model.coef_, data.coef)
    assert error < coefficient_error(alone.coef_, data.coef)
    assert deviations(model, data.coef).max() < 4.5
    assert model.start_ == "known rows"
    assert model.verdict_.level == "caution"
    assert "60 known rows" in str(model.verdict_)
    # The control: all labels as given, or zero, are further away.
    as_given = LinearRegression().fit(data.X, y)
    assert error < 0.5 * coefficient_error(as_given.coef_, data.coef)
    assert error < 0.5 * np.linalg.norm(data.coef)


def test_up_to_three_features_are_proved():
    data = make_shuffled_regression(100, 2, noise=0.3, coef=(1.2, 1.6), random_state=0)
    model = fit(data)
    assert model.certified_
    best = model.solution_objectives_[0]
    assert model.lower_bound_ <= best <= model.objective_
    assert model.lower_bound_ == pytest.approx(best, rel=1e-5)
    assert model.objective_ == pytest.approx(
        100 * matched_mse(model.predict(data.X), data.y), rel=1e-9
    )
    assert not fit(make_shuffled_regression(100, 4, noise=0.1, random_state=0)).certified_


def test_two_tables_that_share_a_group_key():
    data = make_shuffled_regression(
        300, 3, noise=0.1, shuffle="groups", n_groups=20, random_state=0
    )
    rng = np.random.default_rng(0)
    rows, labels = rng.permutation(300), rng.permutation(300)
    names = np.array([f"zone {g}" for g in data.groups])
    model = ShuffledRegressor(random_state=0).fit_unpaired(
        data.X[rows], data.y[labels], names[rows], names[labels]
    )
    assert deviations(model, data.coef).max() < 4.5
    assert coefficient_error(model.coef_, data.coef) < 0.02
    assert model.verdict_.level == "trust"
    assert sorted(model.permutation_) == list(range(300))
    assert np.all(names[labels][model.permutation_] == names[rows])
    assert model.pairing == "auto" and model.pairing_ == "lost"
    with pytest.raises(ValueError, match="no label was given beside a row"):
        model.suspects()
    residual = model.repair(data.y[labels]) - model.predict(data.X[rows])
    assert np.std(residual) < 0.2
    # the order of the label table means nothing
    again = ShuffledRegressor(random_state=0).fit_unpaired(
        data.X[rows], data.y, names[rows], list(names)
    )
    assert deviations(again, data.coef).max() < 4.5
    np.testing.assert_allclose(again.coef_, model.coef_, atol=model.standard_errors_.max())
    # The control: the tables side by side, as they were given, explain nothing.
    beside = LinearRegression().fit(data.X[rows], data.y[labels])
    assert (np.abs(beside.coef_ - data.coef) / model.standard_errors_[1:]).max() > 4.5


def test_two_tables_that_disagree_are_refused():
    X, y = np.random.default_rng(0).normal(size=(6, 2)), np.arange(5.0)
    with pytest.raises(ValueError, match=r"'b' has 3 rows and 2 labels"):
        ShuffledRegressor().fit_unpaired(X, y, list("aaabbb"), list("aaabb"))
    with pytest.raises(ValueError, match=r"'c' has 0 rows and 1 labels"):
        ShuffledRegressor().fit_unpaired(X[:5], y, list("aaabb"), list("aaabc"))
    with pytest.raises(ValueError, match="groups_y is missing"):
        ShuffledRegressor().fit_unpaired(X[:5], y, list("aaabb"))
    with pytest.raises(ValueError, match="X has 6 rows but y has 5 labels"):
        ShuffledRegressor().fit_unpaired(X, y)
    with pytest.raises(ValueError, match="groups_X has 2 entries for 6"):
        ShuffledRegressor().fit_unpaired(X, y, list("ab"), list("aaabb"))


def test_two_tables_with_groups_of_one():
    data = make_shuffled_regression(120, 3, noise=2.0, shuffle="swaps", n_swaps=0, random_state=0)
    single = np.arange(120)
    order = np.random.default_rng(0).permutation(120)
    model = ShuffledRegressor(random_state=0).fit_unpaired(
        data.X, data.y[order], single, single[order]
    )
    assert model.pairing_ == "known"
    np.testing.assert_array_equal(order[model.permutation_], single)
    keys = np.where(single < 60, single, -1)  # half of the rows in one large group
    model = ShuffledRegressor(n_candidates=50, random_state=0)
    model.fit_unpaired(data.X, data.y[order], keys, keys[order])
    assert model.start_ == "known rows"
    assert model.verdict_.level == "caution"
    assert "60 known rows" in str(model.verdict_)
    assert deviations(model, data.coef).max() < 4.5


def test_bad_input_is_named():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 3)), rng.normal(size=30)
    with pytest.raises(ValueError, match="n_candidates"):
        ShuffledRegressor(n_candidates=0).fit(X, y)
    with pytest.raises(ValueError, match="30 features"):
        ShuffledRegressor().fit(rng.normal(size=(20, 30)), y[:20])
    with pytest.raises(ValueError, match="minimum of 2"):
        ShuffledRegressor().fit(X[:1], y[:1])
    with pytest.raises(ValueError, match="leave out one of the two"):
        ShuffledRegressor(pairing="lost").fit(X, y, match_prob=np.full(30, 0.9))


@pytest.mark.parametrize("column", ["duplicated", "zero"])
def test_dependent_columns_are_named(column):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(60, 3)), rng.normal(size=60)
    X[:, 2] = X[:, 1] if column == "duplicated" else 0.0
    with pytest.warns(UserWarning, match="X has rank 2 of 3"):
        model = ShuffledRegressor(random_state=0).fit(X, y)
    assert np.all(np.isfinite(model.coef_))
    assert model.certified_


def test_features_that_are_all_constant_leave_the_mean():
    y = np.arange(10.0)
    with pytest.warns(UserWarning, match="rank 0"):
        model = ShuffledRegressor(random_state=0).fit(np.ones((10, 2)), y)
    np.testing.assert_allclose(model.predict(np.ones((3, 2))), 4.5)


def test_threads_and_repeats_give_the_same_bits():
    data = make_shuffled_regression(150, 4, noise=0.3, shuffle="groups", n_groups=3, random_state=0)
    one, two, again = (fit(data, n_jobs=k) for k in (1, 2, 1))
    for model in (two, again):
        np.testing.assert_array_equal(model.coef_, one.coef_)
        np.testing.assert_array_equal(model.null_scores_, one.null_scores_)


def test_progress_is_reported_through_search_and_iterations():
    seen = []
    data = make_shuffled_regression(100, 4, noise=0.3, random_state=0)
    fit(data, callback=seen.append)
    assert any(step.coef is None for step in seen)
    assert any(step.coef is not None for step in seen)
