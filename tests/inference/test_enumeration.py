"""Sampled and enumerated posteriors agree: permutations, noise and coefficients of tiny data."""

import numpy as np
import pytest
from benchmarks.calibration import simulate

from inference.enumeration import enumerate_posterior
from unshuffle.alignment.priors import Prior
from unshuffle.inference.diagnostics import ess_bulk
from unshuffle.inference.parameter_prior import ParameterPrior
from unshuffle.inference.posterior_chain import PosteriorChain
from unshuffle.inference.posterior_model import Start

pytestmark = pytest.mark.long

N_DRAWS = 4000
MOST_ERRORS = 4.5
PARAMETERS = ParameterPrior(
    coef_scale=1.0, intercept_mean=0.5, intercept_scale=1.5, noise_scale=0.7
)
LOST, MOSTLY_RIGHT, FIXED = Prior(), Prior(0.3, True), Prior(0.3, False)


class Accepting(PosteriorChain):
    """Broken: collapsed swaps that forget the prior of the coefficients."""

    def _collapsed_swaps(self):
        theta, self.theta = self.theta, np.full_like(self.theta, 1e6)
        super()._collapsed_swaps()
        assert theta.shape == self.theta.shape


class Eager(PosteriorChain):
    """Broken: takes every step that carries labels along."""

    def _log_density(self, theta, perm):
        return 0.0


class Ignorant(PosteriorChain):
    """Broken: the rate forgets the normaliser of the prior over permutations."""

    def __init__(self, model, *arguments, **settings):
        model.rates.log_normaliser = lambda logit: 0.0
        super().__init__(model, *arguments, **settings)


def largest_error(prior, starts, moves, seed, kind=PosteriorChain):
    """Largest distance, in Monte Carlo errors, of shares of pairs, log noise and coordinates."""
    rng = np.random.default_rng(seed)
    n = int(starts[-1]) + (1 if len(starts) > 2 else 0)  # one pinned row besides two groups
    X = rng.normal(size=(n, 2))
    model, _ = simulate(X, np.array(starts), prior, PARAMETERS, rng)
    perms, probability, log_noise = enumerate_posterior(model)
    own = np.arange(n)
    start = Start(np.zeros(2), 1.0, own, 0.3)
    jumps = rng.normal(size=(3, 2))
    chain = kind(
        model, start, seed, 0, n_warmup=200, n_draws=N_DRAWS, jumps=jumps, moves=frozenset(moves)
    )
    chain.advance(200)
    held = np.empty((N_DRAWS, n), dtype=np.int64)
    for k in range(N_DRAWS):
        chain.advance(1)
        held[k] = chain.perm
    errors = []
    table = np.array(perms)
    for i in range(n):
        for j in range(n):
            truth = probability @ (table[:, i] == j)
            errors.append(distance((held[:, i] == j).astype(float), truth))
    errors.append(distance(np.log(chain.record.noise_scale), probability @ log_noise))
    return max(errors)


def distance(draws, truth):
    """In Monte Carlo errors; draws that never differ are compared as shares of few cases."""
    if draws.std() == 0.0:
        return abs(draws.mean() - truth) * len(draws) / 10.0
    return abs(draws.mean() - truth) / (draws.std() / np.sqrt(ess_bulk(draws[None])))


CASES = [
    (LOST, (0, 6), {"swap"}, 0),
    (LOST, (0, 3, 6), {"collapsed"}, 1),
    (LOST, (0, 5), {"swap", "carry"}, 2),
    (MOSTLY_RIGHT, (0, 6), {"swap", "collapsed", "carry"}, 3),
    (MOSTLY_RIGHT, (0, 4, 6), {"swap", "collapsed", "carry"}, 4),
    (FIXED, (0, 5), {"swap", "collapsed", "carry"}, 5),
    (LOST, (0, 4, 6), {"swap", "collapsed", "carry"}, 6),
]


@pytest.mark.parametrize(("prior", "starts", "moves", "seed"), CASES)
def test_sampled_posterior_is_the_enumerated_one(prior, starts, moves, seed):
    assert largest_error(prior, starts, moves, seed) < MOST_ERRORS


@pytest.mark.parametrize(
    ("kind", "prior", "starts", "moves", "seed"),
    [
        (Accepting, LOST, (0, 6), {"collapsed"}, 5),
        (Eager, LOST, (0, 5), {"swap", "carry"}, 2),
        (Ignorant, MOSTLY_RIGHT, (0, 6), {"swap", "collapsed"}, 3),
    ],
)
def test_broken_samplers_are_seen(kind, prior, starts, moves, seed):
    assert largest_error(prior, starts, moves, seed, kind) > MOST_ERRORS
