import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from unshuffle import ShuffledRegressor, StochasticEMRegressor
from unshuffle.data.problem import make_problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.metrics import coefficient_error, matched_mse
from unshuffle.search import order_test
from unshuffle.search.settings import OrderTestSettings

pytestmark = pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")


def fit(data, **settings):
    model = ShuffledRegressor(random_state=0, **settings)
    return model.fit(data.X, data.y, groups=data.groups)


def test_a_lost_order_is_told_and_undone():
    data = make_shuffled_regression(400, 5, noise=0.1, random_state=0)
    model = fit(data)
    assert model.pairing_ == "lost"
    assert model.pairing_pvalue_ > 0.05
    assert model.search_ == "population"
    assert model.null_pvalue_ < 0.01
    assert model.temper_ == 1.0
    assert coefficient_error(model.coef_, data.coef) < 0.1
    em = StochasticEMRegressor(random_state=0).fit(data.X, data.y)
    assert coefficient_error(em.coef_, data.coef) > 1.0


def test_a_mostly_right_order_is_told_and_used():
    data = make_shuffled_regression(
        400, 5, noise=0.5, shuffle="fraction", fraction=0.3, random_state=0
    )
    model = fit(data)
    assert model.pairing_ == "mostly-right"
    assert model.pairing_pvalue_ < 1e-6
    assert model.search_ == "none"
    told = StochasticEMRegressor(mismatch_rate="estimate", random_state=0).fit(data.X, data.y)
    assert coefficient_error(model.coef_, data.coef) == pytest.approx(
        coefficient_error(told.coef_, data.coef), rel=0.05
    )
    assert model.mismatch_rate_ == pytest.approx(0.3, abs=0.06)
    assert len(model.suspects()) > 50


def test_order_test_is_calibrated_on_shuffled_labels():
    p = []
    for seed in range(60):
        data = make_shuffled_regression(60, 3, noise=1.0, shuffle="groups", random_state=seed)
        model = ShuffledRegressor(search="none", random_state=seed)
        p.append(model.fit(data.X, data.y, groups=data.groups).pairing_pvalue_)
    # 60 uniform draws: 4.5 standard errors around the expected counts
    assert abs(np.mean(np.array(p) < 0.5) - 0.5) < 4.5 * 0.5 / np.sqrt(60)
    assert np.sum(np.array(p) < 0.01) <= 4


def test_hopeless_data_are_treated_with_caution():
    data = make_shuffled_regression(300, 20, noise=2.0, random_state=1)
    model = fit(data)
    assert model.null_pvalue_ > 0.05
    assert model.temper_ > 1.0 and model.ridge_ > 0.0
    assert coefficient_error(model.coef_, data.coef) < 1.1 * np.linalg.norm(data.coef)
    followed = fit(data, search="population")
    assert followed.temper_ == 1.0
    assert np.isnan(followed.null_pvalue_)
    assert coefficient_error(followed.coef_, data.coef) > coefficient_error(model.coef_, data.coef)


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


def test_known_rows_anchor_what_chance_cannot_explain():
    data = make_shuffled_regression(200, 12, noise=2.0, random_state=3)
    known = np.arange(200) < 60
    y = np.concatenate(
        [data.y_ordered[:60], np.random.default_rng(0).permutation(data.y_ordered[60:])]
    )
    model = ShuffledRegressor(pairing="lost", n_candidates=200, random_state=0)
    model.fit(data.X, y, known=known)
    alone = LinearRegression().fit(data.X[:60], y[:60])
    error = coefficient_error(model.coef_, data.coef)
    assert error < 1.2 * coefficient_error(alone.coef_, data.coef)
    assert model.start_ == "known rows"
    assert model.verdict_.level == "caution"
    assert "60 known rows" in str(model.verdict_)


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
    assert coefficient_error(model.coef_, data.coef) < 0.1
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
    assert coefficient_error(again.coef_, data.coef) < 0.1


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
    assert model.start_ in {"known rows", "match"}
    assert model.verdict_.level in {"trust", "caution"}


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
def test_columns_that_say_nothing_are_named(column):
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


def test_large_tables_need_few_shuffles_where_nothing_comes_near(monkeypatch):
    own = OrderTestSettings(large=1_000)
    rng, tried = np.random.default_rng(0), []
    X = rng.normal(size=(3_000, 3))
    y = X @ [1.0, 2.0, 0.5] + 0.3 * rng.normal(size=3_000)
    compare = order_test.p_value_from
    monkeypatch.setattr(
        order_test, "p_value_from", lambda *args: tried.append(args[3]) or compare(*args)
    )
    for labels in (y, rng.permutation(y)):
        problem = make_problem(X, labels, np.zeros(3_000, dtype=int), np.zeros(3_000, dtype=bool))
        solver = LeastSquares(X, fit_intercept=True)
        p_value = order_test.order_p_value(problem, solver, 0, own)
        assert (p_value < own.beyond_doubt) == (labels is y)
    assert tried == [own.few_shuffles, own.few_shuffles, own.shuffles]
