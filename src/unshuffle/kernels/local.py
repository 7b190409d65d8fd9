"""Rank-local Metropolis-Hastings over permutations, with a prior on mismatches.

Rows stand in *lists* sorted by mu (all rows of a group, and the suspects among them). There are
two kinds of proposals:

- **Neighbours.** Draw a place in a list and a distance on a random scale, and swap the labels of
  the two rows found. Lists are fixed while the chain runs and a distance is as likely as its
  opposite, so this proposal is symmetric.
- **Match flips**, among suspects. A row that holds its own label swaps with a neighbour as above,
  which is found with probability q; one that does not takes its own label back from the row that
  holds it, which is certain. Each undoes the other, so giving up the own label is corrected by 1/q
  and taking it back by q. The prior makes any single way of giving it up about as unlikely as there
  are ways, which this correction makes up for: doubtful rows flip freely.

With ``cost_i`` for every row that does not hold its own label, a swap of the labels a, b of rows
i, j changes the log posterior by ``(mu_i - mu_j)(b - a) / s²`` minus the change of the costs.
Slots are those of `swap`, and ``matched`` counts the kept states in which a row held its own label.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .rng import draw, high_index, stream_key
from .strides import draw_distance, is_upward, log_distance_probabilities
from .swap import (
    COUNTED,
    HELD,
    MU,
    SUM,
    Schedule,
    Stream,
    Task,
    accepts,
    close_averages,
    exchange_cost,
    kept_states,
    share,
)
from .types import BoolArray, FloatArray, IntArray

ALL_SCALES = 31
_U24, _LOW_2 = np.uint64(24), np.uint64(3)


class Lists(NamedTuple):
    """Rows in the order in which they are neighbours.

    Attributes
    ----------
    rows : array of shape (n_movable,)
        All rows, block by block.
    suspects : array of shape (n_suspects,)
        The rows worth most of the proposals, block by block.
    suspect_starts : array of shape (n_blocks + 1,)
        Suspects of block g are ``suspect_starts[g]:suspect_starts[g + 1]``.
    place_of : array of shape (n_movable,), or of length 0 without suspects
        Place of each row among the suspects of its block; -1 for those above suspicion.
    max_scale : int
        Distances up to ``2**max_scale`` places.
    """

    rows: IntArray
    suspects: IntArray
    suspect_starts: IntArray
    place_of: IntArray
    max_scale: int


class State(NamedTuple):
    """A chain in progress, changed in place.

    Attributes
    ----------
    slots : array of shape (n_movable, 4)
    perm : array of shape (n,)
        Label that each row holds.
    row_of_label : array of shape (n,), or of length 0 without suspects
        Its inverse.
    matched : array of shape (n,)
        Kept states in which each row held its own label; a share after the last piece.
    """

    slots: FloatArray
    perm: IntArray
    row_of_label: IntArray
    matched: FloatArray


class RowPrior(NamedTuple):
    """The prior over permutations, row by row.

    Attributes
    ----------
    costs : array of shape (n_movable,), or of length 0 for the uniform prior
        Log odds against each row being mismatched.
    places : array of shape (n_movable,), or of length 0 where labels may come from anywhere
        Number of each row in the table.
    reach : int
        A label is at most so many rows away from its own.
    """

    costs: FloatArray
    places: IntArray
    reach: int


@kernel
def pick_suspects(
    rows: IntArray,
    starts: IntArray,
    suspected: BoolArray,
    suspects: IntArray,
    place_of: IntArray,
    out: IntArray,
) -> None:
    """Copy the suspected rows into `suspects`, keeping their order; block limits go to `out`."""
    count = 0
    for g in range(len(starts) - 1):
        out[g] = count
        for k in range(starts[g], starts[g + 1]):
            place_of[rows[k]] = -1
            if suspected[rows[k]]:
                suspects[count] = rows[k]
                place_of[rows[k]] = count - out[g]
                count += 1
    out[len(starts) - 1] = count


@kernel
def useful_scales(
    members: IntArray, slots: FloatArray, precision: float, max_scale: int
) -> tuple[int, int]:
    """First and last of the scales 2, 4, 8, ... of places that are worth proposing.

    In a list sorted by mu the useful swaps are between rows that lie a fraction of the noise to
    several times the noise apart; nearer ones change nothing, farther ones are refused. The first
    one's distances start at one place all the same, so that every state can be reached.
    """
    length = len(members)
    last = 1
    while (1 << last) < length and last < max_scale:
        last += 1
    if max_scale < ALL_SCALES or length < 2:
        return 1, last
    width = slots[members[length - 1], MU] - slots[members[0], MU]
    within_noise = length / (1.0 + width * math.sqrt(precision))
    first = 1
    while (1 << first) < within_noise and first < last:
        first += 1
    return max(1, first - 1), min(last, first + 4)


@kernel
def too_far(prior: RowPrior, i: int, j: int, label_i: int, label_j: int) -> bool:
    """Whether a swap would carry a label beyond its reach."""
    if len(prior.places) == 0:
        return False
    far_i: int = abs(prior.places[label_j] - prior.places[i])
    far_j: int = abs(prior.places[label_i] - prior.places[j])
    return far_i > prior.reach or far_j > prior.reach


@kernel
def advance_block(
    state: State,
    lists: Lists,
    prior: RowPrior,
    precision: float,
    key: np.uint64,
    done: int,
    end: int,
    schedule: Schedule,
) -> int:
    """Run steps done+1 .. end of one block's chain in place; return the accepted swaps.

    The lists and the schedule are those of the block.
    """
    slots, perm, row_of_label, matched = state
    rows, suspects, place_of, max_scale = (
        lists.rows,
        lists.suspects,
        lists.place_of,
        lists.max_scale,
    )
    accepted, priced = 0, len(prior.costs) > 0
    low_rows, high_rows = useful_scales(rows, slots, precision, max_scale)
    low_suspects, high_suspects = useful_scales(suspects, slots, precision, max_scale)
    log_q = log_distance_probabilities(low_suspects, high_suspects)
    for step in range(done + 1, end + 1):
        bits = draw(key, 2 * step)
        # The two bits that `strides` leaves free decide the kind.
        kind = np.int64((bits >> _U24) & _LOW_2) if len(suspects) > 1 else 0
        use_suspects = kind > 0
        members = suspects if use_suspects else rows
        low = low_suspects if use_suspects else low_rows
        high = high_suspects if use_suspects else high_rows
        place = np.int64(high_index(bits, np.uint64(len(members))))
        distance = draw_distance(bits, low, high)
        other = place + distance if is_upward(bits) else place - distance
        i = members[place]
        label_i = perm[i]
        correction = 0.0
        if kind > 1 and label_i != i:  # take the own label back
            other = place_of[row_of_label[i]]
            far = abs(other - place)
            if other < 0 or far >= len(log_q):
                continue
            correction = log_q[far]
        elif other < 0 or other >= len(members):
            continue
        elif kind > 1:  # give the own label up
            correction = -log_q[distance]
        j = members[other]
        label_j = perm[j]
        if too_far(prior, i, j, label_i, label_j):
            continue
        log_ratio = (slots[i, MU] - slots[j, MU]) * (slots[j, HELD] - slots[i, HELD]) * precision
        if priced:
            log_ratio -= exchange_cost(prior.costs, i, j, label_i, label_j)
        if not accepts(log_ratio + correction, key, 2 * step + 1):
            continue
        accepted += 1
        counted = np.float64(kept_states(step - 1, schedule.burn_in, schedule.thin))
        held_i = slots[i, HELD]
        held_j = slots[j, HELD]
        stay_i = counted - slots[i, COUNTED]
        stay_j = counted - slots[j, COUNTED]
        slots[i, SUM] += held_i * stay_i
        slots[j, SUM] += held_j * stay_j
        matched[i] += stay_i * (label_i == i)
        matched[j] += stay_j * (label_j == j)
        slots[i, COUNTED] = counted
        slots[j, COUNTED] = counted
        slots[i, HELD] = held_j
        slots[j, HELD] = held_i
        perm[i] = label_j
        perm[j] = label_i
        if len(row_of_label):
            row_of_label[label_j] = i
            row_of_label[label_i] = j
    return accepted


@kernel
def close_matches(state: State, first: int, last: int, n_kept: int) -> None:
    """Turn counts of matched states into shares; before `close_averages`."""
    for i in range(first, last):
        if n_kept == 0:
            state.matched[i] = np.float64(state.perm[i] == i)
        else:
            rest = np.float64(n_kept) - state.slots[i, COUNTED]
            total = state.matched[i] + rest * (state.perm[i] == i)
            state.matched[i] = total / np.float64(n_kept)


@kernel
def advance_blocks(
    state: State,
    starts: IntArray,
    lists: Lists,
    prior: RowPrior,
    precision: float,
    stream: Stream,
    schedule: Schedule,
    task: Task,
) -> int:
    """Run one piece of some blocks' chains, and average after the last; return accepted swaps."""
    n = starts[-1]
    accepted = 0
    for g in range(task.group, task.group_end):
        first, last = starts[g], starts[g + 1]
        own = Schedule(
            share(schedule.n_steps, first, last, n),
            share(schedule.burn_in, first, last, n),
            max(1, schedule.thin * (last - first) // n),
        )
        members = Lists(
            lists.rows[first:last],
            lists.suspects[lists.suspect_starts[g] : lists.suspect_starts[g + 1]],
            lists.suspect_starts,
            lists.place_of,
            lists.max_scale,
        )
        done = own.n_steps * task.piece // task.n_pieces
        end = own.n_steps * (task.piece + 1) // task.n_pieces
        key = stream_key(stream.seed, stream.iteration, g)
        accepted += advance_block(state, members, prior, precision, key, done, end, own)
        if task.piece == task.n_pieces - 1:
            n_kept = kept_states(own.n_steps, own.burn_in, own.thin)
            close_matches(state, first, last, n_kept)
            close_averages(state.slots, first, last, n_kept)
    return accepted
