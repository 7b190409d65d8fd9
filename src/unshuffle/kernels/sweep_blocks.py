"""Whole blocks by systematic sweeps: into slot order, sweep, and back.

A block is worked on in its own small space, so that next to nothing is kept per row and groups of
ordinary size never leave the processor's nearest cache. Where the order is mostly right most
sweeps go over the suspects alone, since all others hardly ever change their label; two go over all
rows.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .jit import ZERO, inlined, kernel
from .ranking import new_ranking, rank_block
from .rng import stream_key
from .strides import draw_stride, stride_scales, sweep_key
from .sweep import Slots, kind_of, sweep_once, sweep_pairs
from .types import BoolArray, FloatArray, IntArray

SWEEPS_OVER_ALL = 2


class Plan(NamedTuple):
    """Sweeps of one iteration: `n_warm` that do not count, then `n_kept` that do."""

    n_warm: int
    n_kept: int


class SweptRows(NamedTuple):
    """What the sweeps read of each row.

    Attributes
    ----------
    fitted, labels : arrays of shape (n,)
    costs : array of shape (n_movable,), or of length 0 for the uniform prior
    suspected : array of shape (n_movable,), or of length 0 for the uniform prior
    """

    fitted: FloatArray
    labels: FloatArray
    costs: FloatArray
    suspected: BoolArray


class Answers(NamedTuple):
    """What they write: permutation, mean label and share of visits with the own label, by row."""

    perm: IntArray
    expected: FloatArray
    matched: FloatArray


class Streams(NamedTuple):
    """Which draws an iteration uses: block g has the stream of ``number[g]``."""

    seed: np.uint64
    iteration: int
    number: IntArray


class SweepSpace(NamedTuple):
    """Work space for blocks of up to m rows, each array of that length."""

    slots: Slots
    place: IntArray


def new_slots(size: int, priced: bool) -> Slots:
    """Space for `size` rows."""
    few = size if priced else 0
    return Slots(
        np.empty(size),
        np.empty(size),
        np.empty(size, dtype=np.int64),
        np.empty(size),
        np.empty(size),
        np.empty(few),
        np.empty(few, dtype=np.int64),
    )


def new_sweep_space(size: int, priced: bool) -> SweepSpace:
    """Work space for blocks of up to `size` rows."""
    return SweepSpace(new_slots(size, priced), np.empty(size, dtype=np.int64))


@inlined
def first_slots(slots: Slots, size: int, priced: bool) -> Slots:
    """Take the first `size` slots."""
    few = size if priced else 0
    return Slots(
        slots.mu[:size],
        slots.held[:size],
        slots.label[:size],
        slots.total[:size],
        slots.matched[:size],
        slots.cost[:few],
        slots.where[:few],
    )


@inlined
def largest_block(starts: IntArray, block: int, block_end: int) -> int:
    """Rows of the largest of blocks [block, block_end)."""
    largest = ZERO
    for g in range(block, block_end):
        largest = max(largest, starts[g + 1] - starts[g])
    return largest


@kernel
def sort_blocks(
    fitted: FloatArray,
    starts: IntArray,
    block: int,
    block_end: int,
    order: NDArray[np.int32],
    repair: bool,
) -> None:
    """Bring the rows of each block, counted from its first, into the order of the fitted values.

    With `repair` `order` holds the order of an iteration before, which changes little.
    """
    ranking = new_ranking(largest_block(starts, block, block_end))
    for g in range(block, block_end):
        first, size = starts[g], starts[g + 1] - starts[g]
        if repair:
            for k in range(size):
                ranking.order[k] = order[first + k]
        rank_block(fitted[first : first + size], ZERO, size, ranking, repair)
        for k in range(size):
            order[first + k] = ranking.order[k]


@inlined
def gather(
    members: IntArray, first: int, rows: SweptRows, perm: IntArray, place: IntArray, slots: Slots
) -> None:
    """Fill the slots with the rows `members`, counted from `first`; `place` is work space."""
    for k in range(len(place)):
        place[k] = -1
    for k in range(len(members)):
        place[members[k]] = k
    for k in range(len(members)):
        row = first + members[k]
        label = perm[row]
        slots.mu[k] = rows.fitted[row]
        slots.held[k] = rows.labels[label]
        slots.label[k] = place[label - first] if place[label - first] >= 0 else -1 - label
        slots.total[k] = 0.0
        slots.matched[k] = 0.0
    if len(slots.cost):
        for k in range(len(slots.where)):
            slots.where[k] = -1
        for k in range(len(members)):
            slots.cost[k] = rows.costs[first + members[k]]
            if slots.label[k] >= 0:
                slots.where[slots.label[k]] = k


@inlined
def scatter(members: IntArray, first: int, slots: Slots, answers: Answers) -> None:
    """Write the permutation back, and add the sums."""
    for k in range(len(members)):
        row, label = first + members[k], slots.label[k]
        answers.perm[row] = first + members[label] if label >= 0 else -1 - label
        answers.expected[row] += slots.total[k]
        answers.matched[row] += slots.matched[k]


@inlined
def pick_members(
    order: NDArray[np.int32], first: int, last: int, rows: SweptRows, only_suspects: bool
) -> IntArray:
    """Rows of a block in slot order, counted from its first: all, or the suspects."""
    members = np.empty(last - first, dtype=np.int64)
    count = 0
    for k in range(first, last):
        if not only_suspects or rows.suspected[first + order[k]]:
            members[count] = order[k]
            count += 1
    return members[:count]


@inlined
def count_unmoved(first: int, last: int, rows: SweptRows, answers: Answers, n_kept: int) -> None:
    """Count the sweeps in which only suspects moved for all others."""
    for row in range(first, last):
        if not rows.suspected[row]:
            answers.expected[row] += n_kept * rows.labels[answers.perm[row]]
            answers.matched[row] += n_kept * np.float64(answers.perm[row] == row)


@inlined
def run_list(
    slots: Slots, precision: float, key: np.uint64, number: int, n_warm: int, n_kept: int
) -> tuple[int, int]:
    """Sweep over the slots, counting from sweep `number`; accepted and proposed exchanges."""
    accepted, proposed, size = 0, 0, len(slots.mu)
    if size < 2:
        hold_still(slots, n_kept)
        return 0, 0
    low, high = stride_scales(slots.mu, precision)
    for k in range(n_warm + n_kept):
        kind = kind_of(number + k, len(slots.cost) > 0)
        a, p = sweep_once(
            slots, precision, sweep_key(key, number + k), kind, low, high, ZERO, size, k >= n_warm
        )
        accepted += a
        proposed += p
    return accepted, proposed


@inlined
def run_pairs(
    slots: Slots, precision: float, key: np.uint64, n_warm: int, n_kept: int
) -> tuple[int, int]:
    """What `run_list` does from its first sweep on, under the uniform prior."""
    accepted, size = ZERO, len(slots.mu)
    if size < 2:
        hold_still(slots, n_kept)
        return 0, 0
    low, high = stride_scales(slots.mu, precision)
    for k in range(n_warm + n_kept):
        this = sweep_key(key, k)
        stride, offset = draw_stride(this, size, low, high)
        accepted += sweep_pairs(slots, precision, this, stride, offset, ZERO, size, k >= n_warm)
    return accepted, (n_warm + n_kept) * (size // 2)


@inlined
def hold_still(slots: Slots, n_kept: int) -> None:
    """Count the sweeps over slots that are too few for an exchange."""
    for i in range(len(slots.mu)):
        slots.total[i] = n_kept * slots.held[i]
        slots.matched[i] = n_kept * np.float64(slots.label[i] == i)


@inlined
def few_suspects(rows: SweptRows, first: int, last: int) -> bool:
    """Whether sweeps over the suspects of a block alone spare much."""
    if len(rows.costs) == 0:
        return False
    suspects = 0
    for row in range(first, last):
        suspects += rows.suspected[row]
    return 2 * suspects < last - first


@inlined
def phase_sweeps(plan: Plan, phase: int) -> tuple[int, int, int]:
    """First sweep, warm ones and kept ones: most in phase 0, and then some over all rows."""
    if phase == 0:
        return 0, plan.n_warm, plan.n_kept
    return plan.n_warm + plan.n_kept, 0, SWEEPS_OVER_ALL


@inlined
def open_block(first: int, last: int, answers: Answers) -> None:
    """Set the sums to zero."""
    for row in range(first, last):
        answers.expected[row] = 0.0
        answers.matched[row] = 0.0


@inlined
def close_block(first: int, last: int, answers: Answers, plan: Plan, two_phases: bool) -> None:
    """Turn sums into means."""
    n_kept = plan.n_kept + (SWEEPS_OVER_ALL if two_phases else 0)
    for row in range(first, last):
        answers.expected[row] /= n_kept
        answers.matched[row] /= n_kept


@kernel
def sweep_blocks(
    rows: SweptRows,
    answers: Answers,
    order: NDArray[np.int32],
    starts: IntArray,
    block: int,
    block_end: int,
    precision: float,
    streams: Streams,
    plan: Plan,
    space: SweepSpace,
) -> tuple[int, int]:
    """Run the sweeps of blocks [block, block_end); return accepted and proposed exchanges.

    The E-step of a chain, in memory and in passes. It continues from ``answers.perm`` and leaves
    the last permutation there; `order` holds the rows of each block by fitted value.
    """
    accepted, proposed = 0, 0
    for g in range(block, block_end):
        first, last = starts[g], starts[g + 1]
        key = stream_key(streams.seed, streams.iteration, streams.number[g])
        open_block(first, last, answers)
        few = few_suspects(rows, first, last)
        for phase in range(2 if few else 1):
            members = pick_members(order, first, last, rows, few and phase == 0)
            slots = first_slots(space.slots, len(members), len(rows.costs) > 0)
            gather(members, first, rows, answers.perm, space.place[: last - first], slots)
            number, n_warm, n_kept = phase_sweeps(plan, phase)
            a, p = run_list(slots, precision, key, number, n_warm, n_kept)
            if few and phase == 0:
                count_unmoved(first, last, rows, answers, n_kept)
            scatter(members, first, slots, answers)
            accepted += a
            proposed += p
        close_block(first, last, answers, plan, few)
    return accepted, proposed


@kernel
def sweep_uniform_blocks(
    rows: SweptRows,
    answers: Answers,
    order: NDArray[np.int32],
    starts: IntArray,
    block: int,
    block_end: int,
    precision: float,
    streams: Streams,
    plan: Plan,
    space: SweepSpace,
) -> tuple[int, int]:
    """What `sweep_blocks` does under the uniform prior, with the same bits.

    Sweeps of mismatched rows are not part of it, so that it compiles in half the time.
    """
    accepted, proposed = 0, 0
    for g in range(block, block_end):
        first, last = starts[g], starts[g + 1]
        key = stream_key(streams.seed, streams.iteration, streams.number[g])
        open_block(first, last, answers)
        members = pick_members(order, first, last, rows, False)
        slots = first_slots(space.slots, last - first, False)
        gather(members, first, rows, answers.perm, space.place[: last - first], slots)
        a, p = run_pairs(slots, precision, key, plan.n_warm, plan.n_kept)
        scatter(members, first, slots, answers)
        close_block(first, last, answers, plan, False)
        accepted += a
        proposed += p
    return accepted, proposed
