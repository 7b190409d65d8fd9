"""Grouped synthetic sets and Boston behave as the mathematics says; see docs/method notes."""

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from unshuffle import HardEMRegressor, StochasticEMRegressor
from unshuffle.datasets import load_boston, make_shuffled_regression
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside
from unshuffle.metrics import coefficient_error

pytestmark = pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")


@pytest.mark.long
def test_small_groups_are_recovered_and_the_noise_is_right():
    errors, published, hard, ols, noise = [], [], [], [], []
    for seed in range(6):
        data = make_shuffled_regression(
            500, 5, noise=0.5, shuffle="groups", n_groups=50, group_by="random", random_state=seed
        )
        exact = StochasticEMRegressor(random_state=seed).fit(data.X, data.y, groups=data.groups)
        errors.append(coefficient_error(exact.coef_, data.coef))
        noise.append(exact.noise_scale_)
        fits = {
            "published": StochasticEMRegressor(variant="published", random_state=seed),
            "hard": HardEMRegressor(n_init=20, max_iter=200, random_state=seed),
        }
        for model in fits.values():
            model.fit(data.X, data.y, groups=data.groups)
        published.append(coefficient_error(fits["published"].coef_, data.coef))
        hard.append(coefficient_error(fits["hard"].coef_, data.coef))
        ols.append(coefficient_error(LinearRegression().fit(data.X, data.y).coef_, data.coef))
    assert np.mean(errors) < 0.1
    assert np.mean(ols) > 1.0
    assert np.mean(published) > 10 * np.mean(errors)
    assert np.mean(noise) == pytest.approx(0.5, rel=0.05)
    assert max(errors) < 2 * max(hard)


def test_published_variant_shrinks_on_fully_shuffled_data():
    """The labels lose their spread, and the answer has nothing to do with the truth."""
    data = make_shuffled_regression(500, 30, noise=1.0, random_state=0)
    model = StochasticEMRegressor(variant="published", random_state=0).fit(data.X, data.y)
    zero = np.linalg.norm(data.coef)
    hard = HardEMRegressor(n_init=50, random_state=0).fit(data.X, data.y)
    assert np.ptp(model.expected_labels_) < 0.8 * np.ptp(data.y)
    assert coefficient_error(model.coef_, data.coef) == pytest.approx(zero, rel=0.15)
    assert coefficient_error(hard.coef_, data.coef) > 1.1 * zero


@pytest.mark.long
def test_boston_in_four_zones_is_beyond_both_variants():
    boston = load_boston()
    y = boston.column("LSTAT")
    y = (y - y.min()) / np.ptp(y)
    X, medv = boston.without("LSTAT"), boston.column("MEDV")
    rmse = {"ols": [], "published": [], "exact": [], "known": []}
    for seed in range(5):
        rows = np.random.RandomState(seed).permutation(506)
        train, test = rows[101:], rows[:101]
        zones = cut_by_rank(medv[train], 4)
        labels = y[train][shuffle_inside(np.random.RandomState(seed), zones)]
        models = {
            "ols": LinearRegression().fit(X[train], labels),
            "known": LinearRegression().fit(X[train], y[train]),
        }
        for variant in ("published", "exact"):
            model = StochasticEMRegressor(variant=variant, random_state=seed)
            models[variant] = model.fit(X[train], labels, groups=zones)
        for name, model in models.items():
            rmse[name].append(np.sqrt(np.mean((model.predict(X[test]) - y[test]) ** 2)))
    mean = {name: np.mean(values) for name, values in rmse.items()}
    assert mean["known"] < mean["ols"] < mean["exact"]
    assert mean["published"] < mean["exact"]
    assert mean["published"] < 1.03 * mean["ols"]


def test_known_rows_help():
    data = make_shuffled_regression(300, 4, noise=0.3, random_state=1)
    known = np.arange(300) < 60
    y = data.y.copy()
    y[known] = data.y_ordered[known]
    y[~known] = np.random.default_rng(0).permutation(data.y_ordered[~known])
    blind = StochasticEMRegressor(random_state=0).fit(data.X, y)
    helped = StochasticEMRegressor(random_state=0, max_iter=300).fit(data.X, y, known=known)
    assert coefficient_error(helped.coef_, data.coef) < 0.15
    assert coefficient_error(blind.coef_, data.coef) > 0.5


def test_progress_bar_and_callback(capsys):
    data = make_shuffled_regression(50, 2, random_state=0)
    seen = []
    model = StochasticEMRegressor(
        tol=0, max_iter=4, verbose=1, callback=seen.append, random_state=0
    ).fit(data.X, data.y)
    assert [p.done for p in seen] == [1, 2, 3, 4]
    assert [p.objective for p in seen] == list(model.objective_path_)
    assert all(0 < p.acceptance_rate < 1 for p in seen)
    shown = capsys.readouterr()
    assert "objective" in shown.err
    assert "accepted" in shown.err
    assert shown.out == ""
    hard = []
    HardEMRegressor(n_init=7, callback=hard.append, random_state=0).fit(data.X, data.y)
    assert hard[-1].done == hard[-1].total == 7
    assert capsys.readouterr() == ("", "")
