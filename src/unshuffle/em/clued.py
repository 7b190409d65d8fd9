"""A table whose M-step also fits who is mismatched."""

from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..alignment.priors import Prior
from ..alignment.soft import SoftAlignment
from ..alignment.state import Align, Alignment, State
from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..families.match_logit import MatchLogit
from ..kernels.types import FloatArray
from .clue_information import faster_step
from .memory import MemoryTable


class CluedTable(MemoryTable):
    """A table in memory whose prior over permutations follows the match model.

    Parameters
    ----------
    problem : Problem
    solver : LeastSquares
    align : SoftAlignment
        The E-step, whose prior is replaced after every M-step.
    logit : MatchLogit
        In the arranged order.
    coef : array of shape (1 + q,)
        Standardised coefficients at the start.
    **others
        Of `MemoryTable`.
    """

    def __init__(
        self,
        problem: Problem,
        solver: LeastSquares,
        align: SoftAlignment,
        logit: MatchLogit,
        coef: FloatArray,
        **others: Any,
    ) -> None:
        super().__init__(problem, solver, cast(Align, align), **others)
        self.logit, self._soft = logit, align
        self.path: list[FloatArray] = []
        self.coef = coef
        self.hold(coef)

    @property
    def prior(self) -> Prior:
        """The prior over permutations at the present coefficients."""
        return self._soft.prior

    def hold(self, coef: FloatArray) -> None:
        """Set the coefficients of the match model, and the prior that belongs to them."""
        self.coef = coef
        self._soft.prior = replace(
            self._soft.prior, match_prob=self.logit.probabilities(coef), estimates=False
        )

    def solve(self, expected: Alignment) -> State:
        """Coefficients and noise from the expected labels, the match model from the matches."""
        matched = np.asarray(expected.match_proba)
        step = self.logit.step(matched, self.coef)
        if not self.logit.at_bound(step):
            farther = faster_step(self.problem, self.logit, self.coef, step, matched)
            step = step if self.logit.at_bound(farther) else farther
        self.hold(step)
        self.path.append(self.coef)
        return super().solve(expected)

    def average_last(self, n_last: int) -> None:
        """Hold the average of the last iterations, at the bound on the rate if they are."""
        mean = np.mean(self.path[-n_last:], axis=0)
        if self.logit.largest_rate is not None and self.logit.at_bound(self.path[-1]):
            mean = self.logit.at_rate(mean, self.logit.largest_rate)
        self.hold(mean)
