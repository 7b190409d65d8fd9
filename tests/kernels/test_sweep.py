"""Every kind of sweep leaves the posterior fixed, and what it counts has the posterior mean."""

import itertools

import numpy as np
import pytest

from oracles import enumerated_posterior
from unshuffle.kernels import strides, swap, sweep
from unshuffle.kernels.sweep import Slots

N = 4
COSTS = {"uniform": np.empty(0), "mismatches cost": np.array([0.5, 1.5, 1.0, 0.2])}


class Decisions:
    """Replays a script of choices, and writes down those that were not foreseen."""

    def __init__(self, script):
        self.script, self.made, self.probability = script, [], 1.0

    def choose(self, probabilities):
        k = self.script[len(self.made)] if len(self.made) < len(self.script) else 0
        self.made.append((k, len(probabilities)))
        self.probability *= probabilities[k]
        return k


class Coin:
    """A uniform draw of which only comparisons are asked."""

    def __init__(self, decisions):
        self.decisions = decisions

    def __lt__(self, p):
        return p > 0.0 and self.decisions.choose([p, 1.0 - p]) == 0

    def __ge__(self, p):
        return not self < p


def every_outcome(monkeypatch, run, n_scales):
    """Yield probability and result of `run()` for all it may draw.

    Even counters draw a neighbour on the scales 1 .. `n_scales`, at two distances each.
    """
    neighbours = [
        np.uint64((scale << 31) | (direction << 26) | (half << 23))
        for scale, direction, half in itertools.product(range(n_scales), range(2), range(2))
    ]
    evenly = [1 / len(neighbours)] * len(neighbours)
    todo = [[]]
    while todo:
        script = todo.pop()
        decisions = Decisions(script)

        def draw(key, counter, decisions=decisions):
            return neighbours[decisions.choose(evenly)] if counter % 2 == 0 else None

        for module in (sweep, swap):
            monkeypatch.setattr(module, "draw", draw)
            monkeypatch.setattr(module, "to_unit", lambda bits, d=decisions: Coin(d))
        monkeypatch.setattr(sweep, "accepts", swap.accepts.py_func)
        result = run()
        if decisions.probability > 0.0:
            yield decisions.probability, result
        for place in range(len(script), len(decisions.made)):
            first = [k for k, _ in decisions.made[:place]]
            todo += [[*first, k] for k in range(1, decisions.made[place][1])]


class Setting:
    def __init__(self, costs, n=N, noise=0.9):
        rng = np.random.default_rng(0)
        self.mu, self.y = np.sort(rng.normal(size=n)), rng.normal(size=n)
        self.n, self.costs, self.precision = n, costs, noise**-2
        self.perms, weight = enumerated_posterior(self.mu, self.y, noise, np.array([0, n]))
        if len(costs):
            weight = weight * np.exp([-costs[p != np.arange(n)].sum() for p in self.perms])
        self.target = weight / weight.sum()
        self.number = {tuple(p): k for k, p in enumerate(self.perms)}

    def slots(self, k):
        perm, zero = self.perms[k], np.zeros(self.n)
        where = np.argsort(perm) if len(self.costs) else np.empty(0, dtype=np.int64)
        return Slots(
            self.mu, self.y[perm], perm.copy(), zero.copy(), zero.copy(), self.costs, where
        )

    def check(self, monkeypatch, move, n_scales=1, counts=True):
        """Stationary, with consistent slots, and unbiased in what is counted."""
        after, total, own = np.zeros(len(self.perms)), np.zeros(self.n), np.zeros(self.n)
        for k, start in enumerate(self.target):

            def run(k=k):
                slots = self.slots(k)
                move(slots)
                return slots

            reached = 0.0
            for probability, slots in every_outcome(monkeypatch, run, n_scales):
                if len(self.costs):
                    assert np.array_equal(slots.where, np.argsort(slots.label))
                assert np.array_equal(slots.held, self.y[slots.label])
                after[self.number[tuple(slots.label)]] += start * probability
                total += start * probability * slots.total
                own += start * probability * slots.matched
                reached += probability
            assert reached == pytest.approx(1.0)
        if counts:
            np.testing.assert_allclose(total, self.target @ self.y[self.perms], atol=1e-12)
            is_own = self.perms == np.arange(self.n)
            np.testing.assert_allclose(own, self.target @ is_own, atol=1e-12)
        return np.abs(after - self.target).max()


@pytest.mark.parametrize("name", COSTS)
def test_pairs_leave_the_posterior_fixed(monkeypatch, name):
    setting = Setting(COSTS[name])
    key, precision = np.uint64(0), setting.precision
    for stride in (1, 2, 3):
        for offset in range(2 * stride):
            args = (key, stride, offset, 0, N, True)

            def move(slots, precision=precision, args=args):
                sweep.sweep_pairs.py_func(slots, precision, *args)

            assert setting.check(monkeypatch, move) < 1e-12

    def cut(slots):
        for first in range(N):
            sweep.sweep_pairs.py_func(slots, precision, key, 2, 1, first, first + 1, True)

    assert setting.check(monkeypatch, cut) < 1e-12


KINDS = {
    "flips": lambda slots, p: sweep.sweep_flips.py_func(slots, p, np.uint64(0), 1, 2, True),
    "mismatched flips": lambda slots, p: sweep.sweep_mismatched_flips.py_func(
        slots, p, np.uint64(0), True
    ),
}
CASES = [("flips", 3, 2), ("mismatched flips", 4, 1)]


@pytest.mark.parametrize(("name", "n", "n_scales"), CASES)
def test_match_flips_leave_the_posterior_fixed(monkeypatch, name, n, n_scales):
    setting = Setting(COSTS["mismatches cost"][:n], n)

    def move(slots):
        KINDS[name](slots, setting.precision)

    monkeypatch.setattr(sweep, "stride_scales", lambda mu, precision: (1, 0))
    assert setting.check(monkeypatch, move, n_scales) < 1e-12
    right = sweep.log_shell_probabilities
    monkeypatch.setattr(sweep, "log_shell_probabilities", lambda low, high: right(low, high) + 0.1)
    assert setting.check(monkeypatch, move, n_scales, counts=False) > 1e-4


def test_exchanges_among_mismatched_slots_leave_the_posterior_fixed(monkeypatch):
    setting = Setting(COSTS["mismatches cost"])
    moved = 0
    for stride, offset in ((1, 0), (1, 1), (2, 0), (2, 3), (3, 1)):
        monkeypatch.setattr(sweep, "draw_stride", lambda *args, s=stride, o=offset: (s, o))

        def move(slots):
            nonlocal moved
            before = slots.label == np.arange(N)
            moved += sweep.sweep_mismatched.py_func(slots, setting.precision, np.uint64(0), 1)
            assert np.array_equal(before, slots.label == np.arange(N))

        assert setting.check(monkeypatch, move, counts=False) < 1e-12
    assert moved > 10


def test_probabilities_of_neighbours_add_up():
    for low, high in ((1, 1), (1, 3), (2, 7), (3, 8)):
        probability = np.exp(strides.log_shell_probabilities(low, high))
        distances = np.arange(1, 2**high + 1)
        assert 2 * sum(probability[strides.scale_of(d, low)] for d in distances) == pytest.approx(
            1.0
        )
        rng = np.random.default_rng(0)
        drawn = [
            strides.draw_shell(bits, low, high)
            for bits in rng.integers(2**64, size=20_000, dtype=np.uint64)
        ]
        assert all(strides.scale_of(d, low) == scale for d, scale in drawn)
        counts = np.bincount([d for d, _ in drawn], minlength=2**high + 1)[1:]
        expected = np.array([2 * probability[strides.scale_of(d, low)] for d in distances]) * 20_000
        assert np.sum((counts - expected) ** 2 / expected) < 2**high + 4.5 * 2 ** (0.5 * high + 1)


def test_strides_and_offsets_stay_inside():
    for size in (2, 3, 50):
        pairs = [
            strides.draw_stride(np.uint64(strides.sweep_key(np.uint64(1), k)), size, 1, 6)
            for k in range(300)
        ]
        seen = {stride for stride, _ in pairs}
        assert min(seen) == 1
        assert max(seen) <= size - 1
        assert all(0 <= offset < 2 * stride for stride, offset in pairs)
