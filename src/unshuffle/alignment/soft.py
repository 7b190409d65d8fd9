"""What the alignments that average over permutations share."""

import numpy as np

from ..data.problem import Problem
from ..families.family import Family
from ..families.normal import NORMAL
from ..kernels.types import FloatArray, IntArray
from .priors import Prior
from .state import Alignment, State


class SoftAlignment:
    """Turns average labels and shares of own labels into an `Alignment`."""

    def __init__(self, problem: Problem, prior: Prior, family: Family = NORMAL) -> None:
        self.problem, self.prior, self.family = problem, prior, family
        self.statistic = family.statistic(problem.y)
        self._centre = float(problem.y.mean())
        self._total = self._sum_of_squares(problem.y)

    def conclude(
        self,
        state: State,
        expected: FloatArray,
        matched: FloatArray,
        perm: IntArray,
        acceptance_rate: float = float("nan"),
    ) -> Alignment:
        """The alignment, with the spread that averaging hides and the next rate of mismatches."""
        # A permutation keeps the sum of squares, so the spread needs no second moment.
        spread = max(self._total - self._sum_of_squares(expected), 0.0)
        n = self.problem.n_movable
        share = float(np.mean(1.0 - matched[:n])) if n else 0.0
        rate = self.prior.next_rate(state.mismatch_rate, share)
        return Alignment(expected, spread, self.problem.y, perm, acceptance_rate, matched, rate)

    def _sum_of_squares(self, values: FloatArray) -> float:
        distance = values - self._centre
        return float(distance @ distance)

    def _check_largest(self, name: str, limit: int, advice: str) -> None:
        largest = int(np.diff(self.problem.starts).max(initial=0))
        if largest > limit:
            raise ValueError(
                f"alignment={name!r} takes groups of up to {limit} rows, but the largest group has "
                f"{largest} rows that can move; {advice}"
            )
