"""One pass of EM over the rows of a part: align block by block, and add up what solving needs.

A block (the rows of a group that can exchange labels) is read, aligned and added up before the
next one, so that the work space is as large as the largest block. The chain of a block restarts in
every pass, at a permutation drawn near the posterior: nothing has to be kept from one iteration to
the next, and a part that is lost can be computed again from the data alone. The chain itself is
that of a fit in memory (`sweep_blocks.sweep_blocks`).

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
from .jit import ZERO, kernel
from .limits import SMALLEST_RATE, SUSPICIOUS_ODDS
from .ranking import Ranking, new_ranking, rank_block
from .rng import draw, mix, stream_key, to_unit
from .streams import START_NOISE_KEY
from .sweep_blocks import (
    Answers,
    Plan,
    Streams,
    SweepSpace,
    SweptRows,
    new_sweep_space,
    sort_blocks,
    sweep_blocks,
)
from .types import BoolArray, Features, FloatArray, IntArray

SmallIntArray = NDArray[np.int32]


class PartRows(NamedTuple):
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


class PassModel(NamedTuple):
    """What is sent to a part for one pass: O(d) numbers.

    Attributes
    ----------
    coef, centre : arrays of shape (d,)
    at_centre : float
        Fitted value at `centre`.
    label_centre : float
    noise_scale : float
        Noise that the alignment assumes.
    mismatch_rate : float
        Negative where the order is lost.
    plan : Plan
        Sweeps of each block.
    grid_start, grid_step, grid_low, grid_high : float
    density : array of shape (n_grid,)
        Density of the labels at large, on a grid; labels below `grid_low` or above `grid_high`
        count as if they lay there.
    """

    coef: FloatArray
    centre: FloatArray
    at_centre: float
    label_centre: float
    noise_scale: float
    mismatch_rate: float
    plan: Plan
    grid_start: float
    grid_step: float
    grid_low: float
    grid_high: float
    density: FloatArray


class Space(NamedTuple):
    """Work space for blocks of up to m rows.

    The rows of a block are counted from 0: `mu`, `labels`, `costs`, `suspected` and the three
    arrays of `answers` have one entry a row. `starts` and `stream` describe this one block.
    """

    mu: FloatArray
    labels: FloatArray
    costs: FloatArray
    suspected: BoolArray
    answers: Answers
    order: SmallIntArray
    drawn: FloatArray
    ranking: Ranking
    leaving: IntArray
    sweeps: SweepSpace
    starts: IntArray
    stream: IntArray


def new_space(m: int, mostly_right: bool) -> Space:
    """Work space for blocks of up to m rows."""
    few = m if mostly_right else 0
    return Space(
        np.empty(m), np.empty(m), np.empty(few), np.empty(few, dtype=np.bool_),
        Answers(np.empty(m, dtype=np.int64), np.empty(m), np.empty(m)),
        np.empty(m, dtype=np.int32), np.empty(m), new_ranking(m), np.empty(m, dtype=np.int64),
        new_sweep_space(m, mostly_right), np.zeros(2, dtype=np.int64), np.zeros(1, dtype=np.int64),
    )  # fmt: skip


@kernel
def fitted_value(X: Features, row: int, model: PassModel) -> float:
    """``at_centre + (x - centre) coef``, added up in the order of the columns."""
    value = model.at_centre
    for j in range(len(model.coef)):
        value += (np.float64(X[row, j]) - model.centre[j]) * model.coef[j]
    return value


@kernel
def add_row(
    X: Features, row: int, mu: float, expected: float, model: PassModel, sums: Sums
) -> None:
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
def density_at(value: float, model: PassModel) -> float:
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
def draw_labels(m: int, scale: float, key: np.uint64, space: Space) -> None:
    """Fitted values plus normal noise (Box-Muller) from a stream of its own."""
    own = mix(key + START_NOISE_KEY)
    for k in range(0, m, 2):
        radius = scale * math.sqrt(-2.0 * math.log(1.0 - to_unit(draw(own, k))))
        angle = 2.0 * math.pi * to_unit(draw(own, k + 1))
        space.drawn[k] = space.mu[k] + radius * math.cos(angle)
        if k + 1 < m:
            space.drawn[k + 1] = space.mu[k + 1] + radius * math.sin(angle)


@kernel
def start_lost(rows: PartRows, first: int, m: int, space: Space) -> None:
    """Give the k-th smallest label to the row with the k-th smallest drawn label.

    Labels are mu plus noise, so this is nearly a draw from the posterior: exactly so but for the
    difference between the labels of the block and those that the model would draw. The most likely
    permutation (no noise) would take the chain many sweeps to leave.
    """
    rank_block(space.drawn, 0, m, space.ranking, False)
    for k in range(m):
        space.answers.perm[space.ranking.order[k]] = rows.ranked[first + k]


@kernel
def start_mostly_right(m: int, model: PassModel, key: np.uint64, space: Space) -> None:
    """Exchange as many labels as the mixture expects, sorted among themselves like drawn labels.

    Fills the costs of mismatches and the suspected rows, too.
    """
    matched = min(max(1.0 - model.mismatch_rate, SMALLEST_RATE), 1.0 - SMALLEST_RATE)
    unit = model.noise_scale * math.sqrt(2.0 * math.pi)
    cost = math.log(m * matched)
    n_leaving = 0
    # A random offset makes the number that leave right on average, in small blocks too.
    expected_to_leave = to_unit(draw(key, 0))
    for i in range(m):
        space.answers.perm[i] = i
        space.costs[i] = cost
        residual = (space.labels[i] - space.mu[i]) / model.noise_scale
        own = matched * math.exp(-0.5 * residual * residual) / unit
        other = (1.0 - matched) * density_at(space.labels[i], model)
        space.suspected[i] = other > SUSPICIOUS_ODDS * own
        before = math.floor(expected_to_leave)
        expected_to_leave += other / max(own + other, 1e-300)
        if math.floor(expected_to_leave) > before:
            space.leaving[n_leaving] = i
            n_leaving += 1
    leaving = space.leaving[:n_leaving]
    rows = leaving[np.argsort(space.drawn[leaving], kind="mergesort")]
    labels = leaving[np.argsort(space.labels[leaving], kind="mergesort")]
    for k in range(n_leaving):
        space.answers.perm[rows[k]] = labels[k]


@kernel
def fill_block(
    X: Features, rows: PartRows, first: int, m: int, model: PassModel, space: Space
) -> None:
    """Fitted values, labels and their order."""
    for i in range(m):
        space.mu[i] = fitted_value(X, rows.places[first + i], model)
        space.labels[i] = rows.y[first + i]
    space.starts[1] = m
    sort_blocks(space.mu, space.starts, ZERO, len(space.stream), space.order, False)


@kernel
def sweep_filled(
    m: int, model: PassModel, seed: np.uint64, iteration: int, plan: Plan, space: Space
) -> tuple[int, int]:
    """Run the chain of a filled block from its permutation; accepted and proposed exchanges."""
    few = m if model.mismatch_rate >= 0.0 else 0
    swept = SweptRows(space.mu[:m], space.labels[:m], space.costs[:few], space.suspected[:few])
    return sweep_blocks(
        swept, space.answers, space.order, space.starts, ZERO, len(space.stream),
        model.noise_scale**-2.0, Streams(seed, iteration, space.stream), plan, space.sweeps,
    )  # fmt: skip


@kernel
def align_block(
    X: Features,
    rows: PartRows,
    block: int,
    model: PassModel,
    seed: np.uint64,
    iteration: int,
    space: Space,
) -> tuple[int, int]:
    """Expected labels of one block into ``space.answers``; accepted and proposed exchanges."""
    first, stream = rows.starts[block], rows.streams[block]
    m = rows.starts[block + 1] - first
    space.stream[0] = stream
    fill_block(X, rows, first, m, model, space)
    key = stream_key(seed, iteration, stream)
    draw_labels(m, model.noise_scale, key, space)
    if model.mismatch_rate < 0.0:
        start_lost(rows, first, m, space)
    else:
        start_mostly_right(m, model, key, space)
    return sweep_filled(m, model, seed, iteration, model.plan, space)


@kernel
def align_blocks(
    X: Features,
    rows: PartRows,
    block: int,
    block_end: int,
    model: PassModel,
    seed: np.uint64,
    iteration: int,
    space: Space,
    sums: Sums,
) -> tuple[int, int]:
    """Align blocks [block, block_end), add up their rows; accepted and proposed exchanges."""
    d = len(model.coef)
    accepted, proposed = 0, 0
    for g in range(block, block_end):
        first, last = rows.starts[g], rows.starts[g + 1]
        a, p = align_block(X, rows, g, model, seed, iteration, space)
        accepted += a
        proposed += p
        for i in range(last - first):
            row = rows.places[first + i]
            add_row(X, row, space.mu[i], space.answers.expected[i], model, sums)
            add(sums, d + 3, space.answers.matched[i])
    return accepted, proposed


@kernel
def add_start_squares(
    X: Features,
    rows: PartRows,
    block: int,
    block_end: int,
    model: PassModel,
    space: Space,
    sums: Sums,
) -> None:
    """Add up squares over blocks: matched residuals, labels and fitted values around their means.

    In this order; means are those of the block.
    """
    for g in range(block, block_end):
        first, m = rows.starts[g], rows.starts[g + 1] - rows.starts[g]
        fill_block(X, rows, first, m, model, space)
        label, fitted = space.labels[:m].mean(), space.mu[:m].mean()
        for k in range(m):
            count_terms(sums, 1)
            residual = rows.y[first + rows.ranked[first + k]] - space.mu[space.order[k]]
            add(sums, 0, residual * residual)
            add(sums, 1, (space.labels[k] - label) ** 2)
            add(sums, 2, (space.mu[k] - fitted) ** 2)


@kernel
def add_pinned(
    X: Features, rows: PartRows, first: int, last: int, model: PassModel, sums: Sums
) -> None:
    """Add up rows [first, last), which keep their own label."""
    for i in range(first, last):
        row = rows.places[i]
        add_row(X, row, fitted_value(X, row, model), rows.y[i], model, sums)


@kernel
def add_pinned_squares(
    X: Features, rows: PartRows, first: int, last: int, model: PassModel, sums: Sums
) -> None:
    """Add the squared residuals of rows [first, last), which keep their own label."""
    for i in range(first, last):
        count_terms(sums, 1)
        residual = rows.y[i] - fitted_value(X, rows.places[i], model)
        add(sums, 0, residual * residual)
