"""Unequal counts that cannot be fitted, or nearly not."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor, ShuffledRegressorCV, StochasticEMRegressor

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(60, 2)), RNG.normal(size=60)


def fit(*data, **settings):
    settings = {"unmatched": "model", **settings}
    return ShuffledRegressor(n_candidates=100, random_state=0).fit_unpaired(*data, **settings)


def test_groups_of_one_side_only_are_left_out_and_counted():
    rows = np.repeat(["a", "b", "only rows"], [30, 20, 10])
    labels = np.repeat(["a", "b", "only labels"], [28, 22, 10])
    y = np.concatenate([X[:28] @ [1.0, 2.0], X[30:50] @ [1.0, 2.0], RNG.normal(size=12)])
    model = fit(X, y, rows, labels)
    assert model.unmatched_rows_proba_[50:].tolist() == [1.0] * 10
    assert model.unmatched_labels_proba_[50:].tolist() == [1.0] * 10
    assert "left out: 10 rows and 10 labels" in str(model.summary())
    assert np.abs(model.coef_ - [1.0, 2.0]).max() < 0.2


def test_too_few_pairs_for_the_coefficients():
    with pytest.raises(ValueError, match=r"at most 3 of 60 rows and 3 labels .* 3 coefficients"):
        fit(X, Y[:3])
    with pytest.raises(ValueError, match=r"at most 1\.2 of 60 rows"):
        fit(X, Y, match_share=0.02)
    with pytest.raises(ValueError, match=r"only 0\.5 of 60 rows can have a label"):
        fit(X, Y[:30], match_share=(0.9, 1.0))


def test_labels_that_belong_to_nobody_are_no_fit():
    """Labels far from all rows: the fit is refused or rejected, never trusted."""
    y = np.concatenate([RNG.normal(size=30), 1e6 + RNG.normal(size=30)])
    try:
        with pytest.warns(UserWarning, match="do not trust"):
            model = fit(X, y)
    except ValueError as error:
        assert "rows are expected to have a label" in str(error)
    else:
        assert model.verdict_.level == "reject"


@pytest.mark.parametrize("seed", [0])
def test_counts_that_differ_by_a_thousand(seed):
    rng = np.random.default_rng(seed)
    few, many = rng.normal(size=(12, 1)), rng.normal(size=12_000)
    with pytest.warns(UserWarning, match="do not trust"):
        model = fit(few, many)
    assert model.verdict_.level == "reject"
    assert len(model.unmatched_labels_) > 11_000


def test_missing_labels_without_the_setting_name_it():
    y = Y.copy()
    y[7] = np.nan
    for model in (ShuffledRegressor(), StochasticEMRegressor()):
        with pytest.raises(ValueError, match=r"the first in row 7;.*unmatched='model'"):
            model.fit(X, y)


def test_labels_that_are_no_labels():
    with pytest.raises(ValueError, match="all 60 labels are missing"):
        ShuffledRegressor().fit(X, np.full(60, np.nan), unmatched="model")
    with pytest.raises(ValueError, match="y holds infinity in row 3"):
        ShuffledRegressor().fit(X, np.where(np.arange(60) == 3, np.inf, Y), unmatched="model")
    with pytest.raises(ValueError, match=r"y holds nan at place 2; .* leave those lines out"):
        fit(X, np.where(np.arange(60) == 2, np.nan, Y))
    with pytest.raises(ValueError, match="all 40 labels equal 1"):
        fit(X, np.ones(40))
    with pytest.raises(ValueError, match="give one of the two"):
        ShuffledRegressor().fit(X, Y, match_prob=np.full(60, 0.9), unmatched="model")
    with pytest.raises(ValueError, match="one-dimensional"):
        fit(X, np.ones((40, 2)))


def test_features_are_checked_as_in_other_fits():
    wrong = X.copy()
    wrong[5, 1] = np.nan
    with pytest.raises(ValueError, match="row 5, column 1"):
        fit(wrong, Y[:50])
    with pytest.raises(ValueError, match="outside 1e-50 to 1e\\+50"):
        fit(X * 1e60, Y[:50])


def test_a_failed_fit_leaves_an_earlier_one_untouched():
    model = ShuffledRegressor(search="none", random_state=0).fit(X, X @ [1.0, 2.0])
    before = model.coef_.copy()
    with pytest.raises(ValueError, match="coefficients"):
        model.fit_unpaired(X, Y[:3], unmatched="model")
    np.testing.assert_array_equal(model.coef_, before)
    model.fit_unpaired(X, (X @ [1.0, 2.0])[:50], unmatched="model")
    assert hasattr(model, "match_share_")
    model.fit(X, X @ [1.0, 2.0])
    assert not hasattr(model, "match_share_")


def test_settings_are_not_chosen_by_groups_of_unequal_counts():
    with pytest.raises(ValueError, match="use ShuffledRegressor with unmatched='model'"):
        ShuffledRegressorCV().fit_unpaired(X, Y[:50], unmatched="model")


@pytest.mark.parametrize(
    "setting",
    [
        {"noise": "t"}, {"temper": 1.5}, {"ridge": 0.1}, {"alignment": "sinkhorn"},
        {"covariance_type": "robust"},
    ],
)  # fmt: skip
def test_settings_of_equal_counts_are_refused_not_ignored(setting):
    rng = np.random.default_rng(0)
    X, groups = rng.normal(size=(40, 1)), np.arange(40) // 4
    y = X[:, 0] + 0.1 * rng.normal(size=40)
    name, value = next(iter(setting.items()))
    model = ShuffledRegressor(random_state=0, **setting)
    with pytest.raises(ValueError, match=f"{name}={value!r} is for fits without unmatched='model'"):
        model.fit(X, y, groups, unmatched="model")
    with pytest.raises(ValueError, match="leave it at 'auto'"):
        model.fit_unpaired(X, y[1:], groups, groups[1:], unmatched="model")
