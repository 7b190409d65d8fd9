"""Expectation maximisation over permutations: the only loop that joins aligning and solving.

1. **Align** (E-step): expected labels beside each row, given coefficients and noise.
2. **Solve** (M-step): least squares on the expected labels, and the noise
   ``s² = (‖ŷ - Xw‖² + spread) / (n - p)``, where the spread is what averaging the labels hides.

What kind of alignment it is (hard, sampled, published) and when the loop has settled are
handed in.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, TypeAlias

import numpy as np

from .alignment.state import Align, Alignment, State
from .least_squares import LeastSquares
from .problem import FloatArray, Problem

# A noise of zero would make every proposal a division by zero; this is far below rounding.
SMALLEST_RELATIVE_NOISE = 1e-10


class Step(NamedTuple):
    """One iteration, as recorded."""

    coef: FloatArray
    intercept: float
    noise_scale: float
    objective: float
    acceptance_rate: float


Settled: TypeAlias = Callable[[list[Step]], bool]
Report: TypeAlias = Callable[[Step], None]


@dataclass(frozen=True, eq=False)
class EMResult:
    """Where EM ended, and how it came there.

    Attributes
    ----------
    state : State
    alignment : Alignment
        The alignment that belongs to `state`.
    steps : list of Step
        One entry per iteration.
    converged : bool
    """

    state: State
    alignment: Alignment
    steps: list[Step]
    converged: bool


def run_em(
    problem: Problem,
    solver: LeastSquares,
    start: State,
    align: Align,
    *,
    max_iter: int,
    settled: Settled,
    report: Report,
) -> EMResult:
    """Alternate aligning and solving from `start` until `settled` or `max_iter`."""
    state, steps, converged = start, list[Step](), False
    for iteration in range(max_iter):
        alignment = align(state, iteration)
        state = solve(problem, solver, alignment)
        steps.append(
            Step(
                state.coef,
                state.intercept,
                state.noise_scale,
                state.objective,
                alignment.acceptance_rate,
            )
        )
        report(steps[-1])
        converged = settled(steps)
        if converged:
            break
    return EMResult(state, alignment, steps, converged)


def solve(problem: Problem, solver: LeastSquares, alignment: Alignment) -> State:
    """M-step: coefficients and noise from the expected labels."""
    solution = solver.solve(problem.restore(alignment.expected))
    objective = solution.residual_ss + alignment.spread
    return State(
        solution.coef,
        solution.intercept,
        problem.arrange(solution.fitted),
        noise_scale(problem, solver, objective),
        objective,
        alignment.labels,
        alignment.perm,
        alignment.match_proba,
        alignment.mismatch_rate,
    )


def noise_scale(problem: Problem, solver: LeastSquares, sum_of_squares: float) -> float:
    """Noise standard deviation with the degrees of freedom that the coefficients leave."""
    floor = SMALLEST_RELATIVE_NOISE * problem.label_spread
    return max(math.sqrt(sum_of_squares / (problem.n_rows - solver.n_parameters)), floor)


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
    return State(coef, intercept, fitted, scale, objective, problem.y, own)


def never(steps: list[Step]) -> bool:
    """Run all iterations."""
    return False


def no_more_gain(steps: list[Step]) -> bool:
    """Tell whether the objective stopped falling: the end of a deterministic descent."""
    if len(steps) < 2:
        return False
    before, now = steps[-2].objective, steps[-1].objective
    return before - now <= 1e-12 * abs(before)


class Drift:
    """Settled when averages over two successive windows of iterations agree.

    Single iterates of a sampled EM keep moving by the error of the chain; their averages do not.
    Distances are in standard errors of a fit with known order: ``s √p`` for the fitted values
    (their norm), ``s / √(2n)`` for the noise.
    """

    def __init__(self, problem: Problem, solver: LeastSquares, tol: float, window: int) -> None:
        self.solver = solver
        self.tol = tol
        self.window = window
        self._noise_error = (2 * problem.n_rows) ** -0.5

    def __call__(self, steps: list[Step]) -> bool:
        """Compare the last window with the one before."""
        w = self.window
        if len(steps) < 2 * w:
            return False
        last, before = steps[-w:], steps[-2 * w : -w]
        noise = float(np.mean([s.noise_scale for s in last]))
        noise_moved = abs(noise - float(np.mean([s.noise_scale for s in before])))
        coef_moved = np.mean([s.coef for s in last], axis=0)
        coef_moved -= np.mean([s.coef for s in before], axis=0)
        unit = self.tol * noise
        return bool(
            noise_moved <= unit * self._noise_error
            and self.solver.length(coef_moved) <= unit * self.solver.n_parameters**0.5
        )


def settle_on_average(
    problem: Problem, solver: LeastSquares, result: EMResult, align: Align, n_last: int
) -> EMResult:
    """Replace the last iterate by the average of the last `n_last`, and align once more there."""
    tail = result.steps[-n_last:]
    coef = np.mean([step.coef for step in tail], axis=0)
    intercept = float(np.mean([step.intercept for step in tail]))
    scale = float(np.mean([step.noise_scale for step in tail]))
    objective = float(np.mean([step.objective for step in tail]))
    state = result.state._replace(
        coef=coef,
        intercept=intercept,
        fitted=problem.arrange(solver.predict(coef, intercept)),
        noise_scale=scale,
        objective=objective,
    )
    alignment = align(state, len(result.steps))
    return EMResult(state, alignment, result.steps, result.converged)
