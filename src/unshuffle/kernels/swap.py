"""Random-pair Metropolis-Hastings over the permutations of each group.

The state is a table of *slots*, one per row, so that a proposal touches two cache lines:

====  ======================================================================
 0    mu, the fitted value of the row (fixed during the chain)
 1    the label value the row holds now
 2    running sum of the labels it held, over the kept states
 3    number of kept states already counted in that sum
====  ======================================================================

A swap of the labels a, b of rows i, j changes the log posterior by
``(mu_i - mu_j) (b - a) / s²``. Sums are brought up to date only when a row's label changes
(residence time), so that every kept state counts at no cost per step.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .rng import draw, high_index, low_index, stream_key, to_unit
from .types import FloatArray, IntArray

MU, HELD, SUM, COUNTED = 0, 1, 2, 3


class Schedule(NamedTuple):
    """Proposals of one iteration, over all groups together; each group gets its rows' share."""

    n_steps: int
    burn_in: int
    thin: int


class Stream(NamedTuple):
    """Which draws an iteration uses: every group has a stream of its own."""

    seed: np.uint64
    iteration: int


class Task(NamedTuple):
    """What one call does: one of `n_pieces` of the chains of groups [group, group_end)."""

    group: int
    group_end: int
    piece: int
    n_pieces: int


HOPELESS = -37.0  # exp(-37) is below the smallest draw that is not zero, 2**-53


@kernel
def accepts(log_ratio: float, key: np.uint64, counter: int) -> bool:
    """Metropolis' rule, with draw number `counter` of the stream."""
    if log_ratio < 0.0:
        if log_ratio < HOPELESS:
            return False
        return to_unit(draw(key, counter)) < math.exp(log_ratio)
    return True


@kernel
def exchange_cost(costs: FloatArray, i: int, j: int, label_i: int, label_j: int) -> float:
    """Cost that exchanging the labels of rows i and j adds: a row pays unless it holds its own."""
    before: float = costs[i] * (label_i != i) + costs[j] * (label_j != j)
    after: float = costs[i] * (label_j != i) + costs[j] * (label_i != j)
    return after - before


@kernel
def share(total: int, first: int, last: int, n: int) -> int:
    """Proposals of rows [first, last) out of `total` for n rows; the shares add up exactly."""
    return total * last // n - total * first // n


@kernel
def kept_states(step: int, burn_in: int, thin: int) -> int:
    """Count the states 1..step that are kept: every `thin`-th after `burn_in`."""
    if step <= burn_in:
        return 0
    if thin == 1:
        return step - burn_in
    return (step - burn_in) // thin


@kernel
def advance_group(
    slots: FloatArray,
    perm: IntArray,
    first: int,
    last: int,
    precision: float,
    key: np.uint64,
    done: int,
    end: int,
    burn_in: int,
    thin: int,
) -> int:
    """Run steps done+1 .. end of one group's chain in place; return the accepted swaps."""
    accepted = 0
    # Unsigned indices spare the compiled code the test for negative ones.
    base = np.uint64(first)
    size = np.uint64(last - first)
    for step in range(done + 1, end + 1):
        bits = draw(key, 2 * step)
        # Both indices come from the same map of 32 bits, so (i, j) is as likely as (j, i)
        # whatever the rounding: the proposal is symmetric, and Metropolis needs no correction.
        i = base + high_index(bits, size)
        j = base + low_index(bits, size)
        log_ratio = (slots[i, MU] - slots[j, MU]) * (slots[j, HELD] - slots[i, HELD]) * precision
        if not accepts(log_ratio, key, 2 * step + 1) or i == j:
            continue
        accepted += 1
        counted = np.float64(kept_states(step - 1, burn_in, thin))
        label_i = slots[i, HELD]
        label_j = slots[j, HELD]
        slots[i, SUM] += label_i * (counted - slots[i, COUNTED])
        slots[j, SUM] += label_j * (counted - slots[j, COUNTED])
        slots[i, COUNTED] = counted
        slots[j, COUNTED] = counted
        slots[i, HELD] = label_j
        slots[j, HELD] = label_i
        held = perm[i]
        perm[i] = perm[j]
        perm[j] = held
    return accepted


@kernel
def close_averages(slots: FloatArray, first: int, last: int, n_kept: int) -> None:
    """Turn the running sums of rows [first, last) into averages over the kept states."""
    for i in range(first, last):
        if n_kept == 0:  # a chain too short to keep anything reports where it stands
            slots[i, SUM] = slots[i, HELD]
        else:
            rest = np.float64(n_kept) - slots[i, COUNTED]
            slots[i, SUM] = (slots[i, SUM] + slots[i, HELD] * rest) / np.float64(n_kept)


@kernel
def advance_groups(
    slots: FloatArray,
    perm: IntArray,
    starts: IntArray,
    precision: float,
    stream: Stream,
    schedule: Schedule,
    task: Task,
) -> int:
    """Run one piece of some groups' chains, and average after the last; return accepted swaps."""
    n = starts[-1]
    accepted = 0
    for g in range(task.group, task.group_end):
        first = starts[g]
        last = starts[g + 1]
        steps = share(schedule.n_steps, first, last, n)
        warm = share(schedule.burn_in, first, last, n)
        gap = max(1, schedule.thin * (last - first) // n)
        done = steps * task.piece // task.n_pieces
        end = steps * (task.piece + 1) // task.n_pieces
        key = stream_key(stream.seed, stream.iteration, g)
        accepted += advance_group(slots, perm, first, last, precision, key, done, end, warm, gap)
        if task.piece == task.n_pieces - 1:
            close_averages(slots, first, last, kept_states(steps, warm, gap))
    return accepted
