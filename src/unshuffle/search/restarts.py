"""Hard EM from many random shuffles: which start ends lowest?"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..alignment.hard import ranked_labels
from ..alignment.state import State
from ..em import start_from_labels
from ..engine.local import Workers
from ..kernels.hard_em import coordinates, hard_em, hard_em_from_shuffles
from ..kernels.match import shuffle_groups
from ..least_squares import LeastSquares
from ..problem import FloatArray, Problem

# Work between two reports (and two chances to obey an interruption), in rows × columns visited.
WORK_PER_BATCH = 20_000_000


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
    basis = solver.basis()
    y = problem.y - problem.y.mean() if solver.fit_intercept else problem.y
    ascending = y[ranked_labels(problem)]
    total = float(y @ y)
    stop = 1e-12 * total
    explained = np.empty(len(given) + n_shuffles)
    for k, state in enumerate(given):
        theta, held, mu = np.empty(len(basis)), np.empty_like(y), np.empty_like(y)
        coordinates(basis, state.fitted, theta)
        explained[k] = hard_em(basis, ascending, problem.starts, theta, held, mu, max_iter, stop)
    seed_bits = np.uint64(seed)

    def run(batch: tuple[int, int]) -> None:
        first, last = batch
        hard_em_from_shuffles(
            basis, y, ascending, problem.starts, seed_bits, first, last, max_iter, stop,
            explained[len(given) + first : len(given) + last],
        )  # fmt: skip

    per_start = max_iter * problem.n_rows * (len(basis) + 10)
    size = max(1, WORK_PER_BATCH // per_start)
    batches = [(k, min(k + size, n_shuffles)) for k in range(0, n_shuffles, size)]
    for k in range(0, len(batches), workers.n_jobs):
        together = batches[k : k + workers.n_jobs]
        workers.map(run, together)
        done = len(given) + together[-1][1]
        report(done, total - float(explained[:done].max()))
    best = int(np.argmax(explained))
    return Restarts(
        total - explained,
        given[best]
        if best < len(given)
        else _shuffled_start(problem, solver, seed_bits, best - len(given)),
    )


def _shuffled_start(problem: Problem, solver: LeastSquares, seed: np.uint64, number: int) -> State:
    perm = np.empty(problem.n_rows, dtype=np.int64)
    shuffle_groups(perm, problem.starts, seed, number)
    return start_from_labels(problem, solver, problem.y[perm])
