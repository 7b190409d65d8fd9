"""The chain leaves exactly the right distribution fixed, and averages exactly what it visits."""

import itertools

import numpy as np
import pytest

from oracles import enumerated_posterior
from unshuffle.kernels import swap
from unshuffle.kernels.rng import stream_key

STARTS = np.array([0, 4], dtype=np.int64)


def new_slots(mu, y, perm):
    slots = np.zeros((len(mu), 4))
    slots[:, swap.MU] = mu
    slots[:, swap.HELD] = y[perm]
    return slots


def bits_for(i, j, n):
    """64 bits from which the kernel reads the pair (i, j)."""
    middle = [(2 * k + 1) * 2**32 // (2 * n) for k in (i, j)]
    return np.uint64((middle[0] << 32) | middle[1])


def acceptance(monkeypatch, mu, y, perm, scale, i, j):
    """Probability with which the kernel itself accepts the pair, found by bisection of its draw."""
    n = len(mu)

    def accepts(unit_bits):
        rule = getattr(swap.accepts, "py_func", swap.accepts)
        answers = {2: bits_for(i, j, n), 3: np.uint64(unit_bits << 11)}
        monkeypatch.setattr(swap, "draw", lambda key, counter: answers[counter])
        monkeypatch.setattr(swap, "accepts", rule)
        work = perm.copy()
        done = swap.advance_group.py_func(
            new_slots(mu, y, perm), work, 0, n, scale**-2, np.uint64(0), 0, 1, 0, 1
        )
        return done == 1, work

    low, high = 0, 2**53
    if not accepts(low)[0]:
        return 0.0, perm
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if accepts(middle)[0] else (low, middle)
    return high / 2**53, accepts(0)[1]


def transition_matrix(monkeypatch, mu, y, scale):
    perms, target = enumerated_posterior(mu, y, scale, STARTS)
    number = {tuple(p): k for k, p in enumerate(perms)}
    matrix = np.zeros((len(perms), len(perms)))
    n = len(mu)
    for k, perm in enumerate(perms):
        for i in range(n):
            for j in range(n):
                probability, after = acceptance(monkeypatch, mu, y, perm, scale, i, j)
                matrix[k, number[tuple(after)]] += probability / n**2
                matrix[k, k] += (1 - probability) / n**2
    return matrix, target


def test_one_step_leaves_the_posterior_fixed(monkeypatch):
    rng = np.random.default_rng(0)
    mu, y = rng.normal(size=4), rng.normal(size=4)
    matrix, target = transition_matrix(monkeypatch, mu, y, 0.7)
    assert np.allclose(matrix.sum(axis=1), 1.0, atol=1e-14)
    assert np.abs(target @ matrix - target).max() < 1e-12
    _, wrong = enumerated_posterior(mu, y, 0.7 / np.sqrt(2), STARTS)  # exponent without the 1/2
    assert np.abs(wrong @ matrix - wrong).max() > 1e-3


@pytest.mark.parametrize(("burn_in", "thin"), [(0, 1), (7, 1), (10, 3), (0, 1000)])
def test_residence_time_equals_averaging_every_kept_state(burn_in, thin):
    rng = np.random.default_rng(1)
    n, steps = 6, 400
    mu, y = rng.normal(size=n), rng.normal(size=n)
    key = stream_key(np.uint64(5), 0, 0)
    perm = np.arange(n)
    slots = new_slots(mu, y, perm)
    kept = []
    for step in range(steps):
        swap.advance_group(slots, perm, 0, n, 4.0, key, step, step + 1, burn_in, thin)
        if step + 1 > burn_in and (step + 1 - burn_in) % thin == 0:
            kept.append(y[perm])
    n_kept = swap.kept_states(steps, burn_in, thin)
    swap.close_averages(slots, 0, n, n_kept)
    assert n_kept == len(kept)
    expected = np.mean(kept, axis=0) if kept else y[perm]
    np.testing.assert_allclose(slots[:, swap.SUM], expected, rtol=1e-12)


def test_labels_and_permutation_stay_together():
    rng = np.random.default_rng(2)
    n = 50
    mu, y, perm = rng.normal(size=n), rng.normal(size=n), np.arange(n)
    slots = new_slots(mu, y, perm)
    accepted = swap.advance_group(slots, perm, 0, n, 1.0, np.uint64(9), 0, 5000, 0, 1)
    assert accepted > 100
    assert sorted(perm) == list(range(n))
    assert np.array_equal(slots[:, swap.HELD], y[perm])


def test_labels_stay_in_their_group_and_shares_add_up():
    rng = np.random.default_rng(3)
    starts = np.array([0, 3, 10, 30], dtype=np.int64)
    mu, y, perm = rng.normal(size=30), rng.normal(size=30), np.arange(30)
    slots = new_slots(mu, y, perm)
    schedule, stream = swap.Schedule(10_000, 100, 1), swap.Stream(np.uint64(1), 0)
    swap.advance_groups(slots, perm, starts, 0.01, stream, schedule, swap.Task(0, 3, 0, 1))
    for a, b in itertools.pairwise(starts):
        assert sorted(perm[a:b]) == list(range(a, b))
    total = 12_345
    assert sum(swap.share(total, int(a), int(b), 30)
               for a, b in itertools.pairwise(starts)) == total  # fmt: skip


def test_ties_and_tiny_noise_are_harmless():
    n = 8
    mu, y, perm = np.zeros(n), np.array([1.0, 1, 1, 2, 2, 2, 3, 3]), np.arange(n)
    slots = new_slots(mu, y, perm)
    swap.advance_group(slots, perm, 0, n, 1e20, np.uint64(1), 0, 2000, 0, 1)
    swap.close_averages(slots, 0, n, 2000)
    assert np.isfinite(slots).all()
    assert slots[:, swap.SUM].sum() == pytest.approx(y.sum())
