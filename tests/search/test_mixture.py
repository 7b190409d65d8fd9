"""The mixture against direct numerical maximisation, and its start."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import gaussian_kde, norm
from sklearn.linear_model import HuberRegressor

from unshuffle import MixtureRegressor
from unshuffle.alignment.density import kernel_density
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.search.robust import WeightedFit, huber


@pytest.fixture
def data():
    return make_shuffled_regression(
        400, 3, noise=0.4, shuffle="fraction", fraction=0.25, intercept=2.0, random_state=3
    )


def direct(data, known_rate=None):
    """Maximise the mean log density over (intercept, coefficients, log noise, logit rate)."""
    density = kernel_density(data.y)

    def loss(parameters):
        fitted = parameters[0] + data.X @ parameters[1:4]
        rate = known_rate or 1 / (1 + np.exp(-parameters[5]))
        own = norm.pdf(data.y, fitted, np.exp(parameters[4]))
        return -np.mean(np.log((1 - rate) * own + rate * density))

    start = [data.intercept, *data.coef, np.log(0.4), -1.0]
    answer = minimize(loss, start, method="BFGS", options={"gtol": 1e-9})
    answer = minimize(loss, answer.x, method="Nelder-Mead",
                      options={"xatol": 1e-9, "fatol": 1e-14, "maxiter": 20_000})  # fmt: skip
    x = answer.x
    return x[0], x[1:4], np.exp(x[4]), known_rate or 1 / (1 + np.exp(-x[5])), -answer.fun


@pytest.mark.parametrize("rate", [None, 0.4])
def test_agrees_with_direct_maximisation(data, rate):
    model = MixtureRegressor(mismatch_rate=rate or "estimate", tol=1e-13, max_iter=5000)
    model.fit(data.X, data.y)
    intercept, coef, noise, found_rate, level = direct(data, rate)
    np.testing.assert_allclose(model.coef_, coef, atol=1e-4)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-4)
    assert model.noise_scale_ == pytest.approx(noise, abs=1e-4)
    assert model.mismatch_rate_ == pytest.approx(found_rate, abs=1e-4)
    assert model.mean_log_density_ == pytest.approx(level, abs=1e-6)


def test_density_agrees_with_scipy():
    values = np.concatenate([np.random.default_rng(0).normal(size=300), [4.0, 5.0]])
    low, high = np.quantile(values, [0.25, 0.75])
    bandwidth = 0.9 * min(values.std(), (high - low) / 1.34) * len(values) ** -0.2
    reference = gaussian_kde(values, bw_method=bandwidth / values.std(ddof=1))(values)
    np.testing.assert_allclose(kernel_density(values), reference, rtol=0.01)


@pytest.mark.parametrize(
    "values", [np.arange(5.0), np.r_[np.zeros(50), 1.0], np.r_[np.arange(50.0), 1e9]]
)
def test_density_stays_positive_and_finite(values):
    density = kernel_density(values)
    assert np.all(np.isfinite(density))
    assert np.all(density > 0)


def test_huber_is_close_to_scikit_learns(data):
    weighted = WeightedFit(LeastSquares(data.X, fit_intercept=True), data.y)
    ours = huber(weighted, weighted.fit())
    theirs = HuberRegressor(epsilon=1.345, alpha=0).fit(data.X, data.y).predict(data.X)
    # Theirs estimates the scale together with the coefficients, ours by the median.
    assert np.sqrt(np.mean((ours - theirs) ** 2)) < 0.1 * np.std(data.y)


def test_match_probabilities_are_calibrated(data):
    model = MixtureRegressor().fit(data.X, data.y)
    right = data.permutation == np.arange(400)
    assert model.match_proba_[right].mean() > 0.85
    assert model.match_proba_[~right].mean() < 0.5  # some wrong labels fit as well
    # The number of right labels is a sum of coins with these probabilities.
    p = model.match_proba_
    error = 4.5 * np.sqrt(np.sum(p * (1 - p)))
    assert abs(p.sum() - right.sum()) < error
    assert abs(len(p) - right.sum()) > error  # the control: all labels right
    assert model.mismatch_rate_ == pytest.approx(np.mean(~right), abs=error / len(p))


def test_known_rows_and_given_probabilities(data):
    known = data.permutation == np.arange(400)
    model = MixtureRegressor().fit(data.X, data.y, known=known)
    assert np.all(model.match_proba_[known] == 1)
    assert model.mismatch_rate_ > 0.85
    right, wrong = np.where(known, 0.99, 0.01), np.where(known, 0.01, 0.99)
    error = [
        np.linalg.norm(MixtureRegressor().fit(data.X, data.y, match_prob=p).coef_ - data.coef)
        for p in (right, None, wrong)
    ]
    assert error[0] < error[1]
    assert error[2] > 10 * error[1]  # the control: probabilities that are wrong do harm
