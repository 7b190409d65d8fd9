"""Hard EM from many random shuffles: which start ends lowest?"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..em.memory import start_from_labels
from ..families.least_squares import LeastSquares
from ..kernels.hard_em import shuffled_starts
from ..kernels.match import shuffle_groups
from ..kernels.types import FloatArray
from .landscape import Landscape
from .settings import DEFAULT, SearchSettings


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
    settings: SearchSettings = DEFAULT,
) -> Restarts:
    """Run hard EM from the `given` starts and from random shuffles inside the groups.

    Objectives come back in that order. Shuffle number k is drawn from its own stream, so the
    outcome does not depend on the threads. `report` gets the number of starts done and the
    lowest objective so far.
    """
    landscape = Landscape(problem, solver, workers, settings)
    n_starts = len(given) + n_shuffles
    explained = np.empty(n_starts)
    together = landscape.steps_within_a_call(max_iter) * workers.n_jobs
    for first in range(0, n_starts, together):
        last = min(first + together, n_starts)
        thetas = np.empty((last - first, landscape.rank))
        n_given = max(0, min(len(given), last) - first)
        for k in range(n_given):
            thetas[k] = landscape.theta_of(given[first + k].fitted)
        draw_shuffles(landscape, seed, first + n_given, thetas[n_given:])
        explained[first:last] = landscape.descend(thetas, max_iter)
        report(last, landscape.total - float(explained[:last].max()))
    best = int(np.argmax(explained))
    state = given[best] if best < len(given) else _shuffled(problem, solver, seed, best)
    return Restarts(landscape.total - explained, state)


def draw_shuffles(landscape: Landscape, seed: int, first: int, thetas: FloatArray) -> None:
    """Write the fits to shuffles number first, first + 1, ... of the labels into `thetas`."""
    labels = landscape.labels
    shuffled_starts(labels.basis, landscape.y, labels.starts, np.uint64(seed), first, thetas)


def _shuffled(problem: Problem, solver: LeastSquares, seed: int, number: int) -> State:
    perm = np.empty(problem.n_rows, dtype=np.int64)
    shuffle_groups(perm, problem.starts, np.uint64(seed), number)
    return start_from_labels(problem, solver, problem.y[perm])
