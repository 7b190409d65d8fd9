"""Permutations that follow the coefficients.

A chain that starts where the coefficients were lags behind where they are, and the less noise
there is room for, the longer. Two permutations are near the posterior from the start: one drawn by
giving every fitted value a noise of its own and sorting the labels alike, and one carried over from
other coefficients by leaving every row its residual. The second is the identity where nothing has
changed, so that nothing is lost by it once EM has converged.
"""

from itertools import pairwise

import numpy as np

from ..data.problem import Problem
from ..data.threads import Workers
from ..families.normal import NORMAL
from ..kernels.match import carry_groups
from ..kernels.types import FloatArray, IntArray
from .hard import most_likely_permutation
from .settings import WORK
from .state import State
from .sweeps import even_edges


def draw_permutation(problem: Problem, fitted: FloatArray, scale: float, seed: int) -> IntArray:
    """Near a draw from the posterior: sort labels like the fitted values with noise."""
    return most_likely_permutation(problem, with_noise(fitted, scale, seed))


def with_noise(fitted: FloatArray, scale: float, seed: int) -> FloatArray:
    """Labels as the model would draw them."""
    return NORMAL.simulate(fitted, scale, np.random.default_rng(seed))


def carry_over(problem: Problem, before: State, after: State, workers: Workers) -> State:
    """`after`, with the permutation that it took over from `before` carried along."""
    perm, starts = after.perm.copy(), problem.starts
    ratio = after.noise_scale / before.noise_scale

    def carry(groups: tuple[int, int]) -> None:
        carry_groups(before.fitted, after.fitted, ratio, problem.y, starts, *groups, perm)

    n_calls = max(workers.n_jobs, problem.n_movable // WORK.rows_per_piece)
    workers.map(carry, list(pairwise(even_edges(starts, n_calls).tolist())))
    return after._replace(perm=perm)
