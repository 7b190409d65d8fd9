"""A chain over partial matchings: every row holds one label of its group, or none.

The weight of a matching is the product over its pairs of

    w(i, j) = exp(gain_j - (y_j - mu_i)² / (2 s²)),

where ``gain_j`` has the odds of a row having its label, the height of the noise's density, and the
density that label j would have if it were nobody's. A sweep makes three kinds of moves:

- **Exchange between rows.** Rows i and i + stride, sorted by mu, exchange what they hold; one of
  them may hold nothing.
- **Exchange between labels.** Labels j and j + stride, sorted, exchange who holds them; one of them
  may be free.
- **Birth and death.** A row that holds label j gives it back. A row that holds none proposes to
  take label j, drawn with probability q_i(j) from the labels near it, or, one time in four, from
  all of its group; nothing happens if j is held. A birth is corrected by 1/q_i(j), a death by
  q_i(j).

Exchanges are symmetric. What is averaged is the mean over the two states between which a proposal
decides, with log ratio l (Hastings' correction included) weighed by 1 / (1 + exp(-l)).
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .rng import draw, stream_key, to_unit
from .skip_match import find_windows
from .strides import draw_stride, stride_scales, sweep_key
from .swap import HOPELESS
from .types import FloatArray, IntArray

NEAR = 2.5  # standard deviations of the noise from which births are proposed
ANYWHERE = 0.25  # share of births proposed from all labels of the group


class PartialRows(NamedTuple):
    """What the chain runs over; see `partial_em.PartialTables` for the order of both sides.

    Attributes
    ----------
    mu : array of shape (n_rows,)
    y, gain : arrays of shape (n_labels,)
    row_starts, label_starts : arrays of shape (n_groups + 1,)
    """

    mu: FloatArray
    y: FloatArray
    gain: FloatArray
    row_starts: IntArray
    label_starts: IntArray


class PartialState(NamedTuple):
    """Where the chain is, and its averages over the last run.

    Attributes
    ----------
    label_of : array of shape (n_rows,)
        Label that each row holds, or -1.
    holds, held, held_squares : arrays of shape (n_rows,)
        Probability of holding a label, and expectations of that label and of its square where a
        row without a label counts as zero.
    is_held : array of shape (n_labels,)
        Probability that somebody holds the label.
    """

    label_of: IntArray
    holds: FloatArray
    held: FloatArray
    held_squares: FloatArray
    is_held: FloatArray


class Side(NamedTuple):
    """One group: rows sorted by mu in slots, labels ascending, each with its partner or -1."""

    mu: FloatArray
    y: FloatArray
    gain: FloatArray
    label_of: IntArray
    slot_of: IntArray
    low: IntArray
    high: IntArray


class Sums(NamedTuple):
    """Sums over the counted visits of one group's rows and labels."""

    holds: FloatArray
    held: FloatArray
    held_squares: FloatArray
    is_held: FloatArray


@kernel
def _odds(log_ratio: float) -> float:
    """Odds of the less likely of two states, which serve their mean and Metropolis' rule."""
    far = -abs(log_ratio)
    return math.exp(far) if far > HOPELESS else 0.0


@kernel
def _add(sums: Sums, i: int, label: int, y: FloatArray, weight: float) -> None:
    if label >= 0:
        value = y[label]
        sums.holds[i] += weight
        sums.held[i] += weight * value
        sums.held_squares[i] += weight * value * value


@kernel
def _cost(side: Side, i: int, j: int, half: float) -> float:
    """Half the squared distance of slot i and label j over the noise; 0 where either is missing."""
    if i < 0 or j < 0:
        return 0.0
    apart: float = side.y[j] - side.mu[i]
    return half * apart * apart


@kernel
def exchange_rows(
    side: Side, half: float, key: np.uint64, low: int, high: int, counts: bool, sums: Sums
) -> int:
    """Pairs of slots exchange what they hold; returns the accepted exchanges."""
    size, accepted = len(side.mu), 0
    stride, offset = draw_stride(key, size, low, high)
    paired = np.zeros(size, dtype=np.bool_)
    for start in range(offset - 2 * stride, size - stride, 2 * stride):
        for i in range(max(start, 0), min(start + stride, size - stride)):
            j = i + stride
            a, b = side.label_of[i], side.label_of[j]
            if a == b:  # neither holds a label
                paired[i] = paired[j] = True
                continue
            log_ratio = _cost(side, i, a, half) + _cost(side, j, b, half)
            log_ratio -= _cost(side, i, b, half) + _cost(side, j, a, half)
            odds = _odds(log_ratio)
            if counts:
                weight = (1.0 if log_ratio >= 0.0 else odds) / (1.0 + odds)
                paired[i] = paired[j] = True
                _add(sums, i, a, side.y, 1.0 - weight)
                _add(sums, i, b, side.y, weight)
                _add(sums, j, b, side.y, 1.0 - weight)
                _add(sums, j, a, side.y, weight)
            if log_ratio >= 0.0 or to_unit(draw(key, i)) < odds:
                accepted += 1
                side.label_of[i], side.label_of[j] = b, a
                if a >= 0:
                    side.slot_of[a] = j
                if b >= 0:
                    side.slot_of[b] = i
    if counts:
        for i in range(size):
            if not paired[i]:
                _add(sums, i, side.label_of[i], side.y, 1.0)
    return accepted


@kernel
def exchange_labels(
    side: Side, half: float, key: np.uint64, low: int, high: int, counts: bool, sums: Sums
) -> int:
    """Pairs of labels exchange who holds them; returns the accepted exchanges."""
    size, accepted = len(side.y), 0
    stride, offset = draw_stride(key, size, low, high)
    paired = np.zeros(size, dtype=np.bool_)
    for start in range(offset - 2 * stride, size - stride, 2 * stride):
        for i in range(max(start, 0), min(start + stride, size - stride)):
            j = i + stride
            a, b = side.slot_of[i], side.slot_of[j]
            if a == b:  # nobody holds either
                paired[i] = paired[j] = True
                continue
            log_ratio = _cost(side, a, i, half) + _cost(side, b, j, half)
            log_ratio -= _cost(side, b, i, half) + _cost(side, a, j, half)
            if a < 0 and b >= 0:
                log_ratio += side.gain[i] - side.gain[j]
            elif b < 0 and a >= 0:
                log_ratio += side.gain[j] - side.gain[i]
            odds = _odds(log_ratio)
            if counts:
                weight = (1.0 if log_ratio >= 0.0 else odds) / (1.0 + odds)
                paired[i] = paired[j] = True
                sums.is_held[i] += (1.0 - weight) * (a >= 0) + weight * (b >= 0)
                sums.is_held[j] += (1.0 - weight) * (b >= 0) + weight * (a >= 0)
            if log_ratio >= 0.0 or to_unit(draw(key, i)) < odds:
                accepted += 1
                side.slot_of[i], side.slot_of[j] = b, a
                if a >= 0:
                    side.label_of[a] = j
                if b >= 0:
                    side.label_of[b] = i
    if counts:
        for i in range(size):
            if not paired[i]:
                sums.is_held[i] += side.slot_of[i] >= 0
    return accepted


@kernel
def birth_probability(side: Side, i: int, j: int) -> float:
    """Probability q_i(j) that slot i, holding nothing, proposes label j."""
    near = side.high[i] - side.low[i]
    if near == 0:
        return 1.0 / len(side.y)
    inside = side.low[i] <= j < side.high[i]
    return ANYWHERE / len(side.y) + ((1.0 - ANYWHERE) / near if inside else 0.0)


@kernel
def bear_and_die(side: Side, half: float, key: np.uint64, counts: bool, sums: Sums) -> int:
    """Every slot gives its label back, or takes a free one; returns the accepted moves."""
    size, n_labels, accepted = len(side.mu), len(side.y), 0
    for i in range(size):
        held = side.label_of[i]
        label = held
        if held < 0:
            place = to_unit(draw(key, 3 * i + 1))
            near = side.high[i] - side.low[i]
            if near == 0 or to_unit(draw(key, 3 * i)) < ANYWHERE:
                label = int(place * n_labels)
            else:
                label = side.low[i] + int(place * near)
            if side.slot_of[label] >= 0:
                continue  # counted as holding nothing, which adds nothing
        log_ratio = side.gain[label] - _cost(side, i, label, half)
        log_ratio -= math.log(birth_probability(side, i, label))
        if held >= 0:
            log_ratio = -log_ratio
        odds = _odds(log_ratio)
        if counts:
            weight = (1.0 if log_ratio >= 0.0 else odds) / (1.0 + odds)
            _add(sums, i, label, side.y, weight if held < 0 else 1.0 - weight)
        if log_ratio >= 0.0 or to_unit(draw(key, 3 * i + 2)) < odds:
            accepted += 1
            if held < 0:
                side.label_of[i], side.slot_of[label] = label, i
            else:
                side.label_of[i], side.slot_of[label] = -1, -1
    return accepted


@kernel
def _run_group(
    side: Side, precision: float, key: np.uint64, burn_in: int, n_sweeps: int, sums: Sums
) -> int:
    """All sweeps of one group."""
    half, accepted = 0.5 * precision, 0
    rows, labels = stride_scales(side.mu, precision), stride_scales(side.y, precision)
    for sweep in range(burn_in + n_sweeps):
        counts = sweep >= burn_in
        accepted += bear_and_die(side, half, sweep_key(key, 3 * sweep), counts, sums)
        if len(side.mu) > 1:
            accepted += exchange_rows(
                side, half, sweep_key(key, 3 * sweep + 1), rows[0], rows[1], counts, sums
            )
        if len(side.y) > 1:
            accepted += exchange_labels(
                side, half, sweep_key(key, 3 * sweep + 2), labels[0], labels[1], counts, sums
            )
        elif counts:
            sums.is_held[0] += side.slot_of[0] >= 0
    return accepted


@kernel
def sweep_partial(
    rows: PartialRows,
    state: PartialState,
    group: int,
    group_end: int,
    precision: float,
    seed: np.uint64,
    iteration: int,
    burn_in: int,
    n_sweeps: int,
) -> int:
    """Run the chains of groups [group, group_end) and average; returns the accepted moves.

    The chain goes on from ``state.label_of`` and leaves it where it ended.
    """
    accepted = 0
    for g in range(group, group_end):
        first, last = rows.row_starts[g], rows.row_starts[g + 1]
        first_label, last_label = rows.label_starts[g], rows.label_starts[g + 1]
        size, n_labels = last - first, last_label - first_label
        order = np.argsort(rows.mu[first:last], kind="mergesort")
        side = Side(
            rows.mu[first:last][order],
            rows.y[first_label:last_label],
            rows.gain[first_label:last_label],
            np.empty(size, dtype=np.int64),
            np.full(n_labels, -1),
            np.empty(size, dtype=np.int64),
            np.empty(size, dtype=np.int64),
        )
        for k in range(size):
            label = state.label_of[first + order[k]]
            side.label_of[k] = label - first_label if label >= 0 else -1
            if label >= 0:
                side.slot_of[label - first_label] = k
        find_windows(side.mu, side.y, NEAR / math.sqrt(precision), side.low, side.high)
        sums = Sums(np.zeros(size), np.zeros(size), np.zeros(size), np.zeros(n_labels))
        key = stream_key(seed, iteration, g)
        accepted += _run_group(side, precision, key, burn_in, n_sweeps, sums)
        # A sweep visits a row twice, or once where it has nobody to exchange with.
        visits = (2.0 if size > 1 else 1.0) * n_sweeps
        for k in range(size):
            i, label = first + order[k], side.label_of[k]
            state.label_of[i] = first_label + label if label >= 0 else -1
            state.holds[i] = sums.holds[k] / visits
            state.held[i] = sums.held[k] / visits
            state.held_squares[i] = sums.held_squares[k] / visits
        for j in range(n_labels):
            state.is_held[first_label + j] = sums.is_held[j] / n_sweeps
    return accepted
