"""The rank-local chain leaves the posterior with its prior on mismatches fixed."""

import numpy as np
import pytest

from oracles import enumerated_posterior
from unshuffle.kernels import local, swap
from unshuffle.kernels.local import ALL_SCALES, Belief

N = 4
NOWHERE = np.empty(0, dtype=np.int64)
BELIEFS = {
    "uniform": Belief(np.empty(0), NOWHERE, 0),
    "mismatches cost": Belief(np.array([0.5, 1.5, 1.0, 0.2]), NOWHERE, 0),
    "reach": Belief(np.array([0.5, 0.5, 0.5, 0.5]), np.array([0, 1, 2, 3]), 1),
}


def target_of(perms, likelihood, belief):
    """The posterior by brute force: likelihood times prior, zero beyond reach."""
    weight = likelihood.copy()
    for k, perm in enumerate(perms):
        moved = perm != np.arange(N)
        if len(belief.costs):
            weight[k] *= np.exp(-belief.costs[moved].sum())
        if len(belief.places) and np.abs(perm - np.arange(N)).max() > belief.reach:
            weight[k] = 0.0
    return weight / weight.sum()


def all_first_draws():
    """One draw for every combination of place, scale, direction, list and distance.

    Fields of 32 bits and 24 bits are sampled at the centres of equal cells that are finer than
    anything the kernel distinguishes for four rows, so that equal weights are exact.
    """
    cells = 16
    for place in range(N):
        high = ((2 * place + 1) << 32) // (2 * N)
        for scale in range(32):
            for direction in range(2):
                for which in range(4):
                    for cell in range(cells):
                        distance = ((2 * cell + 1) << 24) // (2 * cells)
                        low = (scale << 27) | (direction << 26) | (which << 24) | distance
                        yield np.uint64((high << 32) | low)


def transition_matrix(monkeypatch, mu, y, scale, belief, suspects):
    perms, likelihood = enumerated_posterior(mu, y, scale, np.array([0, N]))
    number = {tuple(p): k for k, p in enumerate(perms)}
    target = target_of(perms, likelihood, belief)
    rows = np.argsort(mu) if len(belief.places) == 0 else np.arange(N)
    max_scale = ALL_SCALES if len(belief.places) == 0 else 2
    draws = list(all_first_draws())
    matrix = np.zeros((len(perms), len(perms)))

    def step(perm, bits, unit):
        monkeypatch.setattr(local, "draw", lambda key, counter: bits if counter == 2 else unit)
        slots = np.zeros((N, 4))
        slots[:, swap.MU], slots[:, swap.HELD] = mu, y[perm]
        work = perm.copy()
        local.advance_block.py_func(
            slots, work, np.zeros(N), rows, suspects, max_scale, belief, scale**-2,
            np.uint64(0), 0, 1, 0, 1,
        )  # fmt: skip
        return work

    for k, perm in enumerate(perms):
        if target[k] == 0.0:
            matrix[k, k] = 1.0
            continue
        chances = {}
        for bits in draws:
            after = tuple(step(perm, bits, np.uint64(0)))  # the lowest draw accepts all it can
            chances[after] = chances.get(after, 0.0) + 1.0 / len(draws)
        for after, chance in chances.items():
            other = number[after]
            # What the kernel should accept with; the test below checks that it does.
            accept = min(1.0, target[other] / target[k])
            matrix[k, other] += chance * accept
            matrix[k, k] += chance * (1.0 - accept)
    return perms, target, matrix, step, draws, number


@pytest.mark.parametrize("name", BELIEFS)
@pytest.mark.parametrize("suspects", [NOWHERE, np.array([2, 0, 3])], ids=["all", "suspects"])
def test_proposals_are_symmetric_and_the_posterior_is_fixed(monkeypatch, name, suspects):
    rng = np.random.default_rng(0)
    mu, y, belief = rng.normal(size=N), rng.normal(size=N), BELIEFS[name]
    if len(suspects):
        suspects = suspects[np.argsort(mu[suspects])]
    _, target, matrix, *_ = transition_matrix(monkeypatch, mu, y, 0.7, belief, suspects)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0, atol=1e-12)
    assert np.abs(target @ matrix - target).max() < 1e-12
    flow = target[:, None] * matrix
    np.testing.assert_allclose(flow, flow.T, atol=1e-12)
    wrong = target**1.2 / np.sum(target**1.2)
    assert np.abs(wrong @ matrix - wrong).max() > 1e-4


@pytest.mark.parametrize("name", BELIEFS)
def test_the_kernel_accepts_with_the_metropolis_probability(monkeypatch, name):
    rng = np.random.default_rng(1)
    mu, y, belief = rng.normal(size=N), rng.normal(size=N), BELIEFS[name]
    perms, target, _, step, draws, number = transition_matrix(
        monkeypatch, mu, y, 0.7, belief, NOWHERE
    )
    for k in (0, 5, 11, 17):
        if target[k] == 0.0:
            continue
        for bits in draws[::97]:
            other = number[tuple(step(perms[k], bits, np.uint64(0)))]
            if other == k:
                continue
            accept = min(1.0, target[other] / target[k])
            just_below = np.uint64(int(accept * (1 - 1e-9) * 2**53) << 11)
            assert number[tuple(step(perms[k], bits, just_below))] == other
            if accept < 1.0:
                just_above = np.uint64(int(accept * (1 + 1e-9) * 2**53) << 11)
                assert number[tuple(step(perms[k], bits, just_above))] == k


def test_home_counts_the_states_at_home():
    rng = np.random.default_rng(2)
    n, steps = 6, 300
    mu, y, perm = rng.normal(size=n), rng.normal(size=n), np.arange(n)
    slots, home = np.zeros((n, 4)), np.zeros(n)
    slots[:, swap.MU], slots[:, swap.HELD] = mu, y
    rows, belief = np.argsort(mu), Belief(np.full(n, 0.5), NOWHERE, 0)
    at_home, held = np.zeros(n), np.zeros(n)
    for step in range(steps):
        local.advance_block(
            slots, perm, home, rows, NOWHERE, ALL_SCALES, belief, 2.0, np.uint64(7), step, step + 1,
            20, 1,
        )  # fmt: skip
        if step + 1 > 20:
            at_home += perm == np.arange(n)
            held += y[perm]
    n_kept = steps - 20
    local.close_home(slots, perm, home, 0, n, n_kept)
    swap.close_averages(slots, 0, n, n_kept)
    np.testing.assert_allclose(home, at_home / n_kept)
    np.testing.assert_allclose(slots[:, swap.SUM], held / n_kept)
    assert 0 < home.min() < home.max() < 1
