"""What is asked of one part: each function reads it once and answers with a few numbers."""

from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from ..kernels.block_em import (
    PartRows,
    PassModel,
    add_pinned,
    add_pinned_squares,
    add_start_squares,
    align_blocks,
    new_space,
)
from ..kernels.block_scores import add_score_products
from ..kernels.columns import add_columns, add_products, column_ranges
from ..kernels.exact_sum import in_steps, new_sums
from ..kernels.rng import GOLDEN, mix
from ..kernels.types import BoolArray, FloatArray, IntArray
from .part import Part
from .settings import READ


class Ranges(NamedTuple):
    """Size and limits of a part; the label is the last column."""

    n_rows: int
    n_movable: int
    n_groups: int
    n_blocks: int
    largest_block: int
    grouping: int
    low: FloatArray
    high: FloatArray


class Totals(NamedTuple):
    """Exact sums over some rows, in steps of the fixed-point grid."""

    steps: list[int]
    accepted: int = 0
    proposed: int = 0


class Sample(NamedTuple):
    """Some rows, with their number in the whole table."""

    numbers: IntArray
    X: FloatArray
    y: FloatArray
    pinned: BoolArray


class SampledBlocks(NamedTuple):
    """Some whole blocks, and some pinned rows.

    Attributes
    ----------
    streams, sizes : arrays of shape (n_blocks,)
        What keys each block, whatever part it is in, and its rows.
    X, y : arrays of shape (n, d) and (n,)
        The rows of the blocks, one block after the other, then the pinned ones.
    pinned : array of shape (n_pinned,)
        Numbers of the pinned rows in the whole table.
    """

    streams: IntArray
    sizes: IntArray
    X: FloatArray
    y: FloatArray
    pinned: IntArray


def ranges(part: Part) -> Ranges:
    """Least and greatest value of every column and of the label; refuses what is not finite."""
    d, rows = part.n_features, part.frozen_rows()
    low, high = np.full(d + 1, np.inf), np.full(d + 1, -np.inf)
    place = column_ranges(part.features(), rows.places, low[:d], high[:d])
    if place >= 0:
        row, column = divmod(place, d)
        raise ValueError(
            f"X holds NaN or infinity in row {part.numbers[row]}, column {column}; drop such rows "
            "on both sides (a label without its row belongs to nobody) or fill them in"
        )
    wrong = np.flatnonzero(~np.isfinite(rows.y))
    if len(wrong):
        raise ValueError(
            f"y holds {rows.y[wrong[0]]} in row {part.numbers[wrong[0]]}; drop such rows on both "
            "sides or fill them in"
        )
    if len(rows.y):
        low[d], high[d] = rows.y.min(), rows.y.max()
    return Ranges(
        part.n_rows,
        part.n_movable,
        part.n_groups,
        len(rows.streams),
        part.largest_block,
        grouping(part),
        low,
        high,
    )


def grouping(part: Part) -> int:
    """A fingerprint of which rows may exchange labels; those of several parts add up."""
    streams = np.repeat(hashed(part.rows.streams), np.diff(part.rows.starts)).view(np.int64)
    members = hashed(part.numbers[: part.n_movable] ^ streams)
    return int(members.sum(dtype=np.uint64))


def column_sums(part: Part, exponents: IntArray) -> Totals:
    """Sums of the columns and of the label."""
    sums = new_sums(exponents)
    add_columns(part.features(), part.frozen_rows(), sums)
    return Totals(in_steps(sums))


def products(part: Part, centre: FloatArray, label_centre: float, exponents: IntArray) -> Totals:
    """Products of the centred columns with each other and with the centred label."""
    X, rows, sums = part.features(), part.frozen_rows(), new_sums(exponents)
    for first in range(0, part.n_rows, READ.rows_per_call):
        last = min(first + READ.rows_per_call, part.n_rows)
        add_products(X, rows, first, last, centre, label_centre, sums)
    return Totals(in_steps(sums))


def align(part: Part, model: PassModel, seed: int, iteration: int, exponents: IntArray) -> Totals:
    """Align every block and add up what the next coefficients need."""
    X, rows, sums = part.features(), part.frozen_rows(), new_sums(exponents)
    space, tally = new_space(part.largest_block, model.mismatch_rate >= 0.0), [0, 0]
    for block, block_end in calls(rows, sum(model.plan)):
        accepted, proposed = align_blocks(
            X, rows, block, block_end, model, np.uint64(seed), iteration, space, sums
        )
        tally = [tally[0] + accepted, tally[1] + proposed]
    for first in range(part.n_movable, part.n_rows, READ.rows_per_call):
        add_pinned(X, rows, first, min(first + READ.rows_per_call, part.n_rows), model, sums)
    return Totals(in_steps(sums), *tally)


def start_squares(part: Part, model: PassModel, exponents: IntArray) -> Totals:
    """Squares of matched residuals, and of labels and fitted values around their group means."""
    X, rows, sums = part.features(), part.frozen_rows(), new_sums(exponents)
    space = new_space(part.largest_block, False)
    for block, block_end in calls(rows, 1):
        add_start_squares(X, rows, block, block_end, model, space, sums)
    for first in range(part.n_movable, part.n_rows, READ.rows_per_call):
        last = min(first + READ.rows_per_call, part.n_rows)
        add_pinned_squares(X, rows, first, last, model, sums)
    return Totals(in_steps(sums))


def score_products(
    part: Part,
    model: PassModel,
    seed: int,
    iteration: int,
    n_snapshots: int,
    sweeps_between: int,
    exponents: IntArray,
) -> Totals:
    """Products of the scores' distances from their mean, over blocks and snapshots."""
    X, rows, sums = part.features(), part.frozen_rows(), new_sums(exponents)
    space = new_space(part.largest_block, model.mismatch_rate >= 0.0)
    for block, block_end in calls(rows, sum(model.plan) + n_snapshots * sweeps_between):
        add_score_products(
            X, rows, block, block_end, model, np.uint64(seed), iteration, n_snapshots,
            sweeps_between, space, sums,
        )  # fmt: skip
    return Totals(in_steps(sums))


def sample(part: Part, share: float) -> Sample:
    """About a `share` of the rows, chosen by a hash of their number in the whole table."""
    place = np.flatnonzero(hashed(part.numbers) <= hash_limit(share))
    rows = part.rows
    return Sample(
        part.numbers[place],
        np.asarray(part.features()[rows.places[place]], dtype=np.float64),
        rows.y[place],
        place >= part.n_movable,
    )


def sample_blocks(part: Part, share: float) -> SampledBlocks:
    """About a `share` of the blocks and of the pinned rows, chosen by a hash of their numbers."""
    rows, limit = part.rows, hash_limit(share)
    kept = np.flatnonzero(hashed(rows.streams) <= limit)
    pinned = part.n_movable + np.flatnonzero(hashed(part.numbers[part.n_movable :]) <= limit)
    blocks = [np.arange(rows.starts[g], rows.starts[g + 1]) for g in kept]
    place = np.concatenate([*blocks, pinned]).astype(np.int64)
    return SampledBlocks(
        rows.streams[kept],
        np.diff(rows.starts)[kept],
        np.asarray(part.features()[rows.places[place]], dtype=np.float64),
        rows.y[place],
        part.numbers[pinned],
    )


def hash_limit(share: float) -> np.uint64:
    """The hash below which a `share` of all numbers lie."""
    return np.uint64(min(share * 2.0**64, 2.0**64 - 2048))


def hashed(numbers: IntArray) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    """64 scrambled bits for each number."""
    scramble: Any = getattr(mix, "py_func", mix)  # plain Python, which takes arrays
    with np.errstate(over="ignore"):
        return np.asarray(scramble((numbers.astype(np.uint64) + np.uint64(1)) * GOLDEN))


def calls(rows: PartRows, sweeps: int) -> list[tuple[int, int]]:
    """Cut the blocks into ranges of like work, so that an interruption is soon obeyed."""
    n_blocks = len(rows.streams)
    per_call = max(READ.visits_per_call / max(sweeps, 1), 1.0)
    n_calls = min(int(rows.starts[-1] / per_call) + 1, n_blocks)
    goals = np.linspace(0, rows.starts[-1], n_calls + 1)
    edges = np.unique(np.searchsorted(rows.starts, goals)).tolist()
    return list(pairwise(edges))
