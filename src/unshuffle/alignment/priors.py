"""The prior over permutations.

Every row that does not hold its own label costs ``γ_i``:
``prior(perm) ∝ exp(-Σ γ_i [perm_i ≠ i])``.
Of n rows with K mismatched ones among them, a mismatched row has about K labels to choose from, so
that the prior odds of a mismatch are ``K exp(-γ_i)``. Hence ``γ_i = log(K p_i / (1 - p_i))`` for a
row whose label is right with probability ``p_i``, with ``K = Σ (1 - p_j)`` over its group. With one
rate α for all rows this is ``γ = log(n (1 - α))``.
"""

from dataclasses import dataclass

import numpy as np

from ..data.problem import Problem
from ..kernels.limits import SMALLEST_RATE
from ..kernels.local import RowPrior
from ..kernels.types import FloatArray, IntArray

NOTHING = np.empty(0)
# What it costs a row to hold a label that is declared not to be its own. No noise is so small that
# residuals outweigh it, and sums with it keep seven digits.
EXCLUDED = 1e9
NOWHERE = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Prior:
    """Uniform inside groups, or with few mismatches, or local.

    Attributes
    ----------
    rate : float or None
        Share of mismatched rows at the start; None for the uniform prior.
    estimates : bool
        Whether the rate follows the data from iteration to iteration.
    match_prob : array of shape (n,) or None
        Probability that each (arranged) row's own label is right; overrides the rate. 0 excludes
        the label, as 1 (a known row) excludes every other one.
    places : array of shape (n,) or None
        Number of each (arranged) row in the user's table, where reach counts.
    reach : int
        A label is at most so many rows away from its own.
    """

    rate: float | None = None
    estimates: bool = False
    match_prob: FloatArray | None = None
    places: IntArray | None = None
    reach: int = 0

    @property
    def mostly_right(self) -> bool:
        """Whether the order given is assumed to carry information."""
        return self.rate is not None or self.match_prob is not None

    def by_row(self, problem: Problem, rate: float) -> RowPrior:
        """Costs for the movable rows at a given rate of mismatches."""
        n = problem.n_movable
        places = NOWHERE if self.places is None else self.places[:n]
        if not self.mostly_right:
            return RowPrior(NOTHING, places, self.reach)
        costs = mismatch_costs(problem.starts, self.matched(n, rate))
        costs[self.excluded(n)] = -EXCLUDED
        return RowPrior(costs, places, self.reach)

    def excluded(self, n: int) -> IntArray:
        """Those of the first n rows whose own label is declared not to be theirs."""
        if self.match_prob is None:
            return NOWHERE
        return np.flatnonzero(self.match_prob[:n] == 0.0)

    def matched(self, n: int, rate: float) -> FloatArray:
        """Prior probability that each of the first n rows holds its own label."""
        if not self.estimates and self.rate is not None:
            rate = self.rate
        p = np.full(n, 1.0 - rate) if self.match_prob is None else self.match_prob[:n]
        return np.clip(p, SMALLEST_RATE, 1.0 - SMALLEST_RATE)

    def next_rate(self, current: float, mismatched_share: float) -> float:
        """The rate for the next iteration, given the share of mismatches the last one saw."""
        return mismatched_share if self.estimates else current


def mismatch_costs(starts: IntArray, match_prob: FloatArray) -> FloatArray:
    """The cost of a mismatch of each movable row, from the probabilities of a match."""
    sizes = np.diff(starts)
    mismatched = np.add.reduceat(1.0 - match_prob, starts[:-1]) if len(sizes) else NOTHING
    odds = match_prob / (1.0 - match_prob)
    return np.asarray(np.log(np.repeat(mismatched, sizes) * odds))
