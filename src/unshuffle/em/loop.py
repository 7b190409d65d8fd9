"""The only loop that joins the two halves of EM.

1. **Align** (E-step): expected labels beside each row, given coefficients and noise.
2. **Solve** (M-step): least squares on the expected labels, and the noise
   ``s² = (‖ŷ - Xw‖² + spread) / (n - p)``, where the spread is the variance of the labels around ŷ.

The table does both; when to stop and how to go faster are arguments.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeAlias

import numpy as np

from ..alignment.state import State
from ..kernels.types import FloatArray
from .table import Expected, IteratedTable


class Step(NamedTuple):
    """One iteration, as recorded."""

    coef: FloatArray
    intercept: float
    noise_scale: float
    objective: float
    acceptance_rate: float


Stop: TypeAlias = Callable[[list[Step]], bool]
Report: TypeAlias = Callable[[Step], None]
Accelerate: TypeAlias = Callable[[list[Step], State, State], State]
Guard: TypeAlias = Callable[[State, list[Step]], AbstractContextManager[None]]


def ignore(step: Step) -> None:
    """Report nothing."""


def unguarded(state: State, steps: list[Step]) -> AbstractContextManager[None]:
    """Write nothing."""
    return nullcontext()


@dataclass(frozen=True, eq=False)
class EMResult(Generic[Expected]):
    """Where EM ended, and how it got there.

    Attributes
    ----------
    state : State
    alignment : result of the last E-step
    steps : list of Step
        One entry per iteration.
    converged : bool
    """

    state: State
    alignment: Expected
    steps: list[Step]
    converged: bool


def run_em(
    table: IteratedTable[Expected],
    start: State,
    *,
    max_iter: int,
    stop: Stop,
    report: Report = ignore,
    accelerate: Accelerate | None = None,
    before: Sequence[Step] = (),
    guard: Guard = unguarded,
) -> EMResult[Expected]:
    """Alternate E-step and M-step from `start` until `stop` or `max_iter`.

    Parameters
    ----------
    accelerate : callable, optional
        Returns the state of the next iteration from all steps and the last two states.
    before : sequence of Step
        Iterations of an interrupted run, which continues after them.
    guard : callable
        Context in which an iteration runs; it writes checkpoints.
    """
    state, steps, converged = start, list(before), False
    for iteration in range(len(steps), max_iter):
        with guard(state, steps):
            alignment = table.align(state, iteration)
        last, state = state, table.solve(alignment)
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
        converged = stop(steps)
        if converged:
            break
        if accelerate is not None and iteration + 1 < max_iter:
            state = accelerate(steps, last, state)
    return EMResult(state, alignment, steps, converged)


def average_last(table: IteratedTable[Expected], result: EMResult[Expected], n_last: int) -> State:
    """The average of the last iterations, whose Monte Carlo error is smaller than that of one."""
    tail = result.steps[-n_last:]
    return table.move(
        result.state,
        np.mean([step.coef for step in tail], axis=0),
        float(np.mean([step.intercept for step in tail])),
        noise_scale=float(np.mean([step.noise_scale for step in tail])),
        objective=float(np.mean([step.objective for step in tail])),
    )
