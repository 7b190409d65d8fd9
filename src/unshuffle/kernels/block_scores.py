"""How much the score of a block varies over its permutations: the missing information.

Blocks are independent given the coefficients, so the covariance of the whole score is the sum of
the blocks' covariances. The score of a block has d + 2 entries: ``Σ (x_j - centre_j) (v - mu)``,
``Σ (v - mu)²`` and the number of mismatched rows, v being the labels beside the rows.
"""

import numpy as np

from .block_em import PartRows, PassModel, Space, align_block, sweep_filled
from .exact_sum import Sums, add, count_terms
from .jit import kernel
from .sweep_blocks import Plan
from .types import Features, FloatArray


@kernel
def block_score(
    X: Features,
    rows: PartRows,
    first: int,
    last: int,
    model: PassModel,
    space: Space,
    score: FloatArray,
) -> None:
    """Write the score of a block at the permutation in `space`."""
    d = len(model.coef)
    score[:] = 0.0
    for i in range(last - first):
        row, label = rows.places[first + i], space.answers.perm[i]
        residual = space.labels[label] - space.mu[i]
        for j in range(d):
            score[j] += (np.float64(X[row, j]) - model.centre[j]) * residual
        score[d] += residual * residual
        score[d + 1] += np.float64(label != i)


@kernel
def add_score_products(
    X: Features,
    rows: PartRows,
    block: int,
    block_end: int,
    model: PassModel,
    seed: np.uint64,
    iteration: int,
    n_snapshots: int,
    sweeps_between: int,
    space: Space,
    sums: Sums,
) -> None:
    """Add up, over blocks and snapshots, products of the scores' distances from their mean.

    The upper triangle, row by row. Chains warm up as in an iteration and continue from there.
    """
    d = len(model.coef)
    scores = np.empty((n_snapshots, d + 2))
    plan = Plan(0, sweeps_between)
    for g in range(block, block_end):
        first, last = rows.starts[g], rows.starts[g + 1]
        align_block(X, rows, g, model, seed, iteration, space)
        for k in range(n_snapshots):
            sweep_filled(last - first, model, seed, iteration + 1 + k, plan, space)
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
