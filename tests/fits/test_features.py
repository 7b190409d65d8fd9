"""Features chosen by the lasso path of expected labels and held-out groups."""

import numpy as np
import pytest
import sklearn
from sklearn.linear_model import lasso_path
from sklearn.pipeline import make_pipeline

from unshuffle import ShuffledFeatureSelector, ShuffledRegressor
from unshuffle.data.problem import make_problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.estimators._lasso_path import supports


def sparse(seed=0, n=120, n_groups=30, n_noise=3):
    data = make_shuffled_regression(
        n, 2, noise=0.3, shuffle="groups", n_groups=n_groups, random_state=seed
    )
    rng = np.random.default_rng(seed)
    X = np.hstack([data.X, rng.normal(size=(n, n_noise))])
    columns = rng.permutation(X.shape[1])
    return X[:, columns], data.y, data.groups, columns < 2


def test_supports_are_those_of_coordinate_descent():
    rng = np.random.default_rng(3)
    X, groups = rng.normal(size=(60, 5)) * [1, 10, 0.1, 1, 1], np.arange(60) // 4
    y = X @ [1.0, 0.2, 5.0, 0.0, 0.1] + rng.normal(size=60)
    problem = make_problem(X, y, groups, np.zeros(60, dtype=bool))
    found = supports(problem, y, 5)
    assert [len(columns) for columns in found] == [0, 1, 2, 3, 4, 5]
    scaled = (X - X.mean(axis=0)) / X.std(axis=0)
    top = np.abs(scaled.T @ (y - y.mean())).max() / 60
    _, path, _ = lasso_path(scaled, y - y.mean(), alphas=top * np.geomspace(1.01, 1e-4, 2000))
    for columns in found:
        assert any(set(np.flatnonzero(c)) == set(columns) for c in path.T)


def test_a_constant_feature_never_comes_in():
    rng = np.random.default_rng(0)
    X = np.column_stack([np.ones(20), rng.normal(size=20)])
    problem = make_problem(X, X[:, 1], np.arange(20) // 2, np.zeros(20, dtype=bool))
    assert [list(columns) for columns in supports(problem, X[:, 1], 2)] == [[], [1], [1]]


@pytest.mark.parametrize("seed", [0, 1])
def test_features_that_say_nothing_are_left_out(seed):
    X, y, groups, matters = sparse(seed)
    selector = ShuffledFeatureSelector(cv=3, random_state=0).fit(X, y, groups=groups)
    assert np.array_equal(selector.support_, matters)
    results = selector.cv_results_
    assert selector.chosen_index_ == selector.n_features_ == 2
    assert results["gain"][2] > results["gain"][1] > results["gain"][0]


def test_unrelated_labels_choose_no_feature():
    X, y, groups, _ = sparse()
    unrelated = np.random.default_rng(9).normal(size=len(y))
    selector = ShuffledFeatureSelector(cv=3, random_state=0).fit(X, unrelated, groups=groups)
    assert selector.n_features_ == 0


def test_threads_do_not_matter():
    X, y, groups, _ = sparse(n=80, n_groups=20, n_noise=1)
    one, two = (
        ShuffledFeatureSelector(cv=2, random_state=0, n_jobs=n).fit(X, y, groups=groups)
        for n in (1, 2)
    )
    assert np.array_equal(one.cv_results_["gain_by_fold"], two.cv_results_["gain_by_fold"])


def test_a_pipeline_passes_groups_on():
    X, y, groups, matters = sparse(n=80, n_groups=20, n_noise=1)
    with sklearn.config_context(enable_metadata_routing=True):
        steps = make_pipeline(
            ShuffledFeatureSelector(cv=2, max_features=2, random_state=0),
            ShuffledRegressor(random_state=0),
        ).fit(X, y, groups=groups)
    assert steps[1].n_features_in_ == matters.sum()


def test_few_groups_are_refused():
    X, y, _, _ = sparse()
    with pytest.raises(ValueError, match="1 groups are too few"):
        ShuffledFeatureSelector().fit(X, y)
