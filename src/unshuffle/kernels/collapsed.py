"""Metropolis-Hastings over permutations with coefficients and noise integrated out.

With v the labels beside the rows, U an orthonormal basis of the columns (rows ``u_i``), a flat
prior on the coordinates and an inverse gamma one on the noise variance, a permutation has log
probability ``-shape log(scale - ‖Uᵀv‖²/2)``, up to a constant and its own prior. Swapping the
labels of rows i and j, which differ by δ, adds ``δ (u_i - u_j)`` to ``Uᵀv``: O(d) a proposal.

Partners are neighbours in a list that must not depend on the coefficients, for these are not part
of the state here. Every step draws its row from all groups: groups in turn would not give a
reversible chain, because they depend on each other once the coefficients are integrated out.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .local import RowPrior, too_far
from .rng import draw, high_index, stream_key
from .strides import draw_scale, is_upward
from .swap import Stream, accepts, exchange_cost
from .types import FloatArray, IntArray

ROUNDING = float(np.finfo(np.float64).eps)
_LOW_26 = np.uint64(0x3FFFFFF)


class Integrated(NamedTuple):
    """The model with coefficients and noise integrated out.

    Attributes
    ----------
    basis : array of shape (n, rank)
    y : array of shape (n,)
    shape, scale : float
        Of the inverse gamma distribution of the noise variance.
    """

    basis: FloatArray
    y: FloatArray
    shape: float
    scale: float


@kernel
def advance_collapsed(
    model: Integrated,
    perm: IntArray,
    theta: FloatArray,
    rows: IntArray,
    limits: IntArray,
    prior: RowPrior,
    n_steps: int,
    stream: Stream,
) -> int:
    """Run `n_steps` proposals; return the accepted swaps.

    ``theta = basis.T @ y[perm]`` follows the permutation. `rows` lists the movable rows block by
    block; the block of the row at place p is ``limits[0, p]:limits[1, p]``.
    """
    basis, y, shape, left = model
    accepted, priced = 0, len(prior.costs) > 0
    n = np.uint64(len(rows))
    rank = basis.shape[1]
    for k in range(rank):
        left -= 0.5 * theta[k] * theta[k]
    left = max(left, ROUNDING * model.scale)  # zero or less where labels fit exactly
    key = stream_key(stream.seed, stream.iteration, 0)
    for step in range(n_steps):
        bits = draw(key, 2 * step)
        place = np.int64(high_index(bits, n))
        first = limits[0, place]
        last = limits[1, place]
        n_scales = 1
        while (1 << n_scales) < last - first:
            n_scales += 1
        # Lower half, from the top: 5 bits of scale, 1 of direction, 26 of distance.
        distance = 1 + ((np.int64(bits & _LOW_26) << draw_scale(bits, 1, n_scales)) >> 26)
        other = place + distance if is_upward(bits) else place - distance
        if other < first or other >= last:
            continue
        i = rows[place]
        j = rows[other]
        label_i = perm[i]
        label_j = perm[j]
        if too_far(prior, i, j, label_i, label_j):
            continue
        difference = y[label_j] - y[label_i]
        along = 0.0
        apart = 0.0
        for k in range(rank):
            between = basis[i, k] - basis[j, k]
            along += theta[k] * between
            apart += between * between
        remains = left - difference * (along + 0.5 * difference * apart)
        if remains <= 0.0:  # rounding, where labels fit exactly
            continue
        log_ratio = -shape * math.log(remains / left)
        if priced:
            log_ratio -= exchange_cost(prior.costs, i, j, label_i, label_j)
        if not accepts(log_ratio, key, 2 * step + 1):
            continue
        accepted += 1
        left = remains
        perm[i] = label_j
        perm[j] = label_i
        for k in range(rank):
            theta[k] += difference * (basis[i, k] - basis[j, k])
    return accepted
