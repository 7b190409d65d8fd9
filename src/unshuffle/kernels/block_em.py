"""One pass of EM over the rows of a part: align block by block, and add up what solving needs.

A block (the rows of a group that can exchange labels) is read, aligned and added up before the
next one is looked at, so that the work space is as large as the largest block. The chain of a block
starts afresh in every pass, at a permutation that its coefficients suggest: nothing has to be
kept from one iteration to the next, and a part that is lost can be computed again from the data
alone. Inside a block the slots stand in the order of mu, so that neighbours share cache lines.

Sums, with ``r = ŷ - mu``:

==========  =============================
 0 .. d-1   ``Σ (x_j - centre_j) r``
 d          ``Σ r``
 d + 1      ``Σ r²``
 d + 2      ``Σ (ŷ - label_centre)²``
 d + 3      expected rows with their own label, among those that can move
==========  =============================
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .exact_sum import Sums, add, count_terms
from .jit import kernel
from .local import ALL_SCALES, Belief, advance_block, close_home
from .ranking import Ranking, new_ranking, rank_block
from .rng import draw, mix, stream_key, to_unit
from .streams import START_NOISE_KEY
from .swap import COUNTED, HELD, MU, SUM, close_averages, kept_states
from .types import FloatArray, IntArray

# As in `alignment.sampled` and `priors`.
SUSPICIOUS_ODDS = 0.01
SMALLEST_RATE = 1e-4

Features = NDArray[np.float64] | NDArray[np.float32]
SmallIntArray = NDArray[np.int32]


class Rows(NamedTuple):
    """The rows of a part, arranged: blocks first, then pinned rows.

    Attributes
    ----------
    places : array of shape (n,)
        Arranged row i is row ``places[i]`` of the part's X.
    y : array of shape (n,)
        Labels as given, arranged.
    ranked : array of shape (n_movable,)
        Inside each block, places of its labels in ascending order.
    starts : array of shape (n_blocks + 1,)
    streams : array of shape (n_blocks,)
        What keys the random stream of each block, whatever part it is in.
    """

    places: SmallIntArray
    y: FloatArray
    ranked: SmallIntArray
    starts: IntArray
    streams: IntArray


class Model(NamedTuple):
    """What one pass is told: O(d) numbers.

    Attributes
    ----------
    coef, centre : arrays of shape (d,)
    shift : float
        Fitted value at `centre`.
    label_centre : float
    noise_scale : float
        Noise that the alignment believes in.
    mismatch_rate : float
        Negative where the order is lost.
    sweeps, burn_in : float
        Proposals per row of a block, and how many of them come before averaging.
    grid_start, grid_step, grid_low, grid_high : float
    density : array of shape (n_grid,)
        Density of the labels at large, on a grid; labels below `grid_low` or above `grid_high`
        count as if they lay there.
    """

    coef: FloatArray
    centre: FloatArray
    shift: float
    label_centre: float
    noise_scale: float
    mismatch_rate: float
    sweeps: float
    burn_in: float
    grid_start: float
    grid_step: float
    grid_low: float
    grid_high: float
    density: FloatArray


class Space(NamedTuple):
    """Work space for blocks of up to m rows."""

    mu: FloatArray
    ranking: Ranking
    slots: FloatArray
    perm: IntArray
    row_of_label: IntArray
    home: FloatArray
    places: IntArray
    suspects: IntArray
    place_of: IntArray
    labels: FloatArray
    drawn: Ranking
    costs: FloatArray
    nothing: FloatArray
    nowhere: IntArray


@kernel
def new_space(m: int) -> Space:
    """Work space for blocks of up to m rows."""
    return Space(
        np.empty(m), new_ranking(m), np.empty((m, 4)), np.arange(m), np.arange(m), np.empty(m),
        np.arange(m), np.empty(m, dtype=np.int64), np.empty(m, dtype=np.int64), np.empty(m),
        new_ranking(m), np.empty(m), np.empty(0), np.empty(0, dtype=np.int64),
    )  # fmt: skip


@kernel
def fitted_value(X: Features, row: int, model: Model) -> float:
    """``shift + (x - centre) coef``, added up in the order of the columns."""
    value = model.shift
    for j in range(len(model.coef)):
        value += (np.float64(X[row, j]) - model.centre[j]) * model.coef[j]
    return value


@kernel
def add_row(X: Features, row: int, mu: float, expected: float, model: Model, sums: Sums) -> None:
    """Add the terms of one row."""
    d = len(model.coef)
    r = expected - mu
    count_terms(sums, 1)
    for j in range(d):
        value = (np.float64(X[row, j]) - model.centre[j]) * r
        h = (value + sums.coarse[j]) - sums.coarse[j]
        sums.high[j] += h
        sums.low[j] += ((value - h) + sums.fine[j]) - sums.fine[j]
    add(sums, d, r)
    add(sums, d + 1, r * r)
    distance = expected - model.label_centre
    add(sums, d + 2, distance * distance)


@kernel
def density_at(value: float, model: Model) -> float:
    """Density of the labels at large, by linear interpolation."""
    last = len(model.density) - 1
    inside = min(max(value, model.grid_low), model.grid_high)
    place = (inside - model.grid_start) / model.grid_step
    if place <= 0.0:
        return float(model.density[0])
    if place >= last:
        return float(model.density[last])
    cell = np.int64(place)
    part = place - cell
    return float((1.0 - part) * model.density[cell] + part * model.density[cell + 1])


@kernel
def add_noise(values: FloatArray, scale: float, key: np.uint64) -> None:
    """Add normal noise (Box-Muller) from a stream of its own."""
    own = mix(key + START_NOISE_KEY)
    for k in range(0, len(values), 2):
        radius = scale * math.sqrt(-2.0 * math.log(1.0 - to_unit(draw(own, k))))
        angle = 2.0 * math.pi * to_unit(draw(own, k + 1))
        values[k] += radius * math.cos(angle)
        if k + 1 < len(values):
            values[k + 1] += radius * math.sin(angle)


@kernel
def start_lost(rows: Rows, first: int, m: int, model: Model, key: np.uint64, space: Space) -> None:
    """Give the k-th smallest label to the slot of the k-th smallest mu plus noise.

    Labels are mu plus noise, so this is nearly a draw from the posterior: exactly so but for the
    difference between the labels of the block and those that the model would draw. The most likely
    permutation (no noise) would take the chain many sweeps to get away from.
    """
    drawn = space.labels
    for k in range(m):
        drawn[k] = space.slots[k, MU]
    if model.sweeps > 0.0:
        add_noise(drawn[:m], model.noise_scale, key)
    rank_block(drawn, 0, m, space.drawn, False)
    for k in range(m):
        space.slots[space.drawn.order[k], HELD] = rows.y[first + rows.ranked[first + k]]
        space.perm[k] = k


@kernel
def start_mostly_right(
    rows: Rows, first: int, m: int, model: Model, key: np.uint64, space: Space
) -> int:
    """Let as many rows leave home as the mixture expects, sorted among themselves.

    Fills the list of suspects and returns its length. The label given beside the row in slot k has
    number k.
    """
    order, labels = space.ranking.order, space.labels
    matched = min(max(1.0 - model.mismatch_rate, SMALLEST_RATE), 1.0 - SMALLEST_RATE)
    unit = model.noise_scale * math.sqrt(2.0 * math.pi)
    cost = math.log(m * matched)
    n_suspects = n_leaving = 0
    # A random offset makes the number that leave right on average, in small blocks too.
    expected_to_leave = to_unit(draw(key, 0))
    for k in range(m):
        labels[k] = rows.y[first + order[k]]
        space.perm[k] = k
        space.costs[k] = cost
        residual = (labels[k] - space.slots[k, MU]) / model.noise_scale
        own = matched * math.exp(-0.5 * residual * residual) / unit
        other = (1.0 - matched) * density_at(labels[k], model)
        space.place_of[k] = -1
        if other > SUSPICIOUS_ODDS * own:
            space.place_of[k] = n_suspects
            space.suspects[n_suspects] = k
            n_suspects += 1
        before = math.floor(expected_to_leave)
        expected_to_leave += other / max(own + other, 1e-300)
        if math.floor(expected_to_leave) > before:
            space.row_of_label[n_leaving] = k  # borrowed as a list of those that leave
            n_leaving += 1
    leaving = space.row_of_label[:n_leaving].copy()
    ascending = leaving[np.argsort(labels[leaving], kind="mergesort")]
    for k in range(n_leaving):
        space.perm[leaving[k]] = ascending[k]
    for k in range(m):
        space.slots[k, HELD] = labels[space.perm[k]]
        space.row_of_label[space.perm[k]] = k
    return n_suspects


@kernel
def align_block(
    X: Features, rows: Rows, first: int, last: int, model: Model, key: np.uint64, space: Space
) -> int:
    """Expected labels of one block into ``slots[:, SUM]``; return the accepted swaps.

    Slot k belongs to row ``ranking.order[k]`` of the block.
    """
    m = last - first
    for i in range(m):
        space.mu[i] = fitted_value(X, rows.places[first + i], model)
    rank_block(space.mu, 0, m, space.ranking, False)
    slots = space.slots[:m]
    for k in range(m):
        slots[k, MU] = space.mu[space.ranking.order[k]]
        slots[k, SUM] = 0.0
        slots[k, COUNTED] = 0.0
        space.home[k] = 0.0
    if model.mismatch_rate < 0.0:
        start_lost(rows, first, m, model, key, space)
        n_suspects, costs, row_of_label = 0, space.nothing, space.nowhere
    else:
        n_suspects = start_mostly_right(rows, first, m, model, key, space)
        costs, row_of_label = space.costs[:m], space.row_of_label[:m]
    steps = int(model.sweeps * m)
    warm = int(model.burn_in * m)
    accepted = advance_block(
        slots, space.perm, row_of_label, space.home, space.places[:m],
        space.suspects[:n_suspects], space.place_of, ALL_SCALES,
        Belief(costs, space.nowhere, 0), model.noise_scale**-2.0, key, 0, steps, warm, 1,
    )  # fmt: skip
    n_kept = kept_states(steps, warm, 1)
    close_home(slots, space.perm, space.home, 0, m, n_kept)
    close_averages(slots, 0, m, n_kept)
    return accepted


@kernel
def align_blocks(
    X: Features,
    rows: Rows,
    block: int,
    block_end: int,
    model: Model,
    seed: np.uint64,
    iteration: int,
    space: Space,
    sums: Sums,
) -> int:
    """Align blocks [block, block_end) and add up their rows; return the accepted swaps."""
    d = len(model.coef)
    accepted = 0
    for g in range(block, block_end):
        first, last = rows.starts[g], rows.starts[g + 1]
        key = stream_key(seed, iteration, rows.streams[g])
        accepted += align_block(X, rows, first, last, model, key, space)
        for k in range(last - first):
            row = rows.places[first + space.ranking.order[k]]
            add_row(X, row, space.slots[k, MU], space.slots[k, SUM], model, sums)
            add(sums, d + 3, space.home[k])
    return accepted


@kernel
def add_pinned(X: Features, rows: Rows, first: int, last: int, model: Model, sums: Sums) -> None:
    """Add up rows [first, last), which keep their own label."""
    for i in range(first, last):
        row = rows.places[i]
        add_row(X, row, fitted_value(X, row, model), rows.y[i], model, sums)
