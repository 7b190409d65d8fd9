"""Data of a fit with rows, or whole groups, drawn with replacement."""

from dataclasses import replace

import numpy as np

from ...data.problem import Problem
from ...kernels.types import BoolArray, FloatArray, IntArray
from .data import GlmData


def sizes_of_units(data: GlmData, *, by_group: bool) -> IntArray:
    """Number of (arranged) rows of each unit: a group, or a row whose label cannot move."""
    n, n_rows = data.n_movable, data.problem.n_rows
    if not by_group:
        return np.ones(n_rows, dtype=np.int64)
    pinned = np.ones(n_rows - n, dtype=np.int64)
    return np.concatenate([np.diff(data.problem.starts), pinned])


def draw_units(sizes: IntArray, rng: np.random.Generator) -> IntArray:
    """How often each unit was drawn, as many draws as there are units."""
    return np.bincount(rng.integers(len(sizes), size=len(sizes)), minlength=len(sizes))


def weighted_draw(data: GlmData, sizes: IntArray, drawn: IntArray) -> GlmData:
    """Rows that were drawn, with weights that say how often, for labels in known places."""
    times = np.repeat(drawn, sizes).astype(np.float64)
    rows = np.flatnonzero(times)
    inside = np.repeat(np.arange(data.problem.n_blocks), np.diff(data.problem.starts))
    left = np.bincount(inside[rows[rows < data.n_movable]], minlength=data.problem.n_blocks)
    return _taken(data, rows, left[left > 0], data.weights[rows] * times[rows])


def repeated_draw(data: GlmData, sizes: IntArray, drawn: IntArray) -> GlmData:
    """Whole groups, each as often as it was drawn, for labels in lost order."""
    ends = np.cumsum(sizes)
    units = np.repeat(np.arange(len(sizes)), drawn)
    rows = np.concatenate([np.arange(ends[k] - sizes[k], ends[k]) for k in units])
    blocks = units[units < data.problem.n_blocks]
    return _taken(data, rows, sizes[blocks], data.weights[rows])


def take_groups(data: GlmData, kept: BoolArray) -> GlmData:
    """Some whole groups and pinned rows, given by their (arranged) rows."""
    starts = data.problem.starts
    sizes = np.diff(starts)[kept[starts[:-1]]]
    rows = np.flatnonzero(kept)
    return _taken(data, rows, sizes, data.weights[rows])


def _taken(data: GlmData, rows: IntArray, block_sizes: IntArray, weights: FloatArray) -> GlmData:
    """Arranged rows as data of their own; coordinates of the coefficients stay the same."""
    problem = data.problem
    starts = np.concatenate([[0], np.cumsum(block_sizes)]).astype(np.int64)
    part = Problem(
        problem.X[problem.user_rows(rows)], problem.y[rows], starts, None,
        len(block_sizes) + len(rows) - int(starts[-1]),
    )  # fmt: skip
    return replace(
        data,
        problem=part,
        Z=np.ascontiguousarray(data.Z[rows]),
        offset=data.offset[rows],
        weights=weights,
        match_prob=None if data.match_prob is None else data.match_prob[rows],
        event=None if data.event is None else data.event[rows],
    )
