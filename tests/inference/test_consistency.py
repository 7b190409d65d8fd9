"""A fit with mismatches beside what needs no law of the noise."""

import numpy as np
import pytest
import statsmodels.api as sm

from unshuffle.families.least_squares import LeastSquares
from unshuffle.families.noise import noise_pull
from unshuffle.inference.consistency import compare_with_least_squares, slope_among_mismatched
from unshuffle.inference.expected_labels import expected_label_covariance
from unshuffle.kernels.noise import NoiseLaw


@pytest.fixture
def table():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 3))
    return X, X @ [1.0, 0.5, -1.0] + rng.normal(size=200)


def test_least_squares_divided_by_the_share_of_matches_is_consistent(table):
    X, y = table
    solver = LeastSquares(X, fit_intercept=True)
    fitted = solver.solve(y).fitted
    distance, p_value = compare_with_least_squares(solver.basis(), y, fitted / 0.8, 0.2)
    assert distance < 1e-10
    assert p_value > 1 - 1e-6
    distance, p_value = compare_with_least_squares(solver.basis(), y, 1.5 * fitted, 0.0)
    assert distance == pytest.approx(0.5)
    assert p_value < 1e-6


def test_the_p_value_is_that_of_a_robust_wald_test(table):
    X, y = table
    solver = LeastSquares(X, fit_intercept=True)
    other = X @ [0.9, 0.6, -1.0]
    distance, p_value = compare_with_least_squares(solver.basis(), y, other, 0.0)
    fit = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC3")
    restriction = np.eye(4)[1:]
    plain = fit.wald_test((restriction, np.array([0.9, 0.6, -1.0])), use_f=True, scalar=True)
    assert p_value == pytest.approx(float(plain.pvalue), rel=1e-6)
    assert distance > 0


def test_the_p_value_holds_with_few_rows_and_long_tails():
    """A right fit is called inconsistent in one of twenty tables, or less often."""
    few, as_before, coef = 0, 0, np.array([1.0, -0.5, 0.5, 1.0, -1.0, 0.3])
    for seed in range(400):
        rng = np.random.default_rng(seed)
        X = rng.exponential(size=(60, 6))
        y = X @ coef + rng.normal(size=60)
        basis = LeastSquares(X, fit_intercept=True).basis()
        few += compare_with_least_squares(basis, y, X @ coef, 0.0)[1] < 0.05
        fit = sm.OLS(y, sm.add_constant(X)).fit(cov_type="HC1")
        wald = fit.wald_test((np.eye(7)[1:], coef), use_f=False, scalar=True)
        as_before += float(wald.pvalue) < 0.05
    limit = 400 * 0.05 + 4.5 * (400 * 0.05 * 0.95) ** 0.5
    assert few < limit
    assert as_before > limit  # the control: HC1 with a χ² law


def test_the_slope_among_mismatched_rows_is_zero_or_one():
    rng = np.random.default_rng(1)
    fitted = rng.normal(size=4000)
    y = fitted + 0.1 * rng.normal(size=4000)
    matched = np.where(np.arange(4000) < 2000, 1.0, 0.0)
    assert slope_among_mismatched(y, fitted, matched) == pytest.approx(1.0, abs=0.02)
    y[2000:] = rng.permutation(y[2000:])
    # Its standard error is 1 / sqrt(2000).
    assert abs(slope_among_mismatched(y, fitted, matched)) < 4.5 / 2000**0.5
    assert np.isnan(slope_among_mismatched(y, fitted, np.ones(4000)))


def test_without_mismatches_the_covariance_is_hc1(table):
    X, y = table
    n = len(y)
    solver = LeastSquares(X, fit_intercept=True)
    residual = y - solver.solve(y).fitted
    basis = np.column_stack([np.full(n, n**-0.5), solver.basis()])
    ones, law = np.ones(n), NoiseLaw(np.ones(1), np.zeros(1), np.ones(1))
    found = expected_label_covariance(
        basis, residual, residual, noise_pull(residual, law), ones, ones
    )
    plain = sm.OLS(y, basis).fit(cov_type="HC1").cov_params()
    np.testing.assert_allclose(found.theta, plain, rtol=1e-9, atol=1e-12)
    assert found.fraction_kept == pytest.approx(1.0)


def test_the_pull_of_normal_noise_is_its_square():
    law = NoiseLaw(np.ones(1), np.zeros(1), np.full(1, 2.0))
    u = np.array([-3.0, 0.0, 1.0])
    np.testing.assert_allclose(noise_pull(u, law), u**2 / 4.0)
