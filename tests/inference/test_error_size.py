"""The median error that standard errors imply, beside closed forms and simulated errors."""

import numpy as np
import pytest
from scipy.stats import chi2, f

from unshuffle import ShuffledRegressor
from unshuffle.families.least_squares import LeastSquares
from unshuffle.fits.as_given import r_squared, radius_of
from unshuffle.inference.error_size import error_by_mismatches, median_error


@pytest.mark.parametrize("d", [1, 2, 7])
def test_equal_variances_have_a_closed_form(d):
    expected = 0.3 * np.sqrt(chi2.median(d))
    assert median_error(0.09 * np.eye(d)) == pytest.approx(expected)


@pytest.mark.parametrize("seed", range(5))
def test_unequal_variances_are_near_simulated_errors(seed):
    rng = np.random.default_rng(seed)
    d = int(rng.integers(2, 9))
    root = rng.normal(size=(d, d)) * np.exp(rng.normal(size=d))
    lengths = np.linalg.norm(rng.normal(size=(40_000, d)) @ root.T, axis=1)
    # A Monte Carlo error of half a per cent, and what two moments leave of the distribution.
    assert median_error(root @ root.T) == pytest.approx(np.median(lengths), rel=0.03)


def test_axes_and_units_do_not_matter():
    rng = np.random.default_rng(0)
    variances = np.diag([0.1, 2.0, 5.0])
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = median_error(variances)
    assert median_error(axes @ variances @ axes.T) == pytest.approx(found)
    assert median_error(1e12 * variances) == pytest.approx(1e6 * found)


def test_no_error_and_no_covariance():
    assert median_error(np.zeros((2, 2))) == 0.0
    assert median_error(np.zeros((0, 0))) == 0.0
    assert np.isnan(median_error(np.full((2, 2), np.nan)))


def test_a_fit_reports_the_error_of_its_standard_errors():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(400, 3)) * [1.0, 10.0, 0.1] + 5.0
    y = X @ [1.0, -0.2, 5.0] + 0.5 * rng.normal(size=400)
    y[:100] = rng.permutation(y[:100])
    model = ShuffledRegressor(random_state=0).fit(X, y)
    reason = next(r for r in model.verdict_.reasons if r.check == "expected error")

    draws = rng.multivariate_normal(np.zeros(3), model.covariance()[1:, 1:], size=20_000)
    median = np.median(np.linalg.norm(draws @ (X - X.mean(axis=0)).T, axis=1))
    radius = model.noise_scale_ * np.sqrt(3 * f.ppf(0.95, 3, 396))
    assert reason.value == pytest.approx(median / radius, rel=0.03)
    assert reason.threshold == 2.0


@pytest.mark.parametrize("rate", [0.1, 0.3, 0.5])
def test_error_by_mismatches_is_that_of_simulated_exchanges(rate):
    rng = np.random.default_rng(2)
    X = rng.normal(size=(20_000, 2))
    y = X @ [1.0, -0.5] + rng.normal(size=20_000)
    ordered = LeastSquares(X, fit_intercept=True)
    given, rows = y.copy(), np.arange(round(rate * len(y)))
    given[rows] = rng.permutation(y[rows])

    apart = ordered.solve(y).fitted - ordered.solve(given).fitted
    length = np.linalg.norm(ordered.solve(given).fitted - given.mean())
    radius = radius_of(ordered, given)
    expected = np.linalg.norm(apart) / length / radius
    found = error_by_mismatches(rate, radius, r_squared(ordered, given))
    # The slope of the exchanged labels is zero up to their standard deviation over the root of
    # their number.
    error = np.std(y) / np.linalg.norm([1.0, -0.5]) / np.sqrt(len(rows))
    assert found == pytest.approx(expected, rel=4.5 * error)
    assert error_by_mismatches(0.5 * rate, radius, 0.0) < 0.6 * expected  # the control


def test_error_by_mismatches_at_its_bounds():
    assert error_by_mismatches(0.0, 0.1, 0.5) == 0.0
    assert error_by_mismatches(1.0, 0.1, 0.5) == np.inf
    assert error_by_mismatches(np.nan, 0.1, 0.5) == np.inf
    # Labels that explain 81 % of their variance hold at most a tenth of mismatches.
    assert error_by_mismatches(0.1, 0.1, 0.81) == pytest.approx(1.0 / 0.9)
    assert error_by_mismatches(0.4, 0.1, 0.81) == pytest.approx(1.0 / 0.9)
    assert error_by_mismatches(0.01, 0.0, 1.0) == 0.0  # labels without noise
