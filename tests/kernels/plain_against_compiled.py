"""Run every kernel and print a digest of all it produced; see test_plain_python.py."""

import hashlib
import sys
from itertools import chain, pairwise

import numpy as np

from unshuffle.kernels import (
    block_em,
    block_scores,
    collapsed,
    columns,
    exact_sum,
    grid,
    hard_em,
    local,
    match,
    partial_bethe,
    partial_chain,
    partial_em,
    ranking,
    scores,
    skip_match,
    swap,
    sweep_blocks,
    tied_density,
)


def run():
    rng = np.random.default_rng(0)
    n, seed = 40, np.uint64(12345)
    starts = np.array([0, 15, 17, 36], dtype=np.int64)
    y, mu = rng.normal(size=n), rng.normal(size=n)
    y[3] = y[4]
    ranked, perm = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    match.rank_inside(y, starts, ranked)
    match.match_groups(mu, ranked, starts, perm)
    yield perm.copy()
    match.shuffle_groups(perm, starts, seed, 3)
    yield perm.copy()
    slots = np.zeros((36, 4))
    slots[:, 0], slots[:, 1] = mu[:36], y[perm[:36]]
    for piece in range(2):
        how = swap.Stream(seed, 1), swap.Schedule(2000, 100, 40), swap.Task(0, 3, piece, 2)
        accepted = swap.advance_groups(slots, perm, starts, 3.0, *how)
        yield np.array([accepted])
    yield slots
    yield perm
    basis = np.linalg.qr(rng.normal(size=(n, 3)))[0].T.copy()
    thetas, explained, settled = np.empty((4, 3)), np.full(4, -1.0), np.zeros(4, dtype=bool)
    hard_em.shuffled_starts(basis, y, starts, seed, 2, thetas)
    yield thetas.copy()
    labels = hard_em.Labels(basis, y[ranked], starts)
    plain, ahead = thetas.copy(), thetas.copy()
    hard_em.descend(labels, plain, explained, settled, 20, 0.0, 0.0)
    yield plain
    yield explained.copy()
    explained[:], settled[:] = -1.0, False
    hard_em.descend(labels, ahead, explained, settled, 20, 0.0, 1.5)
    yield ahead
    hard_em.support(labels, ahead, explained)
    yield explained
    space = ranking.new_ranking(n)
    for values in (mu, np.exp(20 * mu), np.zeros(n)):
        for repair in (False, True):
            ranking.rank_block(values, 2, 33, space, repair)
            yield space.order.copy()
    rows, suspects, limits = (
        np.arange(36),
        np.empty(36, dtype=np.int64),
        np.empty(4, dtype=np.int64),
    )
    place_of, own = np.empty(36, dtype=np.int64), np.zeros(n)
    match.rank_inside(mu, starts, rows)
    local.pick_suspects(rows, starts, mu[:36] > -0.5, suspects, place_of, limits)
    lists = local.Lists(rows, suspects[: limits[-1]], limits, place_of, local.ALL_SCALES)
    prior = local.RowPrior(rng.uniform(0, 3, size=36), np.empty(0, dtype=np.int64), 0)
    perm = np.arange(n)
    slots = np.zeros((36, 4))
    slots[:, 0], slots[:, 1] = mu[:36], y[:36]
    accepted = local.advance_blocks(
        local.State(slots, perm, np.arange(n), own), starts, lists, prior, 3.0,
        swap.Stream(seed, 1), swap.Schedule(2000, 100, 1), swap.Task(0, 3, 0, 1),
    )  # fmt: skip
    assert accepted > 50
    yield slots
    yield perm
    yield own
    yield from swap_collapsed(basis, y, perm, rows, starts, prior, seed)


def swap_collapsed(basis, y, perm, rows, starts, prior, seed):
    theta = y[perm] @ basis.T
    limits = np.repeat([starts[:-1], starts[1:]], np.diff(starts), axis=1)
    model = collapsed.Integrated(basis.T.copy(), y, 18.5, 3.0 + y @ y / 2)
    stream = swap.Stream(seed, 1)
    accepted = collapsed.advance_collapsed(model, perm, theta, rows, limits, prior, 2000, stream)
    assert accepted > 50
    yield perm
    yield theta


def run_streams():
    rng, starts = np.random.default_rng(1), np.array([0, 15, 17, 36])
    X, y = rng.normal(size=(40, 2)).astype(np.float32), rng.normal(size=40)
    n, seed, centre = len(y), np.uint64(7), np.array([0.1, -0.2])
    ranked = np.concatenate([np.argsort(y[a:b]) for a, b in pairwise(starts)])
    rows = block_em.PartRows(
        np.arange(n, dtype=np.int32)[::-1].copy(),
        y,
        ranked.astype(np.int32),
        starts,
        starts[:-1] * 3,
    )
    sums = exact_sum.new_sums(np.full(6, 10))
    low, high = np.zeros(2), np.zeros(2)
    yield np.array([columns.column_ranges(X, rows.places, low, high)])
    yield low
    columns.add_columns(X, rows, sums)
    columns.add_products(X, rows, 3, n, centre, 0.3, sums)
    for value in y:
        exact_sum.count_terms(sums, 1)
        exact_sum.add(sums, 2, value)
    yield np.array(exact_sum.in_steps(sums), dtype=float)
    for rate in (-1.0, 0.3):
        model = block_em.PassModel(
            np.array([0.5, -1.0]),
            centre,
            0.2,
            0.3,
            0.7,
            rate,
            sweep_blocks.Plan(5, 20),
            -4.0,
            1.0,
            -3.0,
            3.0,
            np.full(9, 0.1),
        )
        sums, space = exact_sum.new_sums(np.full(6, 10)), block_em.new_space(19, rate > 0.0)
        accepted, _ = block_em.align_blocks(X, rows, 0, 3, model, seed, 4, space, sums)
        assert accepted > 20
        block_em.add_pinned(X, rows, 36, n, model, sums)
        yield np.array(exact_sum.in_steps(sums), dtype=float)
        sums = exact_sum.new_sums(np.full(10, 20))
        block_scores.add_score_products(X, rows, 0, 3, model, seed, 5, 4, 3, space, sums)
        yield np.array(exact_sum.in_steps(sums), dtype=float)
        sums = exact_sum.new_sums(np.full(3, 20))
        block_em.add_start_squares(X, rows, 0, 3, model, space, sums)
        block_em.add_pinned_squares(X, rows, 36, n, model, sums)
        yield np.array(exact_sum.in_steps(sums), dtype=float)


def run_sweeps():
    rng, starts = np.random.default_rng(2), np.array([0, 15, 17, 36])
    n, seed, order = 40, np.uint64(12345), np.empty(36, dtype=np.int32)
    y, mu = rng.normal(size=n), rng.normal(size=n)
    nobody, some = np.zeros(0, dtype=bool), mu[:36] > 0.5
    for costs, suspected in (
        (np.empty(0), nobody), (np.full(36, 1.5), some), (np.full(36, 1.5), ~some),
    ):  # fmt: skip
        rows = sweep_blocks.SweptRows(mu, y, costs, suspected)
        answers = sweep_blocks.Answers(np.arange(n), np.zeros(n), np.zeros(n))
        for iteration in range(2):
            sweep_blocks.sort_blocks(mu, starts, 0, 3, order, iteration > 0)
            counts = sweep_blocks.sweep_blocks(
                rows, answers, order, starts, 0, 3, 3.0,
                sweep_blocks.Streams(seed, iteration, np.arange(3)), sweep_blocks.Plan(3, 20),
                sweep_blocks.new_sweep_space(19, len(costs) > 0),
            )  # fmt: skip
            yield np.array(counts)
            yield from (array.copy() for array in answers)
    X, out = rng.normal(size=(n, 2)), np.empty((3, 4))
    scores.stratum_scores(
        X, X[0], rng.permutation(n), starts, 0, 3, mu, y, y[::-1].copy(), answers.perm, out
    )
    yield out
    nodes, smooth, read = np.empty(12), np.empty(12), np.empty(n)
    cell = rng.integers(11, size=n)
    grid.put_on_grid(cell, np.abs(mu) % 1, y**2, nodes)
    grid.smooth(nodes, np.exp(-np.arange(5.0)), smooth)
    grid.read_off(cell, np.abs(mu) % 1, smooth, read)
    yield read


def run_partial():
    rng, row_starts, label_starts = (
        np.random.default_rng(3),
        np.array([0, 9, 10, 24]),
        np.array([0, 12, 15, 25]),
    )
    Z, theta = rng.normal(size=(24, 2)), np.array([1.0, -0.5])
    mu = Z @ theta
    y = np.concatenate([np.sort(rng.normal(size=b - a)) for a, b in pairwise(label_starts)])
    density = np.empty(25)
    tied_density.log_tied_densities(mu, y, row_starts, label_starts, 0.3, 0.8, density)
    yield density
    tables = partial_em.PartialTables(Z, y, -density, row_starts, label_starts)
    thetas, objectives = rng.normal(size=(5, 2)), np.full(5, np.inf)
    scales, settled = np.full(5, 0.1), np.zeros(5, dtype=bool)
    partial_em.descend_partial(tables, thetas, objectives, scales, settled, 20, 1e-12, 1.5)
    yield thetas
    yield objectives
    partner = np.empty(24, dtype=np.int64)
    partial_em.hand_out_labels(tables, mu, 0.1, partner)
    yield partner.copy()
    ordered, places = np.sort(mu[:9]), np.empty(9, dtype=np.int64)
    prices = np.full(9, 0.3), np.full(12, 0.4)
    skip_match.match_with_skips(ordered, y[:12], 9.0, *prices, places)
    yield places
    rows = partial_chain.PartialRows(mu, y, -density, row_starts, label_starts)
    sums = [np.zeros(24) for _ in range(3)]
    state = partial_chain.PartialState(partner, *sums, np.zeros(25))
    yield np.array([partial_chain.sweep_partial(rows, state, 0, 3, 9.0, np.uint64(5), 2, 3, 20)])
    yield from state
    bethe = partial_bethe.BetheSums(*(np.empty(9) for _ in range(3)), np.empty(12))
    weights = mu[:9], np.sort(y[:12]), -density[:12], 9.0
    yield np.array([partial_bethe.sum_matchings(*weights, 30, 1e-6, bethe)])
    yield from bethe


with np.errstate(over="ignore"):  # plain numpy warns where unsigned integers wrap around
    digest = hashlib.sha256(
        b"".join(a.tobytes() for a in chain(run(), run_sweeps(), run_streams(), run_partial()))
    ).hexdigest()
sys.stdout.write(digest)
