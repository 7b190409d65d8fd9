"""Load or compile every kernel before it is needed."""

import numpy as np

from . import (
    block_em,
    block_scores,
    collapsed,
    columns,
    exact_sum,
    grid,
    hard_em,
    local,
    match,
    ranking,
    rng,
    scores,
    strides,
    swap,
    sweep,
    sweep_blocks,
)
from .types import FloatArray, IntArray


def warm_up() -> None:
    """Load every compiled kernel, compiling those that are not cached on disk yet.

    The first fit after an installation compiles for some seconds, the first fit of a process
    loads the compiled code. Call this where waiting is better, for example before timing or
    before forking.

    Examples
    --------
    >>> import unshuffle
    >>> unshuffle.warm_up()
    """
    n, seed = 4, np.uint64(0)
    y = np.arange(n, dtype=np.float64)
    mu, basis = y.copy(), np.ones((1, n))
    starts = np.array([0, n], dtype=np.int64)
    perm = np.arange(n, dtype=np.int64)
    ranked = np.empty(n, dtype=np.int64)
    match.rank_inside(y, starts, ranked)
    match.match_groups(mu, ranked, starts, perm)
    match.shuffle_groups(perm, starts, seed, 0)
    how = swap.Stream(seed, 0), swap.Schedule(8, 2, 1), swap.Task(0, 1, 0, 1)
    swap.advance_groups(np.zeros((n, 4)), perm, starts, 1.0, *how)
    thetas, explained, settled = np.ones((1, 1)), -np.ones(1), np.zeros(1, dtype=np.bool_)
    hard_em.shuffled_starts(basis, y, starts, seed, 0, thetas)
    labels = hard_em.Labels(basis, y, starts)
    hard_em.descend(labels, thetas, explained, settled, 2, 0.0, 1.0)
    hard_em.support(labels, thetas, explained)
    ranking.rank_block(mu, 0, n, ranking.new_ranking(n), True)
    hard_em.coordinates(basis, y, thetas[0])
    lists = local.Lists(perm, perm.copy(), starts, ranked.copy(), local.ALL_SCALES)
    suspected = np.ones(n, dtype=np.bool_)
    local.pick_suspects(perm, starts, suspected, ranked, lists.place_of, starts.copy())
    prior = local.RowPrior(np.empty(0), np.empty(0, dtype=np.int64), 0)
    state = local.State(np.zeros((n, 4)), np.arange(n), np.arange(n), np.zeros(n))
    local.advance_blocks(state, starts, lists, prior, 1.0, *how)
    limits = np.array([[0] * n, [n] * n], dtype=np.int64)
    model = collapsed.Integrated(np.ones((n, 1)), y, 1.0, 9.0)
    collapsed.advance_collapsed(model, perm, np.ones(1), perm.copy(), limits, prior, 2, how[0])
    for X in (np.zeros((n, 1)), np.zeros((n, 1), dtype=np.float32)):
        _warm_up_streams(X, y.copy(), starts.copy())
    _warm_up_sweeps(y, starts, perm)
    grid.put_on_grid(starts[:1], mu[:1], mu[:1], np.empty(n))
    grid.smooth(mu, y, np.empty(n))
    grid.read_off(starts[:1], mu[:1], mu, np.empty(1))


def _warm_up_sweeps(y: FloatArray, starts: IntArray, perm: IntArray) -> None:
    """Load what systematic sweeps need, without and with a prior on mismatches."""
    n, mu, seed = len(y), y.copy(), np.uint64(0)
    suspected = np.ones(n, dtype=np.bool_)
    for costs in (np.empty(0), np.ones(n)):
        rows = sweep_blocks.SweptRows(mu, y, costs, suspected[: len(costs)])
        answers = sweep_blocks.Answers(np.arange(n), np.empty(n), np.empty(n))
        order = np.empty(n, dtype=np.int32)
        plan = sweep_blocks.Plan(1, 2)
        sweep_blocks.sweep_blocks(rows, answers, order, False, starts, 0, 1, 1.0, seed, 0, plan)
        sweep_blocks.sort_block(mu, 0, n, order, True)
        members = sweep_blocks.pick_members(order, 0, n, rows, False)
        slots = sweep_blocks.new_slots(n, len(costs) > 0)
        sweep_blocks.gather(members, 0, rows, answers.perm, perm.copy(), slots)
        low, high = strides.stride_scales(slots.mu, 1.0)
        key = np.uint64(strides.sweep_key(np.uint64(rng.stream_key(seed, 0, 0)), 0))
        kind = sweep.kind_of(0, len(costs) > 0)
        sweep.sweep_once(slots, 1.0, key, kind, low, high, 0, n, True)
        sweep_blocks.run_list(slots, 1.0, key, *sweep_blocks.phase_sweeps(plan, 0))
        if sweep_blocks.few_suspects(rows, 0, n) or len(costs):
            sweep_blocks.count_unmoved(0, n, rows, answers, 1)
        sweep_blocks.scatter(members, 0, slots, answers)
        sweep_blocks.close_block(0, n, answers, plan, False)
    X = np.ones((n, 1))
    for rows_of in (perm[:0], perm):
        scores.stratum_scores(X, X[0], rows_of, starts, 0, 1, mu, y, y, perm, np.empty((1, 3)))


def _warm_up_streams(X: block_em.Features, y: FloatArray, starts: IntArray) -> None:
    """Load what a fit in passes needs, for one type of features."""
    n, nothing, seed = len(y), np.zeros(1), np.uint64(0)
    rows = block_em.PartRows(
        np.arange(n, dtype=np.int32), y, np.arange(n, dtype=np.int32), starts, starts[:1].copy()
    )
    for array in (X, *rows):
        array.flags.writeable = False  # as the parts of a fit are
    columns.column_ranges(X, rows.places, np.zeros(1), np.zeros(1))
    sums = exact_sum.new_sums(np.full(6, 8))
    columns.add_columns(X, rows, sums)
    columns.add_products(X, rows, 0, n, nothing, 0.0, sums)
    for rate in (-1.0, 0.5):
        model = block_em.PassModel(
            nothing, nothing, 0.0, 0.0, 1.0, rate, sweep_blocks.Plan(1, 2), 0.0, 1.0, 0.0, 1.0,
            np.ones(2),
        )  # fmt: skip
        space = block_em.new_space(n, rate >= 0.0)
        block_em.align_blocks(X, rows, 0, 1, model, seed, 0, space, sums)
        block_em.add_start_squares(X, rows, 0, 1, model, space, sums)
        block_em.add_pinned(X, rows, 0, n, model, sums)
        block_em.add_pinned_squares(X, rows, 0, n, model, sums)
        block_scores.add_score_products(X, rows, 0, 1, model, seed, 0, 2, 1, space, sums)
    exact_sum.in_steps(sums)
