"""Systematic rank-local sweeps over permutations.

Rows stand in *slots*, sorted by mu or nearly so, and every array is laid out in slot order. A sweep
visits each slot once. There are two kinds:

- **Pairs.** A stride and an offset are drawn, slots r and r + stride of alternating stretches
  are paired, and each pair proposes to exchange labels. Pairs are disjoint, so their order, and
  who works on which of them, does not matter; memory is read from one end to the other.
- **Match flips**, where the order given is mostly right. A row that holds its own label proposes
  to exchange it with a neighbour, found with probability q; one that does not takes its own label
  back from the row that holds it. Each undoes the other, so giving up the own label is corrected by
  1/q and taking it back by q.

Strides, offsets and slots do not depend on the labels, so both leave the posterior as it is. What
is averaged is not the state after a proposal but its mean over the two states between which
the proposal decides, weighted by their probabilities (Rao-Blackwell): with log ratio l of the two,
the other state weighs ``1 / (1 + exp(-l))``.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import inlined, kernel
from .rng import draw, to_unit
from .strides import (
    draw_shell,
    draw_stride,
    is_upward,
    log_shell_probabilities,
    scale_of,
    stride_scales,
    sweep_key,
)
from .swap import HOPELESS, accepts, exchange_cost
from .types import FloatArray, IntArray

PAIRS, FLIPS, MISMATCHED_FLIPS = 0, 1, 2
MISMATCHED_SWEEPS = 2


class Slots(NamedTuple):
    """The rows of one list, in slot order.

    Attributes
    ----------
    mu, held : arrays of shape (m,)
        Fitted value of the row, and the label value it holds.
    label : array of shape (m,)
        Slot of the row whose own label it is; ``-1 - row`` where that row has no slot.
    total, matched : arrays of shape (m,)
        Sums, over the counted visits, of the label and of the probability of holding the own one.
    cost : array of shape (m,), or of length 0 for the uniform prior
        Log odds against the row being mismatched.
    where : array of shape (m,), or of length 0 for the uniform prior
        Slot that holds the own label of the row; -1 where it is held outside.
    """

    mu: FloatArray
    held: FloatArray
    label: IntArray
    total: FloatArray
    matched: FloatArray
    cost: FloatArray
    where: IntArray


@kernel
def sweep_pairs(
    slots: Slots,
    precision: float,
    key: np.uint64,
    stride: int,
    offset: int,
    lower: int,
    upper: int,
    counts: bool,
) -> int:
    """Visit the pairs whose lower slot is in [lower, upper); return the accepted exchanges.

    Pairs are (r, r + stride) for r in ``offset + 2 k stride + [0, stride)``, k any integer.
    """
    mu, held, label = slots.mu, slots.held, slots.label
    total, matched, cost, where = slots.total, slots.matched, slots.cost, slots.where
    size, period, accepted = len(mu), 2 * stride, 0
    priced = len(cost) > 0
    start = offset - period
    start += (lower - start) // period * period
    while start < upper:
        first, last = max(start, lower), min(start + stride, upper)
        for i in range(first, min(last, size - stride)):
            j = i + stride
            held_i, held_j, label_i, label_j = held[i], held[j], label[i], label[j]
            log_ratio = (mu[i] - mu[j]) * (held_j - held_i) * precision
            if priced:
                log_ratio -= exchange_cost(cost, i, j, label_i, label_j)
            far = -abs(log_ratio)
            odds = math.exp(far) if far > HOPELESS else 0.0
            if counts:
                weight = (1.0 if log_ratio >= 0.0 else odds) / (1.0 + odds)
                moved = weight * (held_j - held_i)
                total[i] += held_i + moved
                total[j] += held_j - moved
                matched[i] += weight * (label_j == i) + (1.0 - weight) * (label_i == i)
                matched[j] += weight * (label_i == j) + (1.0 - weight) * (label_j == j)
            if log_ratio >= 0.0 or to_unit(draw(key, i)) < odds:
                accepted += 1
                held[i], label[i] = held_j, label_j
                held[j], label[j] = held_i, label_i
                if priced:
                    if label_j >= 0:
                        where[label_j] = i
                    if label_i >= 0:
                        where[label_i] = j
        if counts:  # slots without a partner, at the two ends
            for i in range(max(first, size - stride), last):
                total[i] += held[i]
                matched[i] += label[i] == i
            for i in range(max(start + stride, lower), min(start + period, upper, stride)):
                total[i] += held[i]
                matched[i] += label[i] == i
        start += period
    return accepted


@kernel
def sweep_flips(
    slots: Slots, precision: float, key: np.uint64, low: int, high: int, counts: bool
) -> int:
    """Propose to each slot in turn to give up its own label or to take it back; return accepted."""
    mu, held, label = slots.mu, slots.held, slots.label
    total, matched, cost, where = slots.total, slots.matched, slots.cost, slots.where
    size, accepted, farthest = len(mu), 0, 1 << high
    log_q = log_shell_probabilities(low, high)
    for i in range(size):
        held_i, label_i = held[i], label[i]
        if label_i == i:
            bits = draw(key, 2 * i)
            distance, scale = draw_shell(bits, low, high)
            j = i + distance if is_upward(bits) else i - distance
            correction = -log_q[scale]
        else:
            j = where[i]
            distance = abs(j - i)
            if j < 0 or distance > farthest:
                j = -1
            else:
                correction = log_q[scale_of(distance, low)]
        if j < 0 or j >= size:
            if counts:
                total[i] += held_i
                matched[i] += label_i == i
            continue
        held_j, label_j = held[j], label[j]
        log_ratio = (mu[i] - mu[j]) * (held_j - held_i) * precision
        log_ratio += correction - exchange_cost(cost, i, j, label_i, label_j)
        far = -abs(log_ratio)
        odds = math.exp(far) if far > HOPELESS else 0.0
        if counts:
            weight = (1.0 if log_ratio >= 0.0 else odds) / (1.0 + odds)
            total[i] += held_i + weight * (held_j - held_i)
            matched[i] += 1.0 - weight if label_i == i else weight
        if log_ratio >= 0.0 or to_unit(draw(key, 2 * i + 1)) < odds:
            accepted += 1
            held[i], label[i] = held_j, label_j
            held[j], label[j] = held_i, label_i
            if label_j >= 0:
                where[label_j] = i
            if label_i >= 0:
                where[label_i] = j
    return accepted


class Mismatched(NamedTuple):
    """Slots that do not hold their own label, copied side by side."""

    slot: IntArray
    mu: FloatArray
    held: FloatArray
    label: IntArray


@inlined
def gather_mismatched(slots: Slots, first: int, step: int) -> Mismatched:
    """Copy those of the slots first, first + step, ... that are mismatched."""
    count = 0
    for i in range(first, len(slots.mu), step):
        count += slots.label[i] != i
    slot, label = np.empty(count, dtype=np.int64), np.empty(count, dtype=np.int64)
    mu, held = np.empty(count), np.empty(count)
    k = 0
    for i in range(first, len(slots.mu), step):
        if slots.label[i] != i:
            slot[k], mu[k], held[k], label[k] = i, slots.mu[i], slots.held[i], slots.label[i]
            k += 1
    return Mismatched(slot, mu, held, label)


@inlined
def scatter_mismatched(others: Mismatched, slots: Slots) -> None:
    """Copy the labels back."""
    for k in range(len(others.slot)):
        slots.held[others.slot[k]] = others.held[k]
        slots.label[others.slot[k]] = others.label[k]


@kernel
def sweep_mismatched_flips(slots: Slots, precision: float, key: np.uint64, counts: bool) -> int:
    """Flip slots of one parity, with neighbours among the mismatched slots of the other.

    A slot that gives up its own label exchanges it with a mismatched slot, which stays mismatched;
    so does the one from which a slot takes its own label back. So the set of mismatched slots of
    the other parity does not change, and neighbours can be drawn from it alone: no proposal is lost
    on matched rows.
    """
    mu, held, label = slots.mu, slots.held, slots.label
    total, matched, cost, where = slots.total, slots.matched, slots.cost, slots.where
    size, accepted = len(mu), 0
    rank = np.empty(size, dtype=np.int64)
    for parity in range(2):
        others = gather_mismatched(slots, 1 - parity, 2)
        n_others = len(others.slot)
        for k in range(n_others):
            rank[others.slot[k]] = k
        low, high = stride_scales(others.mu, precision) if n_others > 1 else (1, 0)
        high += 1
        log_q, farthest = log_shell_probabilities(low, high), 1 << high
        place = 0  # of the slot among the others: the number of those before it
        for i in range(parity, size, 2):
            while place < n_others and others.slot[place] < i:
                place += 1
            held_i, label_i = held[i], label[i]
            is_matched = label_i == i
            other = -1
            if is_matched:
                bits = draw(key, 2 * i)
                distance, scale = draw_shell(bits, low, high)
                other = place + distance - 1 if is_upward(bits) else place - distance
                correction = -log_q[scale] - cost[i]
            else:
                j = where[i]
                if j >= 0 and (j ^ i) & 1 and label_i != j:
                    other = rank[j]
                    distance = other - place + 1 if other >= place else place - other
                    if distance <= farthest:
                        correction = log_q[scale_of(distance, low)] + cost[i]
                    else:
                        other = -1
            if other < 0 or other >= n_others:
                if counts:
                    total[i] += held_i
                    matched[i] += is_matched
                continue
            held_j, label_j = others.held[other], others.label[other]
            log_ratio = (mu[i] - others.mu[other]) * (held_j - held_i) * precision + correction
            far = -abs(log_ratio)
            odds = math.exp(far) if far > HOPELESS else 0.0
            if counts:
                weight = (1.0 if log_ratio >= 0.0 else odds) / (1.0 + odds)
                total[i] += held_i + weight * (held_j - held_i)
                matched[i] += 1.0 - weight if is_matched else weight
            if log_ratio >= 0.0 or to_unit(draw(key, 2 * i + 1)) < odds:
                accepted += 1
                held[i], label[i] = held_j, label_j
                others.held[other], others.label[other] = held_i, label_i
                if label_j >= 0:
                    where[label_j] = i
                if label_i >= 0:
                    where[label_i] = others.slot[other]
        scatter_mismatched(others, slots)
    return accepted


@kernel
def sweep_mismatched(slots: Slots, precision: float, key: np.uint64, n_sweeps: int) -> int:
    """Exchange labels among the mismatched slots, none of which may get its own.

    The set of mismatched slots stays as it is, so the pairs are drawn as if there were no others.
    Mismatched rows are few, which makes this the cheap way to mix their labels.
    """
    others = gather_mismatched(slots, 0, 1)
    slot, mu, held, label = others.slot, others.mu, others.held, others.label
    size, accepted = len(slot), 0
    if size < 3:  # two could only get their own labels
        return 0
    low, high = stride_scales(mu, precision)
    for number in range(n_sweeps):
        this = sweep_key(key, number + 1)
        stride, offset = draw_stride(this, size, low, high)
        for start in range(offset - 2 * stride, size - stride, 2 * stride):
            for i in range(max(start, 0), min(start + stride, size - stride)):
                j = i + stride
                if label[i] == slot[j] or label[j] == slot[i]:
                    continue
                log_ratio = (mu[i] - mu[j]) * (held[j] - held[i]) * precision
                if not accepts(log_ratio, this, i):
                    continue
                accepted += 1
                held[i], held[j] = held[j], held[i]
                label[i], label[j] = label[j], label[i]
    scatter_mismatched(others, slots)
    for k in range(size):
        if label[k] >= 0:
            slots.where[label[k]] = slot[k]
    return accepted


@inlined
def kind_of(number: int, priced: bool) -> int:
    """What sweep `number` does: without costs always pairs; with costs in one of eight sweeps."""
    if not priced or number % 8 == 7:
        return PAIRS
    return FLIPS if number % 8 == 3 else MISMATCHED_FLIPS


@inlined
def sweep_once(
    slots: Slots,
    precision: float,
    key: np.uint64,
    kind: int,
    low: int,
    high: int,
    lower: int,
    upper: int,
    counts: bool,
) -> tuple[int, int]:
    """Run one sweep, or its part in [lower, upper); return accepted and proposed exchanges.

    Only pairs can be cut into parts: flips reach any slot.
    """
    size = len(slots.mu)
    if kind == PAIRS:
        stride, offset = draw_stride(key, size, low, high)
        accepted = sweep_pairs(slots, precision, key, stride, offset, lower, upper, counts)
        return accepted, (upper - lower) // 2
    sweep_mismatched(slots, precision, key, MISMATCHED_SWEEPS)
    if kind == FLIPS:
        return sweep_flips(slots, precision, key, low, high, counts), size
    return sweep_mismatched_flips(slots, precision, key, counts), size
