"""Slopes between and within blocks against dummies, block means and leaving out blocks one by one."""

import numpy as np
import pytest
import statsmodels.api as sm
from statsmodels.stats.multitest import multipletests

from unshuffle.inference.block_tests import (
    compare_slopes,
    distance,
    holm,
    hotelling_p_value,
    weaker_p_value,
)
from unshuffle.inference.blocks import BlockSlopes, block_slopes
from unshuffle.inference.settings import BlockSettings

QUICK = BlockSettings(draws=199)


def draw(seed=0, n_blocks=30, d=2, exchanged=0.0, coef=1.0, contextual=0.0):
    """Blocks of 1 to 11 rows, in random order; some labels permuted inside blocks."""
    rng = np.random.default_rng(seed)
    codes = rng.permutation(np.repeat(np.arange(n_blocks), 1 + np.arange(n_blocks) % 11))
    n = len(codes)
    means = rng.normal(size=(n_blocks, d))
    X = means[codes] + rng.normal(size=(n, d))
    noise = rng.standard_t(3, n) * (0.3 + 0.3 * np.abs(X[:, 0])) + rng.normal(size=n_blocks)[codes]
    y = X @ np.full(d, coef) + contextual * means[codes, 0] + 0.5 * noise
    for block in range(n_blocks):
        rows = np.flatnonzero((codes == block) & (rng.random(n) < exchanged))
        y[rows] = y[rng.permutation(rows)]
    return X, y, codes


def slopes_of(X, y, codes):
    return block_slopes(X, y, codes, [f"x{j}" for j in range(X.shape[1])], range(len(X)))


def plain_slopes(X, y, codes):
    """Block means by weighted least squares, rows by least squares with one dummy per block."""
    kept, codes = np.unique(codes, return_inverse=True)
    sizes = np.bincount(codes)
    dummies = np.eye(len(kept))[codes]
    means, labels = dummies.T @ X / sizes[:, None], dummies.T @ y / sizes
    between = sm.WLS(labels, sm.add_constant(means), weights=sizes).fit().params[1:]
    within = sm.OLS(y, np.hstack([X, dummies])).fit().params[: X.shape[1]]
    return np.concatenate([between, within])


def test_slopes_are_those_of_block_means_and_of_dummies():
    X, y, codes = draw()
    found = slopes_of(X * [100.0, 0.01] + 5.0, 1000.0 * y - 3.0, codes)
    own = np.concatenate([found.between, found.within]) * np.tile(found.units, 2)
    expected = plain_slopes(X * [100.0, 0.01] + 5.0, 1000.0 * y - 3.0, codes)
    np.testing.assert_allclose(own, expected, rtol=1e-9)
    assert found.freedom == 30 - 3
    assert found.n_alone == np.sum(np.bincount(codes) == 1)


def test_covariance_is_that_of_leaving_out_blocks():
    X, y, codes = draw()
    found, full = slopes_of(X, y, codes), plain_slopes(X, y, codes)
    left = np.array(
        [plain_slopes(*(v[codes != g] for v in (X, y, codes))) - full for g in np.unique(codes)]
    )
    units = np.tile(found.units, 2)
    np.testing.assert_allclose(
        found.covariance * np.outer(units, units), left.T @ left, rtol=1e-8, atol=1e-12
    )


def test_standard_errors_between_are_hc3():
    X, y, codes = draw()
    codes = np.arange(len(y)) // 4  # blocks of one size: weights change nothing
    found = slopes_of(X[: 4 * 40], y[: 4 * 40], codes[: 4 * 40])
    means = X[:160].reshape(40, 4, 2).mean(axis=1)
    fit = sm.OLS(y[:160].reshape(40, 4).mean(axis=1), sm.add_constant(means)).fit(cov_type="HC3")
    own = np.sqrt(np.diag(found.covariance)[:2]) * found.units
    np.testing.assert_allclose(own, fit.bse[1:], rtol=1e-9)


def test_features_constant_within_blocks_are_held_constant_between_them():
    X, y, codes = draw()
    size = np.random.default_rng(1).normal(size=30)[codes]
    inside = X[:, 1] - (np.bincount(codes, X[:, 1]) / np.bincount(codes))[codes]
    found = slopes_of(np.column_stack([X[:, 0], size, inside]), y, codes)
    assert found.compared.tolist() == [0]
    means = [np.bincount(codes, v) / np.bincount(codes) for v in (X[:, 0], size, y)]
    design = sm.add_constant(np.column_stack(means[:2]))
    expected = sm.WLS(means[2], design, weights=np.bincount(codes)).fit().params[1]
    assert found.between[0] * found.units[0] == pytest.approx(expected)


def test_factor_and_interval_of_one_slope_are_fiellers():
    X, y, codes = draw(d=1, exchanged=0.5)
    slopes = slopes_of(X, y, codes)
    factor = compare_slopes(slopes, 0.9, 0, QUICK).factor
    (b,), (w,), V = slopes.between, slopes.within, slopes.covariance
    assert factor.value == pytest.approx(w / b)
    from scipy.stats import t as student

    limit = student.ppf(0.95, slopes.freedom) ** 2
    quadratic = [b**2 - limit * V[0, 0], -2 * (b * w - limit * V[0, 1]), w**2 - limit * V[1, 1]]
    np.testing.assert_allclose([factor.low, factor.high], np.sort(np.roots(quadratic)), rtol=1e-6)


def test_equality_is_a_wald_test_of_the_interactions():
    """y on X and block means: the slopes of the means are the differences (Mundlak)."""
    X, y, codes = draw(contextual=1.0)
    slopes = slopes_of(X, y, codes)
    difference = slopes.within - slopes.between
    L = np.hstack([-np.eye(2), np.eye(2)])
    wald = difference @ np.linalg.inv(L @ slopes.covariance @ L.T) @ difference
    assert 2 * distance(slopes, np.pi / 4) == pytest.approx(2 * wald)
    assert hotelling_p_value(3.7, 1, 20) == pytest.approx(
        2 * float(sm.stats.stattools.stats.t.sf(3.7**0.5, 20))
    )


def test_p_values_are_adjusted_as_by_holm():
    p = np.array([0.03, 0.001, 0.5, 0.04, 0.001])
    np.testing.assert_allclose(holm(p), multipletests(p, method="holm")[1])


def drawn_slopes(rng, between, within, spread=0.2, k=3):
    """Estimates with a known covariance: both tests in the limit of many blocks."""
    covariance = np.kron(np.diag([spread**2, spread**2 / 4]), np.eye(k))
    noise = rng.multivariate_normal(np.zeros(2 * k), covariance)
    units = np.ones(k)
    slopes = np.concatenate([np.full(k, between), np.full(k, within)]) + noise
    return BlockSlopes(np.arange(k), units, slopes[:k], slopes[k:], covariance, 10**6, 0, -0.1)


def rejected(between, within, n_sets=400):
    rng = np.random.default_rng(5)
    p = [weaker_p_value(drawn_slopes(rng, between, within), 0, QUICK) for _ in range(n_sets)]
    return np.mean(np.array(p) <= 0.05)


@pytest.mark.parametrize("slope", [0.0, 0.1, 1.0])
def test_equal_slopes_are_rejected_at_the_level_of_the_test(slope):
    """Also where the slopes are zero, so that there is no factor."""
    error = (0.05 * 0.95 / 400) ** 0.5
    assert rejected(slope, slope) <= 0.05 + 3.5 * error


def test_the_test_is_not_idle():
    """The controls: weaker slopes are found, stronger ones are not taken for weaker ones."""
    assert rejected(1.0, 0.5) > 0.8
    assert rejected(1.0, 1.5) < 0.05


@pytest.mark.long
@pytest.mark.parametrize("coef", [0.0, 1.0])
def test_size_with_heavy_tails_unequal_blocks_and_shared_noise(coef):
    n_sets = 300
    tests = [compare_slopes(slopes_of(*draw(s, coef=coef)), 0.95, s, QUICK) for s in range(n_sets)]
    error = (0.05 * 0.95 / n_sets) ** 0.5
    for p in (
        [t.p_weaker for t in tests],
        [t.p_equal for t in tests],
        [t.p_common for t in tests],
    ):
        assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3.5 * error


def test_labels_permuted_inside_blocks_are_found():
    """The control of all tests on size: slopes within near zero, and one factor for all."""
    tests = [compare_slopes(slopes_of(*draw(s, exchanged=1.0)), 0.95, s, QUICK) for s in range(20)]
    assert max(t.p_weaker for t in tests) < 0.05
    assert abs(np.mean([t.factor.value for t in tests])) < 0.1
    assert np.mean([t.p_common < 0.05 for t in tests]) <= 0.3


def test_an_effect_of_one_mean_is_no_common_factor():
    tests = compare_slopes(slopes_of(*draw(contextual=2.0)), 0.95, 0, QUICK)
    assert tests.p_equal < 0.01
    assert tests.p_common < 0.01
