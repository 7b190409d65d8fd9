"""Sandwich of fits of families: against other programs, by hand, and where the model is wrong."""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.duration.hazard_regression import PHReg

from unshuffle import ShuffledCoxRegressor, ShuffledRegressor
from unshuffle.data.problem import make_problem
from unshuffle.families.cox import Times
from unshuffle.fits.glm.covariance import sandwich
from unshuffle.fits.glm.cox_model import CoxModel
from unshuffle.fits.glm.data import arrange_data
from unshuffle.fits.glm.known import fit_known_times
from unshuffle.fits.glm.robust import profile_scores, robust_of_known_times


def counts(n=300, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    mean = np.exp(0.5 + X @ [0.8, -0.5])
    return X, rng.negative_binomial(2.0, 2.0 / (2.0 + mean)).astype(float)


def times(n=300, rate=0.0, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    time, limit = rng.exponential(np.exp(-X @ [1.0, -0.5])), rng.uniform(0, 7.5, size=n)
    y = np.column_stack([time <= limit, np.round(np.minimum(time, limit), 2) + 0.01])
    moved = rng.choice(n, round(rate * n), replace=False)
    y[moved] = y[rng.permutation(moved)]
    return X, y


def test_counts_in_known_order_equal_statsmodels():
    X, y = counts()
    model = ShuffledRegressor(family="poisson", pairing="known").fit(X, y)
    peer = sm.GLM(y, sm.add_constant(X), family=sm.families.Poisson())
    robust = peer.fit(tol=1e-14, cov_type="HC0").cov_params() * len(y) / (len(y) - 3)
    np.testing.assert_allclose(model.covariance("sandwich"), robust, rtol=1e-6)
    # The control: counts vary more than Poisson's.
    errors = np.sqrt(np.diag(model.covariance("sandwich")))
    assert np.all(errors > 1.2 * model.standard_errors_)


def test_times_in_known_order_equal_statsmodels():
    X, y = times()
    model = ShuffledCoxRegressor(pairing="known").fit(X, y)
    peer = PHReg(y[:, 1], X, status=y[:, 0], ties="breslow").fit(groups=np.arange(len(y)))
    n, k = X.shape
    ours = model.covariance("sandwich") * (n - k) / n
    np.testing.assert_allclose(ours, peer.cov_params(), rtol=1e-5)
    assert np.abs(model.covariance_ / peer.cov_params() - 1).max() > 0.01  # the control


def test_times_without_mismatches_have_the_scores_of_known_order():
    X, y = times(150)
    problem = make_problem(X, y[:, 1], np.zeros(len(y), dtype=int), np.zeros(len(y), dtype=bool))
    data = arrange_data(problem, fit_intercept=False, event=y[:, 0])
    found = Times(data.y, y[:, 0])
    known = fit_known_times(data, found)
    model = CoxModel(data, found, known.jumps, 1e-9)
    model.sharpen()
    scores = profile_scores(model, known.theta)
    np.testing.assert_allclose(
        sandwich(known.covariance, scores, 2),
        robust_of_known_times(data, found, known),
        rtol=1e-4,
    )
    wrong = sandwich(known.covariance, 1.1 * scores, 2)  # the control
    assert np.abs(wrong / robust_of_known_times(data, found, known) - 1).min() > 0.1


def test_times_with_mismatches():
    X, y = times(600, rate=0.2, seed=1)
    model = ShuffledCoxRegressor(pairing="mostly-right").fit(X, y)
    ratio = np.diff(model.conf_int(method="sandwich")) / np.diff(model.conf_int())
    assert np.all(np.abs(np.log(ratio)) < 0.3)
    # Every row twice says nothing new, and the sandwich of the rows as given halves.
    twice = ShuffledCoxRegressor(pairing="mostly-right").fit(
        X, y, sample_weight=np.full(len(y), 2.0)
    )
    assert np.all(twice.standard_errors_ < 0.8 * model.standard_errors_)
    np.testing.assert_allclose(
        np.diag(twice.covariance("sandwich")), np.diag(model.covariance("sandwich")), rtol=0.02
    )


@pytest.mark.parametrize("rate", [0.0, 0.2])
def test_scores_sum_to_zero(rate):
    X, y = times(200, rate=rate, seed=2)
    problem = make_problem(X, y[:, 1], np.zeros(len(y), dtype=int), np.zeros(len(y), dtype=bool))
    data = arrange_data(problem, fit_intercept=False, event=y[:, 0])
    found = Times(data.y, y[:, 0])
    model = CoxModel(data, found, fit_known_times(data, found).jumps)
    model.sharpen()
    at = model.pack(np.array([0.9, -0.4]), 0.2)
    total = profile_scores(model, at).sum(axis=0)
    np.testing.assert_allclose(total, model.evaluate(at).gradient, atol=1e-3)


def test_summaries_with_robust_errors():
    X, y = counts()
    model = ShuffledRegressor(family="poisson", pairing="known").fit(X, y)
    robust = model.summary(covariance="robust")
    low, high = model.conf_int(method="sandwich")[1]
    line = robust.to_dict()["coefficients"]["x0"]["unshuffle"]
    assert (line["low"], line["high"]) == pytest.approx((low, high))
    assert "robust (as asked)" in str(robust)
    plain = model.summary(covariance="model").to_dict()["coefficients"]["x0"]["unshuffle"]
    assert plain["high"] - plain["low"] < 0.9 * (high - low)
    with pytest.raises(ValueError, match="covariance must be"):
        model.summary(covariance="x")
