"""The noise that EM starts with at given coefficients."""

import numpy as np
import pytest

from unshuffle import StochasticEMRegressor, Streaming
from unshuffle.alignment.hard import most_likely_permutation
from unshuffle.data.problem import make_problem

COEF, NOISE, N, SIZE = np.array([1.0, -2.0]), 0.5, 6_000, 300
# Labels vary by that of the fitted values, by that of the noise, and by twice their product, which
# is random: 4.5 standard errors of it.
TOLERANCE = 4.5 * np.linalg.norm(COEF) / (NOISE * N**0.5)


@pytest.fixture(scope="module", params=[0.0, 5.0])
def lost(request):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 2))
    y = request.param + X @ COEF + NOISE * rng.normal(size=N)
    y = rng.permuted(y.reshape(-1, SIZE), axis=1).ravel()
    return X, y, np.repeat(np.arange(N // SIZE), SIZE), request.param


@pytest.mark.parametrize("streaming", ["never", Streaming()])
def test_given_coefficients_start_with_the_noise_that_belongs_to_them(lost, streaming):
    X, y, groups, shift = lost
    model = StochasticEMRegressor(
        init=COEF, tol=0, max_iter=1, random_state=0, streaming=streaming
    ).fit(X, y, groups=groups)
    assert model.noise_scale_ == pytest.approx(NOISE, rel=TOLERANCE)
    assert model.intercept_ == pytest.approx(shift, abs=0.1)


def test_the_best_match_would_start_with_too_little_noise(lost):
    X, y, groups, shift = lost
    problem = make_problem(X, y, groups, np.zeros(N, dtype=bool))
    fitted = problem.arrange(shift + X @ COEF)
    matched = problem.y[most_likely_permutation(problem, fitted)]
    assert np.std(matched - fitted) < 0.5 * NOISE


def test_without_an_intercept_labels_far_from_zero_are_not_noise():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(N, 2)) + np.array([3.0, -2.0])
    y = X @ COEF + NOISE * rng.normal(size=N)
    y = rng.permuted(y.reshape(-1, SIZE), axis=1).ravel()
    model = StochasticEMRegressor(
        init=COEF, fit_intercept=False, tol=0, max_iter=1, random_state=0
    ).fit(X, y, groups=np.repeat(np.arange(N // SIZE), SIZE))
    assert model.noise_scale_ == pytest.approx(NOISE, rel=TOLERANCE)
