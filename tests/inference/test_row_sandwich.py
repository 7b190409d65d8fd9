"""Robust standard errors where the order given is mostly right."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor
from unshuffle.data.problem import make_problem
from unshuffle.em.memory import start_from_labels
from unshuffle.families.least_squares import LeastSquares
from unshuffle.inference import sandwich
from unshuffle.inference.row_sandwich import row_sandwich


def linked(seed, scale, n=600):
    """40 % of the labels of one half of the rows, whose first feature is larger, are exchanged."""
    rng = np.random.default_rng(seed)
    X, many = rng.normal(size=(n, 2)), np.arange(n) % 2 == 0
    X[many, 0] += 0.5
    y = X @ [1.0, -0.5] + scale(X) * rng.normal(size=n)
    moved = np.flatnonzero(rng.random(n) < np.where(many, 0.4, 0.1))
    y[moved] = y[np.roll(moved, 1)]
    return X, y, np.where(many, 0.6, 0.9)


def errors(model, method):
    return np.sqrt(np.diag(model.covariance(method)))


@pytest.fixture(scope="module")
def fits():
    """Three sets with noise of one spread."""
    fits = []
    for seed in range(3):
        X, y, prob = linked(seed, lambda X: 1.0)
        fits.append(StochasticEMRegressor(random_state=seed).fit(X, y, match_prob=prob))
    return fits


def test_with_noise_of_one_spread_it_is_the_model_s(fits):
    """Squares of expected scores of rows would make errors of the intercept a quarter smaller."""
    ratio = np.mean([errors(m, "sandwich") / errors(m, "information") for m in fits], axis=0)
    np.testing.assert_allclose(ratio, 1.0, atol=0.12)
    # No permutation changes the mean of the labels.
    for model in fits:
        assert errors(model, "sandwich")[0] >= 0.98 * model.noise_scale_ / np.sqrt(600)


def test_noise_that_grows_with_a_feature_is_found():
    X, y, prob = linked(0, lambda X: 0.7 * np.abs(X[:, 1]))
    model = StochasticEMRegressor(random_state=0).fit(X, y, match_prob=prob)
    assert model.covariance_type_ == "robust"
    ratio = errors(model, "sandwich") / errors(model, "information")
    assert ratio[2] > 1.2


def test_where_nothing_is_lost_it_is_hc1():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3))
    y = X @ [1.0, 0.5, 0.0] + np.abs(X[:, 0]) * rng.normal(size=80)
    problem = make_problem(X, y, np.zeros(80, dtype=int), np.zeros(80, dtype=bool))
    solver = LeastSquares(X, fit_intercept=True)
    state = start_from_labels(problem, solver, problem.y)
    A = np.column_stack([np.ones(80), X])
    residual = y - state.fitted
    nothing = sandwich.nothing_lost(problem, solver)
    found = row_sandwich(problem, solver, state, nothing, None).covariance
    bread = np.linalg.inv(A.T @ A)
    expected = bread @ (A.T * residual**2) @ A @ bread * 80 / 76
    np.testing.assert_allclose(found.coef, expected, rtol=1e-9)
