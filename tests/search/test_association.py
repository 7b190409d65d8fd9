"""The association of labels with fitted values, against plain formulas and simulated labels."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from unshuffle.search.association import AssociationTable, scale_of
from unshuffle.search.association_fit import POWERS, associate
from unshuffle.search.curve import MeanCurve
from unshuffle.search.noise_model import NoiseModel
from unshuffle.search.rate_profile import profile_rate


def table_of(seed=0, n=300, powers=POWERS[1]):
    rng = np.random.default_rng(seed)
    m = rng.normal(size=n)
    return AssociationTable(scale_of(m), scale_of(m + rng.normal(size=n)), powers)


def exchanged(rng, y, share):
    rows = rng.permutation(len(y))[: round(share * len(y))]
    moved = y.copy()
    moved[rows] = y[rng.permutation(rows)]
    return moved


ANSWERS = np.arange(11.0)
POPULAR = np.array([6.0, 1.0, 1.0, 1.0, 1.0, 3.0, 1.0, 1.0, 1.0, 1.0, 4.0])


def answers(seed, share, n=1000):
    """Answers from 0 to 10, of which some are popular: noise with spikes that do not move."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    weight = POPULAR * np.exp(np.outer(0.25 * X[:, 0] - 0.15 * X[:, 1], ANSWERS))
    below = weight.cumsum(axis=1) / weight.sum(axis=1, keepdims=True)
    y = (below < rng.random((n, 1))).sum(axis=1).astype(float)
    return X, exchanged(rng, y, share)


def curve_of(X, y):
    return MeanCurve(X, y, np.array([0, len(y)]))


def test_ratio_has_mean_one_over_labels_and_over_rows():
    table = table_of()
    ratio = table.at(np.array([0.8, 0.1, -0.2, 0.05]), 0.1).ratio
    np.testing.assert_allclose(ratio @ table.labels.share, 1.0, rtol=1e-6)
    np.testing.assert_allclose(table.rows.share @ ratio, 1.0, rtol=1e-6)


def test_score_is_the_derivative_of_the_log_likelihood():
    table, theta, rate, step = table_of(), np.array([0.8, 0.1, -0.2, 0.05]), 0.2, 1e-4
    score = table.at(theta, rate).score
    for k in range(4):
        move = step * np.eye(4)[k]
        rise = (
            table.at(theta + move, rate).log_likelihood
            - table.at(theta - move, rate).log_likelihood
        )
        assert score[k] == pytest.approx(rise / (2 * step), rel=1e-3, abs=1e-2)
    rise = table.at(theta, rate + step).log_likelihood - table.at(theta, rate - step).log_likelihood
    assert score[4] == pytest.approx(rise / (2 * step), rel=1e-3)


def test_slope_is_the_derivative_of_the_log_ratio_at_given_labels():
    # b is that of the labels, so that only a follows the fitted value.
    table, theta = table_of(powers=POWERS[0]), np.array([0.9])
    point = table.at(theta, 0.1)
    m, t = table.rows.nodes, table.labels.nodes

    def log_ratio(m):
        weight = table.labels.share * np.exp(theta[0] * np.outer(m, t) + point.log_b)
        return theta[0] * np.outer(m, t) + point.log_b - np.log(weight.sum(axis=1))[:, None]

    plain = (log_ratio(m + 1e-5) - log_ratio(m - 1e-5)) / 2e-5
    expected = plain[table.rows.classes, table.labels.classes]
    np.testing.assert_allclose(table.slope(point), expected, atol=1e-6)


def test_normal_labels_have_the_ratio_of_normal_densities():
    rng = np.random.default_rng(3)
    n, noise = 40_000, 0.8
    m = rng.normal(size=n)
    y = m + noise * rng.normal(size=n)
    table = AssociationTable(scale_of(m), scale_of(y), POWERS[0])
    spread = np.hypot(1.0, noise)
    point = table.at(np.array([spread / noise**2]), 0.0)
    rows, labels = table.rows.nodes, spread * table.labels.nodes
    plain = norm.pdf(labels, rows[:, None], noise) / norm.pdf(labels, 0.0, spread)
    middle = slice(4, -4)  # classes at the ends are wide
    np.testing.assert_allclose(point.ratio[middle, middle], plain[middle, middle], rtol=0.1)


def test_equal_values_share_a_class():
    scale = scale_of(np.array([0.0] * 50 + list(range(1, 51))))
    assert len(set(scale.classes[:50])) == 1
    assert scale.share.sum() == pytest.approx(1.0)
    assert scale.share[scale.classes[0]] == pytest.approx(0.5)


def test_rate_of_labels_with_spikes():
    rates = np.array([associate(curve_of(*answers(seed, 0.3))).fit.rate for seed in range(12)])
    # The rates of twenty tables had a standard deviation of 0.056.
    assert abs(rates.mean() - 0.3) < 4.5 * 0.056 / np.sqrt(12)


@pytest.mark.long
def test_popular_answers_are_no_mismatches_and_a_law_of_the_noise_takes_them_for_some():
    curves = [curve_of(*answers(seed, 0.0)) for seed in range(20)]
    found = [associate(curve).p_value < 0.02 for curve in curves]
    assert sum(found) <= 3  # 0.4 expected; more than 3 has a probability of 0.0006
    by_law = [profile_rate(NoiseModel(curve)).p_value < 0.007 for curve in curves[:8]]
    assert sum(by_law) >= 3  # the control


def test_exchanged_answers_are_found():
    found = [associate(curve_of(*answers(seed, 0.3))).p_value < 0.02 for seed in range(10)]
    assert sum(found) >= 7


def test_upper_limit_lies_above_the_rate_and_below_one():
    found = associate(curve_of(*answers(0, 0.2)))
    assert found.fit.rate < found.upper_limit < 0.5


def test_expected_labels_lie_between_label_and_fitted_value():
    X, y = answers(1, 0.3)
    fit = associate(curve_of(X, y)).fit
    low, high = np.minimum(y, fit.fitted), np.maximum(y, fit.fitted)
    assert np.all((low - 1e-9 <= fit.expected(y)) & (fit.expected(y) <= high + 1e-9))
    assert np.all((fit.matched >= 0.0) & (fit.matched <= 1.0))


def test_nothing_to_associate():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    assert associate(curve_of(X, np.ones(60))) is None


@given(st.integers(0, 10_000), st.floats(0.01, 100.0), st.floats(-100.0, 100.0))
@settings(max_examples=10, deadline=None)
def test_units_of_the_labels_change_nothing(seed, factor, shift):
    X, y = answers(seed, 0.2, n=200)
    one, other = associate(curve_of(X, y)), associate(curve_of(X, factor * y + shift))
    assert other.statistic == pytest.approx(one.statistic, abs=1e-3)
    np.testing.assert_allclose(other.fit.matched, one.fit.matched, atol=1e-3)


def test_strong_associations_end():
    rng = np.random.default_rng(0)
    m = rng.normal(size=500)
    found = associate(curve_of(m[:, None], m + 1e-6 * rng.normal(size=500)))
    assert found.p_value > 0.02
    assert np.isfinite(found.fit.expected(m)).all()
