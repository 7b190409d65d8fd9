"""Least squares on averaged features: plain numpy and statsmodels as oracles."""

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.stats import binom

from unshuffle.data.problem import make_problem
from unshuffle.inference.mismatch_sensitivity import estimates_by_rate
from unshuffle.inference.settings import AveragingSettings

RATES = (0.0, 0.05, 0.2, 0.5, 0.9)


def draw(seed, n=120, d=3, n_groups=1, known_share=0.0):
    """Features far from zero, labels, groups in any order, known rows."""
    rng = np.random.default_rng(seed)
    codes = np.sort(rng.integers(0, n_groups, n))
    codes = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    mixed = rng.permutation(n)
    X = rng.normal(size=(n, d)) * np.geomspace(0.1, 100.0, d) + 50.0 + codes[mixed][:, None]
    y = X @ rng.normal(size=d) + rng.standard_t(3, size=n)
    return X, y, codes[mixed], rng.random(n) < known_share


def averaged(X, codes, known, rate):
    """The definition, row by row."""
    mixed = X.copy()
    for i in np.flatnonzero(~known):
        mates = (codes == codes[i]) & ~known
        mixed[i] = (1.0 - rate) * X[i] + rate * X[mates].mean(axis=0)
    return mixed


def estimates(X, y, codes, known, rates=RATES, **options):
    options = {"fit_intercept": True} | options
    return estimates_by_rate(make_problem(X, y, codes, known), rates, **options)


def one_group(seed, **options):
    X, y, _, _ = draw(seed, **options)
    return X, y, np.zeros(len(y), dtype=np.int64), np.zeros(len(y), dtype=bool)


def test_in_one_group_slopes_are_divided():
    X, y, codes, known = one_group(0)
    found = estimates(X, y, codes, known)
    plain = np.linalg.lstsq(np.column_stack([np.ones(len(y)), X]), y, rcond=None)[0]
    for rate, coef in zip(RATES, found.coef, strict=True):
        assert_allclose(coef[1:], plain[1:] / (1.0 - rate), rtol=1e-10)
        assert_allclose(coef[0], y.mean() - X.mean(axis=0) @ coef[1:], rtol=1e-10)
    assert found.freedom == 120 - 4


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_groups_and_known_rows_are_averaged_as_defined(fit_intercept):
    X, y, codes, known = draw(1, n_groups=15, known_share=0.2)
    found = estimates(X, y, codes, known, fit_intercept=fit_intercept)
    for k, rate in enumerate(RATES):
        design = averaged(X, codes, known, rate)
        if fit_intercept:
            design = sm.add_constant(design)
        oracle = sm.OLS(y, design).fit(cov_type="HC1")
        assert_allclose(found.coef[k], oracle.params, rtol=1e-9)
        assert_allclose(found.standard_errors[k], oracle.bse, rtol=1e-8)
    # The control: known rows that were averaged too would give other coefficients.
    wrong = averaged(X, codes, np.zeros_like(known), 0.5)
    wrong = sm.OLS(y, sm.add_constant(wrong) if fit_intercept else wrong).fit()
    assert abs(wrong.params / found.coef[3] - 1.0).max() > 1e-3


def test_blocks_of_rows_change_nothing():
    X, y, codes, known = draw(6, n_groups=9, known_share=0.3)
    whole = estimates(X, y, codes, known)
    for rows_per_block in (1, 7, 50):
        cut = estimates(
            X, y, codes, known, settings=AveragingSettings(rows_per_block=rows_per_block)
        )
        assert_allclose(cut.coef, whole.coef, rtol=1e-9)
        assert_allclose(cut.standard_errors, whole.standard_errors, rtol=1e-9)


def test_known_rows_alone_in_their_group_keep_their_features():
    X, y, codes, known = draw(2, n_groups=60)  # most groups have one to four rows
    sizes = np.bincount(codes)
    assert (sizes == 1).any()
    found = estimates(X, y, codes, known, rates=[0.3])
    oracle = sm.OLS(y, sm.add_constant(averaged(X, codes, known, 0.3))).fit()
    assert_allclose(found.coef[0], oracle.params, rtol=1e-9)


TRUTH = np.array([2.0, -1.0])
N_ROWS = 400
# A fifth of the rows hold another row's label. An exchange at random would give one in n back.
RATE = 0.2 * N_ROWS / (N_ROWS - 1)


def simulate(rng, n=N_ROWS):
    """Labels with skewed noise that grows with a feature, of which a fifth is exchanged."""
    X = rng.normal(size=(n, 2))
    y = 1.0 + X @ TRUTH + (rng.exponential(size=n) - 1.0) * np.exp(0.3 * X[:, 0])
    moved = rng.permutation(n)[: n // 5]
    y[moved] = y[np.roll(moved, 1)]
    return X, y


def repetitions(rates, n_sets=400):
    rng = np.random.default_rng(3)
    codes, known = np.zeros(N_ROWS, dtype=np.int64), np.zeros(N_ROWS, dtype=bool)
    found = [estimates(*simulate(rng), codes, known, rates=rates) for _ in range(n_sets)]
    return np.array([f.coef for f in found]), np.array([f.standard_errors for f in found])


def test_at_the_true_rate_coefficients_are_right_and_as_given_they_are_not():
    coef, errors = repetitions([RATE, 0.0])
    truth = np.array([1.0, *TRUTH])
    centre = coef.mean(axis=0)
    monte_carlo = coef.std(axis=0, ddof=1) / len(coef) ** 0.5
    assert (np.abs(centre[0] - truth) < 4.0 * monte_carlo[0]).all()
    assert (np.abs(centre[1] - truth)[1:] > 10.0 * monte_carlo[1, 1:]).all()  # the control
    # Intervals cover; exchanging labels leaves their mean as it is, so that the intercept's
    # are too wide rather than too narrow.
    inside = (np.abs(coef - truth) < 1.966 * errors).sum(axis=0)
    lowest, highest = binom.ppf([1e-4, 1.0 - 1e-4], len(coef), 0.95)
    assert (inside[0, 1:] >= lowest).all() and (inside[0, 1:] <= highest).all()
    assert inside[0, 0] >= lowest
    assert (inside[1, 1:] < lowest).all()  # the control


@settings(max_examples=40, deadline=None)
@given(
    st.integers(0, 10_000),
    st.floats(0.01, 100.0),
    st.floats(-1e4, 1e4),
    st.floats(0.0, 0.95),
)
def test_scale_and_shift_of_the_labels(seed, scale, shift, rate):
    X, y, codes, known = draw(seed, n=60, n_groups=8, known_share=0.1)
    one = estimates(X, y, codes, known, rates=[rate])
    other = estimates(X, scale * y + shift, codes, known, rates=[rate])
    moved = scale * one.coef + np.array([shift, 0.0, 0.0, 0.0])
    size = scale * np.abs(one.coef).max() + abs(shift)
    assert_allclose(other.coef, moved, rtol=1e-7, atol=1e-8 * size)
    assert_allclose(other.standard_errors, scale * one.standard_errors, rtol=1e-6)


@pytest.mark.parametrize(
    ("rates", "words"),
    [
        ([0.1, 5], "shares from 0 to below 1, such as 0.05 for 5 %; got 5"),
        ([1.0], "got 1"),
        ([-0.1], "got -0.1"),
        ([np.nan], "got nan"),
        ([], "at least one number"),
        ([[0.1]], r"shape \(1, 1\)"),
        (["some"], "must be numbers"),
        (None, "got nan"),
    ],
)
def test_bad_rates(rates, words):
    with pytest.raises(ValueError, match=words):
        estimates(*one_group(0), rates=rates)


def test_singular_features_are_refused_with_the_reason():
    X, y, codes, known = one_group(4)
    double = np.column_stack([X, X[:, 0] - X[:, 1]])
    with pytest.raises(ValueError, match="as they are given"):
        estimates(double, y, codes, known)
    with pytest.raises(ValueError, match="as they are given"):
        estimates(np.column_stack([X, np.full(len(y), 1e6 / 3)]), y, codes, known)
    with pytest.raises(ValueError, match=r"at rate 0.99999999999\d? the averaged features"):
        estimates(X, y, codes, known, rates=[0.1, 1.0 - 1e-11])
    estimates(X, y, codes, known, rates=[0.99])  # the control


def test_labels_that_cannot_move_and_few_rows():
    X, y, codes, known = one_group(5)
    with pytest.raises(ValueError, match="no label can have moved"):
        estimates(X, y, codes, ~known)
    with pytest.raises(ValueError, match="4 rows are too few for 4 coefficients"):
        estimates(X[:4], y[:4], codes[:4], known[:4])
