"""Estimators follow the conventions of scikit-learn."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from unshuffle import (
    HardEMRegressor,
    MixtureRegressor,
    RankWarning,
    ShuffledRegressor,
    StochasticEMRegressor,
)
from unshuffle.datasets import make_shuffled_regression

pytestmark = pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")

# Short chains: what is checked here holds for any length.
ESTIMATORS = [
    StochasticEMRegressor(n_steps=5_000, random_state=0),
    StochasticEMRegressor(variant="published", random_state=0),
    HardEMRegressor(n_init=5, random_state=0),
    ShuffledRegressor(n_candidates=50, random_state=0),
]
names = ["exact", "published", "hard", "default"]
each = pytest.mark.parametrize("estimator", ESTIMATORS, ids=names)
mostly_right = [StochasticEMRegressor(mismatch_rate="estimate", n_steps=5_000, random_state=0)]
mostly_right += [MixtureRegressor()]


@pytest.mark.long
@pytest.mark.parametrize("estimator", ESTIMATORS + mostly_right, ids=[*names, "rate", "mixture"])
@pytest.mark.filterwarnings("ignore")
def test_every_check_of_sklearn_passes(estimator):
    results = check_estimator(estimator, on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "skipped"}
    assert len([r for r in results if r["status"] == "passed"]) > 40


@each
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_clone_and_pickle(estimator, grouped):
    model = clone(estimator).fit(grouped.X, grouped.y, groups=grouped.groups)
    again = pickle.loads(pickle.dumps(model))
    assert np.array_equal(again.predict(grouped.X), model.predict(grouped.X))
    fresh = clone(model)
    assert not hasattr(fresh, "coef_")
    assert fresh.get_params() == estimator.get_params()
    assert estimator.__class__.__name__ in fresh._repr_html_()


@each
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_every_documented_attribute_is_there(estimator, grouped):
    frame = pd.DataFrame(grouped.X, columns=list("abcd"))
    model = clone(estimator).fit(frame, grouped.y, groups=grouped.groups)
    documented = type(estimator).__doc__.split("Attributes\n")[1].split("Notes\n")[0]
    names = [
        name
        for line in documented.splitlines()
        if line.startswith("    ") and " : " in line and not line.startswith("     ")
        for name in line.split(" : ")[0].replace(" ", "").split(",")
    ]
    assert "coef_" in names
    assert "permutation_" in names
    if "published" in estimator.get_params().values():
        missing = {"match_proba_", "mismatch_rate_", "covariance_", "standard_errors_"}
        missing |= {"noise_scale_se_", "mismatch_rate_se_", "information_kept_", "error_inflation_"}
        missing |= {"covariance_type_", "covariance_pvalue_"}
        names = [name for name in names if name not in missing]
    # These are there only where the order given was used.
    order_used = getattr(model, "pairing_", "lost") == "mostly-right"
    if not order_used:
        names = [n for n in names if n not in {"noise_", "spread_by_fit_", "off_proba_"}]
    # With early_stopping, match_features or a choice by held-out groups alone.
    names = [n for n in names if n not in {"validation_scores_", "match_model_", "cv_results_"}]
    unmatched = {"match_share_", "match_share_se_", "n_pairs_", "n_labels_", "kept_rows_"}
    unmatched |= {"unmatched_rows_", "unmatched_rows_proba_"}
    unmatched |= {"unmatched_labels_", "unmatched_labels_proba_"}
    names = [n for n in names if n not in unmatched]  # where rows may have no label
    for name in names:
        assert hasattr(model, name), name
    learnt = {name for name in vars(model) if name.endswith("_")}
    assert learnt == set(names)


def test_pipeline_passes_groups_on(grouped):
    pipeline = make_pipeline(StandardScaler(), StochasticEMRegressor(random_state=0))
    pipeline.fit(grouped.X, grouped.y, stochasticemregressor__groups=grouped.groups)
    coef = pipeline[-1].coef_ / pipeline[0].scale_
    assert np.abs(coef - grouped.coef).max() < 0.1


@pytest.mark.long
def test_grid_search_routes_groups_to_splitter_and_estimator(grouped):
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(
            StochasticEMRegressor(random_state=0), {"max_iter": [50, 80]}, cv=GroupKFold(4)
        )
        search.fit(grouped.X, grouped.y, groups=grouped.groups)
    assert search.best_estimator_.n_groups_ == 40
    assert np.abs(search.best_estimator_.coef_ - grouped.coef).max() < 0.1


@pytest.mark.long
def test_data_frames_any_group_labels_and_names(grouped):
    frame = pd.DataFrame(grouped.X, columns=list("abcd"))
    reference = StochasticEMRegressor(random_state=0).fit(frame, grouped.y, groups=grouped.groups)
    assert list(reference.feature_names_in_) == list("abcd")
    names = [f"zone {g}" for g in grouped.groups]
    for groups in (
        names,
        np.array(names),
        pd.Series(names),
        pd.Categorical(names),
        [(g, "x") for g in grouped.groups],
        grouped.groups * 1.5,
        pd.to_datetime("2020-01-01") + pd.to_timedelta(grouped.groups, unit="D"),
        [g if g % 2 else str(g) for g in grouped.groups],
    ):
        model = StochasticEMRegressor(random_state=0)
        model.fit(frame, pd.Series(grouped.y), groups=groups)
        assert np.array_equal(model.coef_, reference.coef_)


def test_rank_deficient_columns_are_named(grouped):
    frame = pd.DataFrame(grouped.X, columns=list("abcd"))
    frame["e"] = frame["a"] - frame["c"]
    with pytest.warns(RankWarning, match="rank 4 of 5: columns 'a', 'c', 'e'"):
        model = StochasticEMRegressor(random_state=0).fit(frame, grouped.y, groups=grouped.groups)
    plain = StochasticEMRegressor(random_state=0).fit(grouped.X, grouped.y, groups=grouped.groups)
    np.testing.assert_allclose(model.predict(frame), plain.predict(grouped.X), atol=0.02)


def test_not_converged_warns_and_says_what_to_do(grouped):
    with pytest.warns(ConvergenceWarning, match="max_iter=3 iterations; raise max_iter"):
        model = StochasticEMRegressor(max_iter=3, random_state=0).fit(grouped.X, grouped.y)
    assert not model.converged_
    assert model.n_iter_ == 3


def test_tol_zero_runs_all_iterations_quietly(grouped):
    model = StochasticEMRegressor(tol=0, max_iter=7, random_state=0)
    model.fit(grouped.X, grouped.y, groups=grouped.groups)
    assert model.n_iter_ == 7
    assert model.coef_path_.shape == (7, 4)
    assert model.objective_path_.shape == (7,)


@each
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_groups_of_one_reproduce_linear_regression(estimator, fit_intercept, grouped):
    X, y = grouped.X + 3.0, grouped.y_ordered
    ols = LinearRegression(fit_intercept=fit_intercept).fit(X, y)
    model = clone(estimator).set_params(fit_intercept=fit_intercept)
    for more in ({"groups": np.arange(len(y))}, {"known": np.ones(len(y), dtype=bool)}):
        model.fit(X, y, **more)
        np.testing.assert_allclose(model.coef_, ols.coef_, rtol=0, atol=1e-10)
        assert abs(model.intercept_ - ols.intercept_) < 1e-10
        assert np.array_equal(model.permutation_, np.arange(len(y)))
        assert np.array_equal(model.expected_labels_, y)
        residual = y - ols.predict(X)
        freedom = len(y) - 4 - fit_intercept
        assert abs(model.noise_scale_ - np.sqrt(residual @ residual / freedom)) < 1e-10


@pytest.mark.long
@each
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_one_random_state_one_answer_for_any_threads(estimator):
    data = make_shuffled_regression(
        3000, 3, noise=0.5, shuffle="groups", n_groups=30, random_state=1
    )

    short = {"max_iter": 6} if "max_iter" in estimator.get_params() else {}

    def fit(n_jobs):
        model = clone(estimator).set_params(n_jobs=n_jobs, **short)
        return model.fit(data.X, data.y, groups=data.groups)

    one = fit(1)
    for other in (fit(2), fit(3)):
        assert np.array_equal(one.coef_, other.coef_)
        assert np.array_equal(one.expected_labels_, other.expected_labels_)
        assert np.array_equal(one.objective_path_, other.objective_path_)
    different = clone(estimator).set_params(random_state=1, **short)
    different.fit(data.X, data.y, groups=data.groups)
    least_squares = getattr(one, "start_", "") == "least squares"  # which draws nothing
    if not (isinstance(estimator, HardEMRegressor) or least_squares):
        assert not np.array_equal(one.coef_, different.coef_)


def test_files_do_not_hold_the_data():
    data = make_shuffled_regression(60, 2, noise=0.1, random_state=0)
    model = StochasticEMRegressor(random_state=0, tol=0.0).fit(data.X, data.y)
    assert model._kept_problem().X.shape == data.X.shape
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.coef_, model.coef_)
    with pytest.raises(ValueError, match="loaded from a file"):
        copy._kept_problem()
