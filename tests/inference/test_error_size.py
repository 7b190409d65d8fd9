"""The median error that standard errors imply, beside closed forms and simulated errors."""

import numpy as np
import pytest
from scipy.stats import chi2, f

from unshuffle import ShuffledRegressor
from unshuffle.inference.error_size import median_error


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
