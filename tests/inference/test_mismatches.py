"""The normaliser of the mismatch prior, draws from it, and of the rate given mismatches."""

from itertools import permutations

import numpy as np
import pytest
from benchmarks.calibration import draw_mismatched
from scipy.special import logsumexp
from scipy.stats import chisquare, kstest

from unshuffle.inference.mismatches import (
    RatePosterior,
    log_derangements,
    log_normalisers,
    log_ways,
)
from unshuffle.kernels.limits import SMALLEST_RATE


def mismatched(perm):
    return int(np.sum(np.asarray(perm) != np.arange(len(perm))))


def test_derangements_are_the_known_numbers():
    known = [1, 0, 1, 2, 9, 44, 265, 1854, 14833, 133496, 1334961]
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(log_derangements(10), np.log(known), rtol=1e-14)
    # The recurrence goes on exactly where the approximation takes over.
    exact = [1, 0]
    for k in range(2, 31):
        exact.append((k - 1) * (exact[-1] + exact[-2]))
    np.testing.assert_allclose(
        log_derangements(30)[21:], np.log(np.array(exact[21:], dtype=float)), rtol=1e-14
    )


@pytest.mark.parametrize("n", [2, 3, 7])
@pytest.mark.parametrize("rate", [0.001, 0.2, 0.9, 0.999])
def test_normaliser_is_the_sum_over_all_permutations(n, rate):
    cost = np.log(n * (1 - rate))
    terms = [-cost * mismatched(p) for p in permutations(range(n))]
    assert log_normalisers(n, np.array([rate]))[0] == pytest.approx(logsumexp(terms), abs=1e-12)


def test_ways_add_up_to_all_permutations():
    assert logsumexp(log_ways(12)) == pytest.approx(np.log(479001600.0), abs=1e-12)


@pytest.mark.parametrize("starts", [(0, 4, 6, 20), (0, 3000)])
def test_spline_follows_the_sums(starts):
    rates = RatePosterior(np.array(starts), (2.0, 3.0))
    for logit in np.random.default_rng(0).uniform(-rates.limit, rates.limit, size=40):
        rate = 1 / (1 + np.exp(-logit))
        exact = sum(log_normalisers(int(m), np.array([rate]))[0] for m in np.diff(starts))
        assert rates.log_normaliser(logit) == pytest.approx(exact, abs=1e-9 * starts[-1])


def rate_draws(rates, n_mismatched, n_draws, seed=0):
    rng, rate, draws = np.random.default_rng(seed), 0.5, []
    for _ in range(n_draws * 5):
        rate = rates.draw(rate, n_mismatched, rng)
        draws.append(rate)
    return np.array(draws[::5])


def cumulative(starts, shape, n_mismatched):
    """Distribution function of the rate, from the sums themselves on a fine grid."""
    limit = np.log(1 / SMALLEST_RATE - 1)
    grid = np.linspace(-limit, limit, 1001)
    rate = 1 / (1 + np.exp(-grid))
    density = shape[0] * np.log(rate) + (shape[1] - n_mismatched) * np.log1p(-rate)
    density -= sum(log_normalisers(m, rate) for m in np.diff(starts))
    total = np.cumsum(np.exp(density - density.max()))
    return lambda x: np.interp(np.log(x / (1 - x)), grid, total / total[-1])


@pytest.mark.parametrize("n_mismatched", [0, 4, 9])
def test_draws_of_the_rate_follow_their_density(n_mismatched):
    starts, shape = np.array([0, 4, 10]), (1.0, 2.0)
    rates = RatePosterior(starts, shape)
    draws = rate_draws(rates, n_mismatched, 1500)
    assert kstest(draws, cumulative(starts, shape, n_mismatched)).pvalue > 1e-3
    rates.log_normaliser = lambda logit: 0.0  # a rate that forgets the normaliser is seen
    wrong = rate_draws(rates, n_mismatched, 1500)
    assert kstest(wrong, cumulative(starts, shape, n_mismatched)).pvalue < 1e-6


@pytest.mark.long
def test_permutations_drawn_from_the_prior_have_its_shares():
    starts, rate, rng = np.array([0, 4]), 0.4, np.random.default_rng(0)
    perms = list(permutations(range(4)))
    seen = dict.fromkeys(perms, 0)
    for _ in range(8000):
        seen[tuple(draw_mismatched(starts, 5, rate, rng)[:4].tolist())] += 1
    cost = np.log(4 * (1 - rate))
    weights = np.exp([-cost * mismatched(p) for p in perms])
    counts = np.array([seen[p] for p in perms])
    assert chisquare(counts, 8000 * weights / weights.sum()).pvalue > 1e-3
    assert chisquare(counts, np.full(24, 8000 / 24)).pvalue < 1e-6  # uniform would be wrong
