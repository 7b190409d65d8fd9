"""How much the score of a block varies over its permutations: what the lost order takes away.

Blocks are independent given the coefficients, so the covariance of the whole score is the sum of
the blocks' covariances. The score of a block has d + 2 entries: ``Σ (x_j - centre_j) v``,
``Σ (v - mu)²`` and the number of mismatched rows, v being the labels beside the rows.
"""

import numpy as np

from .block_em import Features, Model, Rows, Space, align_block
from .exact_sum import Sums, add, count_terms
from .jit import kernel
from .local import ALL_SCALES, Belief, advance_block
from .rng import stream_key
from .swap import HELD, MU
from .types import FloatArray


@kernel
def block_score(
    X: Features, rows: Rows, first: int, last: int, model: Model, space: Space, score: FloatArray
) -> None:
    """Write the score of a block whose chain stands in `space`."""
    d = len(model.coef)
    score[:] = 0.0
    for k in range(last - first):
        row = rows.places[first + space.ranking.order[k]]
        residual = space.slots[k, HELD] - space.slots[k, MU]
        for j in range(d):
            score[j] += (np.float64(X[row, j]) - model.centre[j]) * residual
        score[d] += residual * residual
        score[d + 1] += np.float64(space.perm[k] != k)


@kernel
def add_score_products(
    X: Features,
    rows: Rows,
    block: int,
    block_end: int,
    model: Model,
    seed: np.uint64,
    iteration: int,
    n_snapshots: int,
    sweeps_between: float,
    space: Space,
    sums: Sums,
) -> None:
    """Add up, over blocks and snapshots, products of the scores' distances from their mean.

    The upper triangle, row by row. Chains warm up as in an iteration and go on from there.
    """
    d = len(model.coef)
    scores = np.empty((n_snapshots, d + 2))
    for g in range(block, block_end):
        first, last = rows.starts[g], rows.starts[g + 1]
        m = last - first
        key = stream_key(seed, iteration, rows.streams[g])
        align_block(X, rows, first, last, model, key, space)
        lost = model.mismatch_rate < 0.0
        n_suspects = 0
        if not lost:
            for k in range(m):
                n_suspects += int(space.place_of[k] >= 0)
        costs = space.nothing if lost else space.costs[:m]
        row_of_label = space.nowhere if lost else space.row_of_label[:m]
        step = int(model.sweeps * m)
        for k in range(n_snapshots):
            goal = step + int(sweeps_between * m)
            advance_block(
                space.slots[:m], space.perm, row_of_label, space.home, space.places[:m],
                space.suspects[:n_suspects], space.place_of, ALL_SCALES,
                Belief(costs, space.nowhere, 0), model.noise_scale**-2.0, key, step, goal, goal, 1,
            )  # fmt: skip
            step = goal
            block_score(X, rows, first, last, model, space, scores[k])
        for j in range(d + 2):
            scores[:, j] -= scores[:, j].mean()
        for k in range(n_snapshots):
            count_terms(sums, 1)
            place = 0
            for i in range(d + 2):
                for j in range(i, d + 2):
                    add(sums, place, scores[k, i] * scores[k, j])
                    place += 1
