"""The fit beside the regression of group means, which no shuffle inside groups changes."""

import numpy as np
import pytest
import statsmodels.api as sm

from unshuffle import ShuffledRegressor, UnidentifiableWarning
from unshuffle.data.problem import make_problem
from unshuffle.families.least_squares import LeastSquares
from unshuffle.inference import lost_checks
from unshuffle.inference.group_means import GroupMeans, compare_with_means

NO_COVARIANCE = np.full((2, 2), np.nan)


def grouped(seed=0, n_groups=60, size=5, within=None, between=1.0):
    """Labels shuffled inside groups; slopes `within` differ from those between if given."""
    rng = np.random.default_rng(seed)
    codes = np.repeat(np.arange(n_groups), size)
    centres = between * rng.normal(size=(n_groups, 2))
    X = centres[codes] + rng.normal(size=(len(codes), 2)) + 3.0
    y = 1.0 + X @ [1.0, -0.5] + 0.5 * rng.normal(size=len(codes))
    if within is not None:
        means = np.stack([np.bincount(codes, x) / size for x in X.T], axis=1)
        y += (X - means[codes]) @ (np.asarray(within) - [1.0, -0.5])
    return X, y[np.lexsort((rng.random(len(codes)), codes))], codes


def compare(X, y, codes, coef, covariance=NO_COVARIANCE, *, fit_intercept=True):
    order = np.random.default_rng(1).permutation(len(y))
    problem = make_problem(X[order], y[order], codes[order], np.zeros(len(y), dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=fit_intercept)
    return compare_with_means(problem, solver, np.asarray(coef), covariance, 0.5)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_numbers_are_those_of_weighted_least_squares_with_hc3(fit_intercept):
    X, y, codes = grouped()
    X, y, codes = X[:-3], y[:-3], codes[:-3]  # groups of unequal size
    sizes = np.bincount(codes)
    means = np.stack([np.bincount(codes, x) / sizes for x in X.T], axis=1)
    design = sm.add_constant(means) if fit_intercept else means
    oracle = sm.WLS(np.bincount(codes, y) / sizes, design, weights=sizes).fit(cov_type="HC3")
    slopes, covariance = oracle.params[-2:], oracle.cov_params()[-2:, -2:]
    centred = X - X.mean(axis=0) if fit_intercept else X
    gram = centred.T @ centred
    coef = slopes + np.array([0.3, 0.0])
    found = compare(X, y, codes, coef, fit_intercept=fit_intercept)
    length = np.linalg.norm(centred @ coef)
    total = np.trace(gram @ covariance)
    assert found.error == pytest.approx(np.sqrt(total) / length)
    assert found.inflation == pytest.approx(np.sqrt(total / 2) / 0.5)
    squared = np.sum((centred @ (coef - slopes)) ** 2)
    assert found.distance == pytest.approx(np.sqrt(squared - total) / length, rel=0.02)
    assert compare(X, y, codes, slopes, fit_intercept=fit_intercept).p_value == pytest.approx(1.0)


def test_p_values_are_uniform_for_true_slopes_and_small_for_wrong_ones():
    found = [compare(*grouped(seed), [1.0, -0.5]) for seed in range(200)]
    p_values = np.array([one.p_value for one in found])
    for level in (0.1, 0.5):
        error = np.sqrt(level * (1 - level) / len(p_values))
        # HC3 errs on the side of caution, and Satterthwaite's distribution is near the right one.
        assert level - 5.0 * error < np.mean(p_values < level) < level + 3.5 * error
    wrong = compare(*grouped(), [1.0, 0.5])
    assert wrong.p_value < 1e-6 and wrong.distance > 0.5


def test_too_few_groups_say_nothing():
    X, y, codes = grouped(n_groups=10)
    assert compare(X, y, codes, [1.0, -0.5]) is None  # 10 groups, 3 coefficients
    X, y, codes = grouped(n_groups=30)
    X[:, 1] -= (np.bincount(codes, X[:, 1]) / 5)[codes]  # no variation between groups
    assert compare(X, y, codes, [1.0, -0.5]) is None


def test_check_and_confirmation_have_their_thresholds():
    def level(p_value, distance):
        return lost_checks.group_means(GroupMeans(p_value, distance, 0.1, 3.0)).level

    assert level(0.5, 0.0) == level(0.3, 0.9) == level(1e-9, 0.1) == "trust"
    assert level(0.01, 0.3) == "caution"
    assert level(1e-5, 0.8) == "reject"
    doubt = lost_checks.recovery(np.array([0.4, 0.4, 0.4]))
    precise, vague = GroupMeans(0.5, 0.0, 0.1, 3.0), GroupMeans(0.5, 0.0, 0.4, 3.0)
    assert lost_checks.confirmed(doubt, precise).level == "trust"
    assert lost_checks.confirmed(doubt, vague) is lost_checks.confirmed(doubt, None) is doubt
    assert lost_checks.confirmed(doubt, precise._replace(p_value=0.01)) is doubt
    held = lost_checks.anchor("group means", 40, 0.3)
    assert lost_checks.sufficient(held, precise) is lost_checks.sufficient(held, None) is held
    alone = lost_checks.sufficient(held, precise._replace(inflation=1.2))
    assert alone.level == "trust" and "1.2 times those with the order known" in alone.text
    rejected = lost_checks.recovery(np.array([0.9, 0.9, 0.9]))
    assert lost_checks.confirmed(rejected, precise) is rejected


def agreement(model):
    return next(r for r in model.verdict_.reasons if r.check == "agreement with group means")


@pytest.mark.long
def test_a_fit_with_slopes_of_its_own_inside_groups_is_flagged():
    X, y, codes = grouped(1)
    right = ShuffledRegressor(random_state=0, pairing="lost").fit(X, y, groups=codes)
    assert agreement(right).level == "trust" and right.verdict_.level == "trust"
    assert right.group_means_pvalue_ > 0.05
    # Most of the variance lies inside groups, so the match follows the slopes that hold there.
    X, y, codes = grouped(1, n_groups=100, within=[2.0, 2.0], between=0.5)
    with pytest.warns(UnidentifiableWarning, match="regression of group means"):
        wrong = ShuffledRegressor(random_state=0, pairing="lost").fit(X, y, groups=codes)
    assert agreement(wrong).level == wrong.verdict_.level == "reject"
    assert wrong.group_means_pvalue_ < 0.01 and wrong.group_means_distance_ > 0.2
