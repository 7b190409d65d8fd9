"""A table in memory: E-steps of `alignment`, M-steps of least squares."""

import math
from typing import Any

import numpy as np

from ..alignment.carry import carry_over, draw_permutation
from ..alignment.hard import most_likely_permutation
from ..alignment.state import Align, Alignment, State
from ..data.problem import Problem
from ..data.threads import Workers
from ..families.family import Family
from ..families.least_squares import LeastSquares
from ..families.normal import NORMAL
from ..kernels.types import FloatArray
from .table import StartSquares, Table


class MemoryTable(Table[Alignment]):
    """A `Problem`, its factored X, and a way to align.

    Parameters
    ----------
    problem : Problem
    solver : LeastSquares
    align : callable, optional
        E-step; a chain among them continues from the permutation of the state.
    workers : Workers, optional
        Threads that carry permutations over.
    family : Family
        Whose M-step solves for the coefficients.
    """

    solver: LeastSquares

    def __init__(
        self,
        problem: Problem,
        solver: LeastSquares,
        align: Align | None = None,
        workers: Workers | None = None,
        family: Family = NORMAL,
    ) -> None:
        self.problem, self.solver, self.family = problem, solver, family
        self.n_rows, self.n_movable = problem.n_rows, problem.n_movable
        self.n_blocks, self.restarts = problem.n_blocks, False
        self._align, self._workers = align, workers or Workers(1)

    def align(self, state: State, stream: int) -> Alignment:
        """Expected labels at `state`."""
        if self._align is None:
            raise TypeError("this table was made without an alignment")
        return self._align(state, stream)

    def solve(self, expected: Alignment) -> State:
        """Coefficients and noise from the expected labels."""
        return solve(self.problem, self.solver, expected, self.family)

    def ordinary_start(self) -> State:
        """Least squares on the labels as given."""
        return start_from_labels(self.problem, self.solver, self.problem.y)

    def start_at(self, coef: FloatArray, intercept: float | None = None) -> State:
        """Given coefficients, with the noise around the labels as given."""
        problem = self.problem
        if intercept is None:
            centred = float(problem.y.mean() - problem.X.mean(axis=0) @ coef)
            intercept = centred if self.solver.fit_intercept else 0.0
        return start_from_coefficients(problem, self.solver, coef, intercept)

    def start_squares(self, start: State) -> StartSquares:
        """Sums of squares that the noise of a start is computed from."""
        problem = self.problem
        residual = problem.y[most_likely_permutation(problem, start.fitted)] - start.fitted
        return StartSquares(
            float(residual @ residual),
            problem.squares_inside(problem.y),
            problem.squares_inside(start.fitted),
        )

    def noise_scale(self, sum_of_squares: float) -> float:
        """Noise from a sum of squares."""
        return noise_scale(self.problem, self.solver, sum_of_squares)

    def sample_groups(self, n_rows: int) -> Problem:
        """Every k-th group."""
        return self.problem.thinned(max(2, math.ceil(self.n_movable / n_rows)))

    def place(self, state: State, seed: int) -> State:
        """Sort the labels like the fitted values plus noise."""
        perm = draw_permutation(self.problem, state.fitted, state.noise_scale, seed)
        return state._replace(perm=perm)

    def move(self, state: State, coef: FloatArray, intercept: float, **others: Any) -> State:
        """`state` at other parameters, with the fitted values that belong to them."""
        fitted = self.problem.arrange(self.solver.predict(coef, intercept))
        return super().move(state, coef, intercept, fitted=fitted, **others)

    def carry(self, before: State, after: State) -> State:
        """Let every row keep its residual, so that the chain starts near the posterior."""
        return carry_over(self.problem, before, after, self._workers)


def solve(
    problem: Problem, solver: LeastSquares, alignment: Alignment, family: Family = NORMAL
) -> State:
    """M-step: coefficients and noise from the expected labels."""
    expected = problem.restore(alignment.expected)
    found = family.solve(solver, expected, alignment.spread, problem.label_spread)
    return State(
        found.coef,
        found.intercept,
        found.noise_scale,
        found.objective,
        alignment.mismatch_rate,
        problem.arrange(found.fitted),
        alignment.labels,
        alignment.perm,
        alignment.match_proba,
    )


def noise_scale(problem: Problem, solver: LeastSquares, sum_of_squares: float) -> float:
    """Noise standard deviation with the degrees of freedom that the coefficients leave."""
    freedom = problem.n_rows - solver.n_parameters
    return NORMAL.noise_scale(sum_of_squares, freedom, problem.label_spread)


def start_from_labels(problem: Problem, solver: LeastSquares, labels: FloatArray) -> State:
    """Start from the least squares fit to `labels`, taken as if they stood beside their rows."""
    own = np.arange(problem.n_rows, dtype=np.int64)
    return solve(problem, solver, Alignment(labels, 0.0, problem.y, own, float("nan")))


def start_from_coefficients(
    problem: Problem, solver: LeastSquares, coef: FloatArray, intercept: float
) -> State:
    """Start from given coefficients, with the noise that the labels as given show around them."""
    fitted = problem.arrange(solver.predict(coef, intercept))
    residual = problem.y - fitted
    objective = float(residual @ residual)
    own = np.arange(problem.n_rows, dtype=np.int64)
    scale = noise_scale(problem, solver, objective)
    return State(coef, intercept, scale, objective, fitted=fitted, labels=problem.y, perm=own)
