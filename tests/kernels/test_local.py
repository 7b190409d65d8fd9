"""The rank-local chain leaves the posterior with its prior on mismatches fixed."""

import numpy as np
import pytest

from oracles import enumerated_posterior
from unshuffle.kernels import local, strides, swap
from unshuffle.kernels.local import ALL_SCALES, RowPrior

N = 4
NOWHERE = np.empty(0, dtype=np.int64)
PRIORS = {
    "uniform": RowPrior(np.empty(0), NOWHERE, 0),
    "mismatches cost": RowPrior(np.array([0.5, 1.5, 1.0, 0.2]), NOWHERE, 0),
    "reach": RowPrior(np.array([0.5, 0.5, 0.5, 0.5]), np.array([0, 1, 2, 3]), 1),
}


def target_of(perms, likelihood, prior):
    """The posterior by brute force: likelihood times prior, zero beyond reach."""
    weight = likelihood.copy()
    for k, perm in enumerate(perms):
        moved = perm != np.arange(N)
        if len(prior.costs):
            weight[k] *= np.exp(-prior.costs[moved].sum())
        if len(prior.places) and np.abs(perm - np.arange(N)).max() > prior.reach:
            weight[k] = 0.0
    return weight / weight.sum()


def all_first_draws(kinds):
    """One draw for every combination of place, scale, direction, kind and distance.

    Fields of bits are taken at the centres of cells that are at least as fine as anything the
    kernel distinguishes for four rows, so that equal weights are exact.
    """
    cells = 4
    for place in range(N):
        high = ((2 * place + 1) << 32) // (2 * N)
        for scale in range(32):
            for direction in range(2):
                for kind in kinds:
                    for cell in range(cells):
                        distance = ((2 * cell + 1) << 24) // (2 * cells)
                        low = (scale << 27) | (direction << 26) | (kind << 24) | distance
                        yield np.uint64((high << 32) | low)


class Kernel:
    """The kernel on four rows, with its draws replaced."""

    def __init__(self, monkeypatch, prior, suspected, noise=0.7):
        rng = np.random.default_rng(0)
        self.mu, self.y, self.noise, self.prior = (
            rng.normal(size=N),
            rng.normal(size=N),
            noise,
            prior,
        )
        local_table = len(prior.places) > 0
        self.rows = np.arange(N) if local_table else np.argsort(self.mu)
        self.max_scale = 2 if local_table else ALL_SCALES
        self.suspects = np.array([i for i in self.rows if i in suspected], dtype=np.int64)
        self.place_of = np.full(N, -1)
        self.place_of[self.suspects] = np.arange(len(self.suspects))
        self.perms, likelihood = enumerated_posterior(self.mu, self.y, noise, np.array([0, N]))
        self.number = {tuple(p): k for k, p in enumerate(self.perms)}
        self.target = target_of(self.perms, likelihood, prior)
        self.bits = self.unit = np.uint64(0)
        for module in (local, swap):
            monkeypatch.setattr(
                module, "draw", lambda key, counter: (self.unit, self.bits)[counter == 2]
            )
        monkeypatch.setattr(local, "accepts", swap.accepts.py_func)

    def step(self, k, bits, unit):
        """State after one step from state k, with these two draws."""
        self.bits, self.unit = bits, unit
        perm = self.perms[k].copy()
        slots = np.zeros((N, 4))
        slots[:, swap.MU], slots[:, swap.HELD] = self.mu, self.y[perm]
        row_of_label = np.argsort(perm)
        lists = local.Lists(self.rows, self.suspects, NOWHERE, self.place_of, self.max_scale)
        local.advance_block.py_func(
            local.State(slots, perm, row_of_label, np.zeros(N)), lists, self.prior,
            self.noise**-2, np.uint64(0), 0, 1, swap.Schedule(1, 0, 1),
        )  # fmt: skip
        assert np.array_equal(row_of_label, np.argsort(perm))
        return self.number[tuple(perm)]

    def proposals(self, draws):
        """Probability that each state proposes each other: the lowest second draw accepts them all."""
        proposed = np.zeros((len(self.perms), len(self.perms)))
        for k in np.flatnonzero(self.target):
            for bits in draws:
                proposed[k, self.step(k, bits, np.uint64(0))] += 1.0 / len(draws)
        return proposed


def unit_draw(value):
    """64 bits that the kernel reads as `value`."""
    return np.uint64(int(value * 2**53) << 11)


@pytest.mark.long
@pytest.mark.parametrize("name", PRIORS)
@pytest.mark.parametrize(
    ("kinds", "suspected"),
    [((0, 1, 2, 3), ()), ((1,), (0, 2, 3)), ((2, 3), (0, 2, 3)), ((2, 3), (0, 1, 2, 3))],
    ids=["all rows", "suspects", "match flips", "match flips, all"],
)
def test_every_kind_of_proposal_is_in_detailed_balance(monkeypatch, name, kinds, suspected):
    """The kernel accepts with min(1, π(b) q(b, a) / π(a) q(a, b)), q counted from its own draws."""
    kernel = Kernel(monkeypatch, PRIORS[name], suspected)
    draws = list(all_first_draws(kinds))
    proposed, target = kernel.proposals(draws), kernel.target
    checked = 0
    for k in (0, 1, 7, 16, 22):
        if target[k] == 0.0:
            continue
        for bits in draws[::13]:
            other = kernel.step(k, bits, np.uint64(0))
            if other == k:
                continue
            ratio = target[other] * proposed[other, k] / (target[k] * proposed[k, other])
            accept = min(1.0, ratio)
            assert kernel.step(k, bits, unit_draw(accept * (1 - 1e-9))) == other
            if accept < 1.0 - 1e-6:
                assert kernel.step(k, bits, unit_draw(accept * (1 + 1e-9))) == k
            checked += 1
    assert checked > 20
    accept = np.minimum(1.0, np.divide(
        target * proposed.T, target[:, None] * proposed,
        out=np.zeros_like(proposed), where=target[:, None] * proposed > 0,
    ))  # fmt: skip
    matrix = proposed * accept
    np.fill_diagonal(matrix, 0.0)
    matrix += np.diag(1.0 - matrix.sum(axis=1))
    assert np.abs(target @ matrix - target).max() < 1e-12
    wrong = target**1.2 / np.sum(target**1.2)
    assert np.abs(wrong @ matrix - wrong).max() > 1e-5


def test_probabilities_of_neighbours_add_up():
    for low, high in ((1, 1), (1, 3), (2, 7), (3, 8)):
        probability = np.exp(strides.log_distance_probabilities(low, high))
        assert len(probability) == 2**high + 1
        assert probability[0] == 0.0
        assert 2 * probability.sum() == pytest.approx(1.0)
        assert np.all(np.diff(probability[1:]) <= 0)


def test_matched_states_are_counted():
    rng = np.random.default_rng(2)
    n, steps = 6, 300
    mu, y, perm = rng.normal(size=n), rng.normal(size=n), np.arange(n)
    slots, matched = np.zeros((n, 4)), np.zeros(n)
    slots[:, swap.MU], slots[:, swap.HELD] = mu, y
    rows, prior = np.argsort(mu), RowPrior(np.full(n, 0.5), NOWHERE, 0)
    own, held = np.zeros(n), np.zeros(n)
    state = local.State(slots, perm, NOWHERE, matched)
    lists = local.Lists(rows, NOWHERE, NOWHERE, NOWHERE, ALL_SCALES)
    schedule = swap.Schedule(steps, 20, 1)
    for step in range(steps):
        local.advance_block(state, lists, prior, 2.0, np.uint64(7), step, step + 1, schedule)
        if step + 1 > 20:
            own += perm == np.arange(n)
            held += y[perm]
    n_kept = steps - 20
    local.close_matches(state, 0, n, n_kept)
    swap.close_averages(slots, 0, n, n_kept)
    np.testing.assert_allclose(matched, own / n_kept)
    np.testing.assert_allclose(slots[:, swap.SUM], held / n_kept)
    assert 0 < matched.min() < matched.max() < 1
