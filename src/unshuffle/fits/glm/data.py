"""The data of a fit of any family, arranged block by block."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...data.problem import Problem
from ...families.design import Design
from ...families.exponential import LabelFamily
from ...kernels.types import FloatArray


@dataclass(frozen=True, eq=False)
class GlmData:
    """Rows and labels; every vector, and the rows of the design, stand in the arranged order.

    Attributes
    ----------
    problem : Problem
        Its labels are the times where there are events.
    design : Design
    Z : array of shape (n, q)
        Rows of the design, arranged.
    offset, weights : arrays of shape (n,)
    match_prob : array of shape (n,) or None
        Probability that each row's own label is right.
    event : array of shape (n,) or None
        1 for an event, 0 for a censored time; None for labels without times.
    weighted : bool
        Whether weights were given.
    """

    problem: Problem
    design: Design
    Z: FloatArray
    offset: FloatArray
    weights: FloatArray
    match_prob: FloatArray | None = None
    event: FloatArray | None = None
    weighted: bool = False

    @property
    def y(self) -> FloatArray:
        """Labels."""
        return self.problem.y

    @property
    def n_movable(self) -> int:
        """Number of rows that can exchange their label."""
        return self.problem.n_movable

    def block_weights(self) -> FloatArray:
        """Summed weight of the block of each row that can move."""
        starts = self.problem.starts
        if self.n_movable == 0:
            return np.empty(0)
        sums = np.add.reduceat(self.weights[: self.n_movable], starts[:-1])
        value: FloatArray = np.repeat(sums, np.diff(starts))
        return value


def arrange_data(
    problem: Problem,
    *,
    fit_intercept: bool,
    offset: FloatArray | None = None,
    sample_weight: FloatArray | None = None,
    match_prob: FloatArray | None = None,
    event: FloatArray | None = None,
) -> GlmData:
    """Data of a fit; `offset`, `sample_weight` and `event` in the user's order."""
    n = problem.n_rows
    design = Design(problem.X, fit_intercept=fit_intercept, centred=event is not None)
    return GlmData(
        problem,
        design,
        design.Z if problem.order is None else design.Z[problem.order],
        problem.arrange(np.zeros(n) if offset is None else offset),
        problem.arrange(np.ones(n) if sample_weight is None else sample_weight),
        match_prob,
        None if event is None else problem.arrange(event),
        sample_weight is not None,
    )


def family_name(family: LabelFamily | None) -> str:
    """Name of a family; None is Cox's model."""
    return "cox" if family is None else family.name
