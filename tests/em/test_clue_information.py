"""The information about a match model in fits by a chain over permutations."""

import numpy as np
import pytest

from clue_data import make_linked
from unshuffle import StochasticEMRegressor, UnshuffleWarning
from unshuffle.data.problem import Problem
from unshuffle.em.clue_information import clue_scores, mismatch_covariance, towards_snapshots
from unshuffle.families.match_logit import make_match_logit


def one_group(n: int) -> Problem:
    starts = np.array([0, n], dtype=np.int64)
    return Problem(np.empty((n, 0)), np.zeros(n), starts, None, 1)


def test_mismatches_vary_as_under_the_prior_over_permutations():
    """Against draws: independent mismatches, weighed by k! / K^k, have that covariance."""
    rng = np.random.default_rng(0)
    n = 400
    p = rng.uniform(0.6, 0.95, n)
    away = rng.random((60_000, n)) > p
    total, expected = away.sum(axis=1), (1.0 - p).sum()
    log_weight = np.array([np.log(np.arange(1, k + 1) / expected).sum() for k in range(n)])
    weight = np.exp(log_weight[total] - log_weight[total].max())
    weight /= weight.sum()
    values = np.column_stack([np.ones(n), rng.normal(size=n)])
    sums = away @ values
    centred = sums - weight @ sums
    sampled = (centred * weight[:, None]).T @ centred
    found = mismatch_covariance(one_group(n), p, values, values)
    assert np.allclose(np.diag(found), np.diag(sampled), rtol=0.1)
    plain = (values * (p * (1.0 - p))[:, None]).T @ values
    assert abs(found[0, 0] - sampled[0, 0]) < abs(plain[0, 0] - sampled[0, 0])


def test_one_rate_gives_the_information_about_one_rate():
    """Without clues the information is that of the logit of the rate, n a² (1 - a)."""
    n, rate = 200, 0.2
    logit = make_match_logit(
        np.zeros((n, 0)), match_prob=None, movable=np.ones(n, dtype=bool), largest_rate=None
    )
    scores = clue_scores(one_group(n), logit, np.array([np.log((1.0 - rate) / rate)]))
    assert np.allclose(scores.complete, n * rate**2 * (1.0 - rate) + logit.penalty)


def test_snapshots_count_where_they_contradict():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(300, 40, 3)) * [1.0, 2.0, 3.0]
    truth = 40.0 * np.diag([1.0, 4.0, 9.0])
    assert np.array_equal(towards_snapshots(truth, scores, 1), truth)
    wrong = 2.0 * truth
    moved = towards_snapshots(wrong, scores, 1)
    assert moved[0, 0] == wrong[0, 0]  # the regression's part is not touched
    assert np.allclose(np.diag(moved)[1:], np.diag(truth)[1:], rtol=0.1)


def test_a_bound_holds_in_the_chain_and_no_mismatch_gives_a_finite_answer():
    data = make_linked(2)
    model = StochasticEMRegressor(mismatch_rate_max=0.1, random_state=0)
    found = model.fit(data.X, data.y, match_features=data.clues).match_model_
    assert found.at_bound and abs(found.mismatch_rate - 0.1) < 1e-9
    assert np.linalg.matrix_rank(found.covariance, tol=1e-8) == 2
    model = StochasticEMRegressor(random_state=0)
    y = data.X @ data.coef + 0.05 * np.random.default_rng(0).normal(size=300)
    with pytest.warns(UnshuffleWarning, match="only a weak ridge"):
        found = model.fit(data.X, y, match_features=data.clues).match_model_
    assert found.mismatch_rate < 0.01 and np.isfinite(found.standard_errors).all()


def test_chain_and_mixture_agree():
    data = make_linked(1, 600)
    model = StochasticEMRegressor(mismatch_rate="estimate", random_state=0)
    model.fit(data.X, data.y, match_features=data.clues)
    found = model.match_model_
    error = (found.coef - data.match_coef) / found.standard_errors
    assert np.abs(error).max() < 3.0
    assert found.standard_errors.max() < 0.6
    assert np.abs(model.coef_ - data.coef).max() < 3.5 * model.standard_errors_.max()
    assert 0.0 < model.mismatch_rate_se_ < 0.1
