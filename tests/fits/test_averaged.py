"""Answers where the data hold little evidence: averages of two fits, and matches left alone."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor, UnidentifiableWarning
from unshuffle.data.problem import Problem
from unshuffle.data.threads import Workers
from unshuffle.families.least_squares import LeastSquares
from unshuffle.fits.averaged import Averaged
from unshuffle.fits.data import InMemory
from unshuffle.fits.linked import fit_as_given, fit_averaged, fit_expected
from unshuffle.inference.checks import precision
from unshuffle.inference.settings import CHECKS
from unshuffle.search.association_fit import AssociationFit

WEIGHT = 2.0 / 3.0


def weak_relation(seed):
    """200 rows whose features explain a twentieth of the labels' variance."""
    rng = np.random.default_rng([seed, 0, 200])
    X = rng.normal(size=(200, 2))
    return X, X @ [1.0, -0.5] + (1.25 * 19.0) ** 0.5 * rng.normal(size=200)


@pytest.fixture(scope="module")
def doubted():
    """A table, and a fit with mismatches to it whose probabilities are made up."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 2))
    y = X @ [1.0, -0.5] + rng.normal(size=80)
    data = InMemory(Problem(X, y, np.array([0, 80], dtype=np.int64), None, 1), Workers(1))
    matched = rng.uniform(0.5, 1.0, size=80)
    return data, AssociationFit(0.25, X @ [2.5, -2.0], matched, np.ones(80))


@pytest.fixture(scope="module")
def fits(doubted):
    """With mismatches, least squares as given, and their average."""
    data, found = doubted
    solver = LeastSquares(data.problem.X, fit_intercept=True)
    with_mismatches = fit_expected(data, solver, 0, found)
    average = fit_averaged(data, solver, with_mismatches, found, WEIGHT)
    return with_mismatches, fit_as_given(data, solver, 0), average


def test_an_average_lies_between_the_two_fits(doubted, fits):
    found = doubted[1]
    with_mismatches, as_given, fit = fits
    for name in ("coef", "intercept"):
        both = (getattr(with_mismatches, name), getattr(as_given, name))
        expected = WEIGHT * both[0] + (1.0 - WEIGHT) * both[1]
        np.testing.assert_allclose(getattr(fit, name), expected, rtol=1e-10)
    assert fit.mismatch_rate == pytest.approx(WEIGHT * with_mismatches.mismatch_rate)
    np.testing.assert_allclose(
        1.0 - fit.matches.match_proba, WEIGHT * (1.0 - found.matched), rtol=1e-12
    )


def test_the_covariance_of_an_average_is_the_variance_of_draws(fits):
    with_mismatches, as_given, fit = fits
    rng, n_draws = np.random.default_rng(1), 40_000
    draws = [
        rng.multivariate_normal(
            np.append(one.intercept, one.coef), one.errors.uncertainty.covariance, round(share)
        )
        for one, share in ((with_mismatches, WEIGHT * n_draws), (as_given, n_draws / 3))
    ]
    spread = np.concatenate(draws).std(axis=0)
    # The standard deviation of n draws has a relative Monte Carlo error of about 1 / sqrt(2 n).
    np.testing.assert_allclose(
        fit.errors.uncertainty.standard_errors, spread, rtol=4.5 / (2 * n_draws) ** 0.5
    )
    # The control: without the part between the two fits the errors are too small.
    inside = WEIGHT * with_mismatches.errors.uncertainty.covariance
    inside = inside + (1.0 - WEIGHT) * as_given.errors.uncertainty.covariance
    assert (np.sqrt(np.diag(inside))[1:] < 0.95 * spread[1:]).all()


def test_a_weight_of_one_changes_nothing(doubted):
    data, found = doubted
    same = Averaged(found, 1.0)
    y = data.problem.y
    np.testing.assert_allclose(same.expected(y), found.expected(y), rtol=1e-12)
    np.testing.assert_allclose(same.matched, found.matched, rtol=1e-12)
    assert same.rate == found.rate


def test_weak_evidence_is_averaged_with_least_squares():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 2))
    y = np.maximum(X @ [1.0, -0.5] + 1.2 * rng.normal(size=400), -0.5)  # labels with a limit
    rows = rng.permutation(400)[:80]
    y[rows] = y[rng.permutation(rows)]
    model = ShuffledRegressor(random_state=0).fit(X, y)
    evidence = {reason.check: reason for reason in model.verdict_.reasons}["strength of evidence"]
    assert evidence.level == "caution"
    weight = 1.0 - 0.5 * np.exp(-evidence.value / CHECKS.evidence_scale)
    assert f"a weight of {100 * weight:.0f} %" in str(model.summary())
    assert model.verdict_.level == "caution"
    assert 0.0 < model.mismatch_rate_ < 0.3


@pytest.mark.parametrize("seed", [83, 110])
def test_a_match_that_two_checks_doubt_is_not_used(seed):
    X, y = weak_relation(seed)
    with pytest.warns(UnidentifiableWarning):
        model = ShuffledRegressor(random_state=0).fit(X, y)
    given = np.linalg.lstsq(np.column_stack([np.ones(200), X]), y, rcond=None)[0]
    assert model.start_ == "least squares"
    np.testing.assert_allclose(model.coef_, given[1:], rtol=1e-9)
    # The control: whoever declares the order lost gets the match, which is far off.
    lost = ShuffledRegressor(pairing="lost", random_state=0).fit(X, y)
    assert lost.start_ == "match"
    assert np.linalg.norm(lost.coef_ - [1.0, -0.5]) > 4 * np.linalg.norm(given[1:] - [1.0, -0.5])


def test_standard_errors_far_below_those_of_known_order_are_doubted():
    assert precision(0.09, 0.5, order_used=True).level == "caution"
    assert "too small to be right" in precision(0.09, 0.5, order_used=True).text
    assert precision(0.8, 0.5, order_used=True).level == "trust"
    assert precision(0.09, 0.5).level == "trust"  # known rows can make a lost order precise
