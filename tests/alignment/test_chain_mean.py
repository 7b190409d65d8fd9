"""Averages of the chain against the enumerated posterior, with controls that must fail."""

import numpy as np
import pytest

from oracles import enumerated_mean
from unshuffle.alignment.chain import Chain
from unshuffle.data.problem import Problem
from unshuffle.data.threads import Workers
from unshuffle.families.normal import NORMAL
from unshuffle.kernels.swap import Schedule

N_CHAINS = 64
SCHEDULE = Schedule(n_steps=20_000, burn_in=1_000, thin=1)


def problem_of(y, starts):
    n = len(y)
    return Problem(np.zeros((n, 1)), y, np.array(starts, dtype=np.int64), np.arange(n), 1)


def chain_means(mu, y, scale, starts):
    problem = problem_of(y, starts)
    means = []
    for seed in range(N_CHAINS):
        chain = Chain(problem, SCHEDULE, seed, Workers(1))
        perm = np.arange(len(y))
        means.append(chain.run_random_pairs(NORMAL.interaction(mu, scale), y, perm, 0)[0])
    return np.array(means)


def largest_deviation(means, exact):
    """In Monte Carlo errors, which the independent chains themselves show."""
    error = means.std(axis=0, ddof=1) / np.sqrt(len(means))
    moving = error > 1e-12  # a row that never moves shows rounding only
    assert np.allclose(means[:, ~moving], exact[~moving])
    return np.max(np.abs(means.mean(axis=0) - exact)[moving] / error[moving])


CASES = [
    pytest.param(3, 0.5, (0, 3), id="three"),
    pytest.param(6, 1.0, (0, 6), id="six, much noise"),
    pytest.param(6, 0.3, (0, 6), id="six, little noise"),
    pytest.param(6, 0.5, (0, 3, 5), id="groups and a pinned row"),
]


@pytest.mark.parametrize(("n", "scale", "starts"), CASES)
def test_chain_agrees_with_enumeration(n, scale, starts):
    rng = np.random.default_rng(n)
    mu, y = rng.normal(size=n), rng.normal(size=n)
    exact = enumerated_mean(mu, y, scale, np.array(starts))
    assert largest_deviation(chain_means(mu, y, scale, starts), exact) < 4.5


@pytest.mark.parametrize("wrong", [np.sqrt(2), 1.1], ids=["exponent without 1/2", "10 % off"])
def test_a_chain_with_the_wrong_exponent_is_caught(wrong):
    rng = np.random.default_rng(6)
    mu, y = rng.normal(size=6), rng.normal(size=6)
    exact = enumerated_mean(mu, y, 1.0, np.array([0, 6]))
    assert largest_deviation(chain_means(mu, y, 1.0 / wrong, (0, 6)), exact) > 4.5
