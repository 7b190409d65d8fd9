"""Chain, enumeration and Sinkhorn against the posterior by brute force, with priors."""

import itertools

import numpy as np
import pytest

from oracles import enumerated_posterior
from unshuffle.alignment.chain import Chain
from unshuffle.alignment.exact import ExactAlignment
from unshuffle.alignment.priors import Prior, mismatch_costs
from unshuffle.alignment.sampled import SampledAlignment
from unshuffle.alignment.sinkhorn import SinkhornAlignment, scale
from unshuffle.alignment.state import State
from unshuffle.data.problem import Problem
from unshuffle.data.threads import Workers
from unshuffle.kernels.swap import Schedule

N = 6
STARTS = np.array([0, 4, 6])
PRIORS = {
    "uniform": Prior(),
    "rate": Prior(rate=0.3),
    "per row": Prior(match_prob=np.array([0.9, 0.5, 0.2, 0.7, 0.6, 0.95])),
    "reach": Prior(rate=0.4, places=np.arange(N), reach=1),
}


def setting(seed=0, noise=0.8):
    rng = np.random.default_rng(seed)
    mu, y = rng.normal(size=N), rng.normal(size=N)
    problem = Problem(np.empty((N, 0)), y, STARTS, None, 2)
    state = State(np.empty(0), 0.0, noise, 0.0, 0.3, mu, y, np.arange(N))
    return problem, state


def brute_force(problem, state, prior):
    """Posterior means of labels and of holding the own label, from the definition of the prior."""
    perms, weight = enumerated_posterior(state.fitted, problem.y, state.noise_scale, STARTS)
    weight = weight.copy()
    match = np.full(N, 1 - (prior.rate or 0)) if prior.match_prob is None else prior.match_prob
    for k, perm in enumerate(perms):
        moved = perm != np.arange(N)
        if prior.mostly_right:
            for first, last in itertools.pairwise(STARTS):
                expected = np.sum(1 - match[first:last])
                for i in range(first, last):
                    if moved[i]:
                        weight[k] *= (1 - match[i]) / (match[i] * expected)
        if prior.places is not None and np.abs(perm - np.arange(N)).max() > prior.reach:
            weight[k] = 0
    weight /= weight.sum()
    labels = sum(w * problem.y[p] for w, p in zip(weight, perms, strict=True))
    own = sum(w * (p == np.arange(N)) for w, p in zip(weight, perms, strict=True))
    return labels, own


@pytest.mark.parametrize("name", PRIORS)
def test_enumeration_agrees_with_brute_force(name):
    problem, state = setting()
    labels, own = brute_force(problem, state, PRIORS[name])
    found = ExactAlignment(problem, PRIORS[name])(state, 0)
    np.testing.assert_allclose(found.expected, labels, atol=1e-12)
    np.testing.assert_allclose(found.match_proba, own, atol=1e-12)


def chain_runs(problem, state, prior, n_chains=64):
    runs = []
    for seed in range(n_chains):
        chain = Chain(problem, Schedule(30_000, 2_000, 1), seed, Workers(1))
        found = SampledAlignment(chain, prior)(state, 0)
        runs.append(np.concatenate([found.expected, found.match_proba]))
    return np.array(runs)


def deviation(runs, truth):
    """Largest deviation in Monte Carlo errors."""
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    moving = error > 1e-12
    np.testing.assert_allclose(runs[:, ~moving].mean(axis=0), truth[~moving], atol=1e-9)
    return np.max(np.abs(runs.mean(axis=0) - truth)[moving] / error[moving])


@pytest.mark.parametrize("name", PRIORS)
def test_chain_agrees_with_brute_force(name):
    problem, state = setting(1)
    truth = np.concatenate(brute_force(problem, state, PRIORS[name]))
    assert deviation(chain_runs(problem, state, PRIORS[name]), truth) < 4.5


def test_a_chain_with_another_prior_is_caught():
    problem, state = setting(1)
    truth = np.concatenate(brute_force(problem, state, PRIORS["rate"]))
    assert deviation(chain_runs(problem, state, Prior(rate=0.4)), truth) > 4.5


def test_costs_give_the_rate_they_are_made_for():
    """Under the prior alone (no likelihood) about the given share of rows is mismatched."""
    n, rate = 300, 0.2
    y = np.random.default_rng(0).normal(size=n)
    starts = np.array([0, n])
    problem = Problem(np.empty((n, 0)), y, starts, None, 1)
    state = State(np.empty(0), 0.0, 1.0, 0.0, rate, np.zeros(n), y, np.arange(n))
    chain = Chain(problem, Schedule(4_000_000, 1_000_000, 1), 0, Workers(1))
    own = SampledAlignment(chain, Prior(rate=rate))(state, 0).match_proba
    # The count of mismatches has variance near n (1 - rate), and the chain is many times longer.
    assert 1 - own.mean() == pytest.approx(rate, abs=4.5 * np.sqrt(n * (1 - rate)) / n / 3)
    np.testing.assert_allclose(mismatch_costs(starts, np.full(n, 0.8)), np.log(n * 0.8))


@pytest.mark.parametrize("noise", [1.0, 1e-2, 1e-8])
def test_sinkhorn_plans_are_doubly_stochastic_at_any_noise(noise):
    rng = np.random.default_rng(0)
    mu = rng.normal(size=60)
    log_kernel = -0.5 * ((mu[:, None] - mu[rng.permutation(60)] - noise) / noise) ** 2
    plan, columns = scale(log_kernel, np.zeros(60))
    assert np.all(np.isfinite(columns))
    np.testing.assert_allclose(plan.sum(axis=0), 1, atol=1e-8)
    np.testing.assert_allclose(plan.sum(axis=1), 1, atol=1e-3)


def test_sinkhorn_is_near_the_posterior_where_labels_are_dense():
    rng = np.random.default_rng(2)
    n = 200
    mu = rng.normal(size=n)
    y = rng.permutation(mu + 0.5 * rng.normal(size=n))
    problem = Problem(np.empty((n, 0)), y, np.array([0, n]), None, 1)
    start = np.empty(n, dtype=np.int64)
    start[np.argsort(mu)] = np.argsort(y)
    state = State(np.empty(0), 0.0, 0.5, 0.0, np.nan, mu, y, start)
    soft = SinkhornAlignment(problem, Prior())(state, 0).expected
    chain = Chain(problem, Schedule(4_000_000, 100_000, 1), 0, Workers(1))
    sampled = SampledAlignment(chain, Prior())(state, 0).expected
    assert np.sqrt(np.mean((soft - sampled) ** 2)) < 0.1 * 0.5
    assert soft.sum() == pytest.approx(y.sum(), rel=1e-3, abs=1e-2)
