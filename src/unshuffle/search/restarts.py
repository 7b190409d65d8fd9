"""Hard EM from many random shuffles: which start ends lowest?"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..alignment.hard import ranked_labels
from ..alignment.state import State
from ..em import start_from_labels
from ..engine.local import Workers
from ..kernels.hard_em import coordinates, descend, shuffled_starts
from ..kernels.match import shuffle_groups
from ..least_squares import LeastSquares
from ..problem import FloatArray, Problem

# Work between two chances to obey an interruption, in rows × columns visited.
WORK_PER_CALL = 20_000_000
SORT_COLUMNS = 20  # sorting a row costs about as much as so many columns


class Restarts(NamedTuple):
    """Matched sum of squares that each start ended with, shape (n_starts,), and the best start."""

    objectives: FloatArray
    best: State


def hard_em_restarts(
    problem: Problem,
    solver: LeastSquares,
    given: list[State],
    *,
    n_shuffles: int,
    max_iter: int,
    seed: int,
    workers: Workers,
    report: Callable[[int, float], None],
) -> Restarts:
    """Run hard EM from the `given` starts and from random shuffles inside the groups.

    Objectives come back in that order. Shuffle number k is drawn from its own stream, so the
    outcome does not depend on the threads. `report` gets the number of starts done and the
    lowest objective so far.
    """
    descent = _Descent(problem, solver, given, max_iter, seed)
    n_starts = len(given) + n_shuffles
    explained = np.empty(n_starts)
    together = descent.starts_per_call * workers.n_jobs
    for first in range(0, n_starts, together):
        last = min(first + together, n_starts)
        explained[first:last] = descent.run(first, last, workers)
        report(last, descent.total - float(explained[:last].max()))
    best = int(np.argmax(explained))
    return Restarts(descent.total - explained, descent.start(best))


class _Descent:
    """The data of all descents, in the orthonormal basis, and how they are cut into calls."""

    def __init__(
        self, problem: Problem, solver: LeastSquares, given: list[State], max_iter: int, seed: int
    ) -> None:
        self.problem = problem
        self.solver = solver
        self.given = given
        self.max_iter = max_iter
        self.seed = np.uint64(seed)
        self.basis = np.ascontiguousarray(problem.arrange(solver.basis()).T)
        self.y = problem.y - problem.y.mean() if solver.fit_intercept else problem.y
        self.ascending = self.y[ranked_labels(problem)]
        self.total = float(self.y @ self.y)
        step = problem.n_rows * (len(self.basis) + SORT_COLUMNS)
        self.steps_per_call = min(max(1, WORK_PER_CALL // step), max_iter)
        self.starts_per_call = max(1, WORK_PER_CALL // (step * self.steps_per_call))

    def run(self, first: int, last: int, workers: Workers) -> FloatArray:
        """Descend from starts first .. last - 1; return the explained sum of squares of each."""
        thetas = self._initial(first, last)
        explained = np.full(last - first, -1.0)
        settled = np.zeros(last - first, dtype=np.bool_)

        def advance(rows: slice) -> None:
            descend(
                self.basis,
                self.ascending,
                self.problem.starts,
                thetas[rows],
                explained[rows],
                settled[rows],
                n_iter,
                1e-12 * self.total,
            )

        size = self.starts_per_call
        tasks = [slice(k, k + size) for k in range(0, last - first, size)]
        for done in range(0, self.max_iter, self.steps_per_call):
            n_iter = min(self.steps_per_call, self.max_iter - done)
            workers.map(advance, tasks)
            if settled.all():
                break
        return explained

    def start(self, number: int) -> State:
        """Make start `number` again."""
        if number < len(self.given):
            return self.given[number]
        perm = np.empty(self.problem.n_rows, dtype=np.int64)
        shuffle_groups(perm, self.problem.starts, self.seed, number)
        return start_from_labels(self.problem, self.solver, self.problem.y[perm])

    def _initial(self, first: int, last: int) -> FloatArray:
        thetas = np.empty((last - first, len(self.basis)))
        n_given = max(0, min(len(self.given), last) - first)
        for k in range(n_given):
            coordinates(self.basis, self.given[first + k].fitted, thetas[k])
        shuffled_starts(
            self.basis, self.y, self.problem.starts, self.seed, first + n_given, thetas[n_given:]
        )
        return thetas
