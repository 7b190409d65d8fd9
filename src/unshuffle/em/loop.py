"""Expectation maximisation over permutations: the only loop that joins aligning and solving.

1. **Align** (E-step): expected labels beside each row, given coefficients and noise.
2. **Solve** (M-step): least squares on the expected labels, and the noise
   ``s² = (‖ŷ - Xw‖² + spread) / (n - p)``, where the spread is what averaging the labels hides.

What kind of alignment it is (hard, sampled, published) and when the loop has settled are
handed in.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol, TypeAlias, TypeVar

import numpy as np

from ..alignment.state import Align, Alignment, State
from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray

# A noise of zero would make every proposal a division by zero; this is far below rounding.
SMALLEST_RELATIVE_NOISE = 1e-10


class Step(NamedTuple):
    """One iteration, as recorded."""

    coef: FloatArray
    intercept: float
    noise_scale: float
    objective: float
    acceptance_rate: float


class Solved(Protocol):
    """What every M-step ends in."""

    @property
    def coef(self) -> FloatArray:
        """Coefficients."""
        ...

    @property
    def intercept(self) -> float:
        """Intercept."""
        ...

    @property
    def noise_scale(self) -> float:
        """Standard deviation of the noise."""
        ...

    @property
    def objective(self) -> float:
        """Expected sum of squares."""
        ...


class Aligned(Protocol):
    """What every E-step tells."""

    @property
    def acceptance_rate(self) -> float:
        """Share of proposals accepted."""
        ...


AnyState = TypeVar("AnyState", bound=Solved)
AnyAlignment = TypeVar("AnyAlignment", bound=Aligned)

Settled: TypeAlias = Callable[[list[Step]], bool]
Report: TypeAlias = Callable[[Step], None]
Leap: TypeAlias = Callable[[list[Step], State, State], State]


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
    leap: Leap | None = None,
) -> EMResult:
    """Alternate aligning and solving from `start` until `settled` or `max_iter`.

    `leap` may move the state on, between two iterations; it is told the one before as well.
    """
    state, alignment, steps, converged = alternate(
        start,
        align,
        lambda alignment: solve(problem, solver, alignment),
        max_iter=max_iter,
        settled=settled,
        report=report,
        leap=leap,
    )
    return EMResult(state, alignment, steps, converged)


def alternate(
    start: AnyState,
    align: Callable[[AnyState, int], AnyAlignment],
    solve: Callable[[AnyAlignment], AnyState],
    *,
    max_iter: int,
    settled: Settled,
    report: Report,
    before: Sequence[Step] = (),
    leap: Callable[[list[Step], AnyState, AnyState], AnyState] | None = None,
) -> tuple[AnyState, AnyAlignment, list[Step], bool]:
    """Alternate two steps; a run that was interrupted goes on after the steps `before`.

    Returns the last state, the alignment it came from, all steps, and whether they settled.
    """
    state, steps, converged = start, list(before), False
    for iteration in range(len(steps), max_iter):
        alignment, before_it = align(state, iteration), state
        state = solve(alignment)
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
        if leap is not None and iteration + 1 < max_iter:
            state = leap(steps, before_it, state)
    return state, alignment, steps, converged


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


class Counted(Protocol):
    """Anything with rows."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...


class Metric(Protocol):
    """Measures distances between coefficients."""

    n_parameters: int

    def length(self, coef: FloatArray) -> float:
        """Norm of ``X coef`` (centred)."""
        ...


class Drift:
    """Settled when averages over two successive windows of iterations agree.

    Single iterates of a sampled EM keep moving by the error of the chain; their averages do not.
    Distances are in standard errors of a fit with known order: ``s √p`` for the fitted values
    (their norm), ``s / √(2n)`` for the noise. A chain too short for the tolerance settles when
    the averages differ by no more than its own scatter.
    """

    def __init__(self, data: Counted, solver: Metric, tol: float, window: int) -> None:
        self.solver = solver
        self.tol = tol
        self.window = window
        self._noise_error = (2 * data.n_rows) ** -0.5

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
        coef_unit, noise_unit = unit * self.solver.n_parameters**0.5, unit * self._noise_error
        noise_scatter = float(np.std([s.noise_scale for s in last], ddof=1))
        # The distance of two iterates is √2 times the distance of one from its mean.
        coef_scatter = float(
            np.mean([self.solver.length(s.coef - last[0].coef) for s in last[1:]]) / math.sqrt(2.0)
        )
        return bool(
            noise_moved <= self._limit(noise_unit, noise_scatter)
            and self.solver.length(coef_moved) <= self._limit(coef_unit, coef_scatter)
        )

    def _limit(self, unit: float, scatter: float) -> float:
        """The tolerance, or what the scatter of the iterates hides, up to five times as much.

        The means of two windows differ by √(2/w) times the scatter of single iterates. A trend
        as large as the scatter moves the means by several times that and is still seen.
        """
        return max(unit, min(2.0 * math.sqrt(2.0 / self.window) * scatter, 5.0 * unit))


def settle_on_average(
    problem: Problem,
    solver: LeastSquares,
    result: EMResult,
    align: Align,
    n_last: int,
    n_runs: int = 1,
) -> EMResult:
    """Replace the last iterate by the average of the last `n_last`, and align once more there.

    A sampled alignment can be averaged over `n_runs`, each going on where the one before stopped;
    with none the last alignment stays.
    """
    tail = result.steps[-n_last:]
    coef = np.mean([step.coef for step in tail], axis=0)
    intercept = float(np.mean([step.intercept for step in tail]))
    state = result.state._replace(
        coef=coef,
        intercept=intercept,
        fitted=problem.arrange(solver.predict(coef, intercept)),
        noise_scale=float(np.mean([step.noise_scale for step in tail])),
        objective=float(np.mean([step.objective for step in tail])),
    )
    alignment = align(state, len(result.steps)) if n_runs else result.alignment
    for run in range(1, n_runs):
        more = align(state._replace(perm=alignment.perm), len(result.steps) + run)
        alignment = _running_mean(alignment, more, run)
    return EMResult(state, alignment, result.steps, result.converged)


def _running_mean(mean: Alignment, more: Alignment, n_before: int) -> Alignment:
    """Add one more run to the mean of `n_before`; the chain goes on from its end."""
    share = 1.0 / (n_before + 1)
    matched = mean.match_proba
    if matched is not None and more.match_proba is not None:
        matched = matched + share * (more.match_proba - matched)
    return more._replace(
        expected=mean.expected + share * (more.expected - mean.expected),
        spread=mean.spread + share * (more.spread - mean.spread),
        match_proba=matched,
    )
