"""Exact alignment: all permutations of each block, for blocks of a few rows."""

from itertools import permutations

import numpy as np

from ..data.problem import Problem
from ..families.family import Family
from ..families.normal import NORMAL
from ..kernels.types import BoolArray, IntArray
from .priors import Prior
from .settings import LARGEST_ENUMERATED_BLOCK
from .soft import SoftAlignment
from .state import Alignment, State


class ExactAlignment(SoftAlignment):
    """Enumerate the posterior over permutations, block by block."""

    def __init__(self, problem: Problem, prior: Prior, family: Family = NORMAL) -> None:
        super().__init__(problem, prior, family)
        self._check_largest("exact", LARGEST_ENUMERATED_BLOCK, "use 'chain' or 'sinkhorn'")
        sizes = {int(size) for size in np.diff(problem.starts)}
        self._orders = {m: np.array(list(permutations(range(m)))) for m in sizes}

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Posterior means at `state`; `iteration` plays no role."""
        problem, y = self.problem, self.problem.y
        by_row = self.prior.by_row(problem, state.mismatch_rate)
        expected, matched = y.copy(), np.ones(problem.n_rows)
        perm: IntArray = np.arange(problem.n_rows, dtype=np.int64)
        for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
            rows = slice(int(first), int(last))
            orders = self._orders[int(last - first)]
            log_weight = self.family.log_density(
                y[rows][orders], state.fitted[rows], state.noise_scale
            )
            moved = orders != np.arange(last - first)
            if len(by_row.costs):
                log_weight = log_weight - by_row.costs[rows] * moved
            total = log_weight.sum(axis=1)
            if len(by_row.places):
                total[_beyond(orders, by_row.places[rows], by_row.reach)] = -np.inf
            weight = np.exp(total - total.max())
            weight /= weight.sum()
            expected[rows] = weight @ y[rows][orders]
            matched[rows] = 1.0 - weight @ moved
            perm[rows] = first + orders[int(np.argmax(weight))]
        return self.conclude(state, expected, matched, perm)


def _beyond(orders: IntArray, places: IntArray, reach: int) -> BoolArray:
    beyond: BoolArray = np.abs(places[orders] - places).max(axis=1) > reach
    return beyond
