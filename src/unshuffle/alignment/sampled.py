"""Sampled alignment: expected labels from a Metropolis-Hastings chain over permutations."""

from itertools import pairwise

import numpy as np

from ..engine.local import Workers
from ..kernels.swap import HELD, MU, SUM, Schedule, advance_groups
from ..problem import FloatArray, IntArray, Problem
from .state import Alignment, State

# Proposals between two chances to obey an interruption: a few tenths of a second at worst.
PROPOSALS_PER_PIECE = 1 << 21

# Below this much work a second thread costs more than it brings.
PROPOSALS_PER_THREAD = 1 << 15


class Chain:
    """The swap chain on one problem: its work space, its streams, and how it is cut for threads.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule
    seed : int
        Streams are keyed by (seed, iteration, block), so that the outcome does not depend on
        the number of threads.
    workers : Workers
    """

    def __init__(self, problem: Problem, schedule: Schedule, seed: int, workers: Workers) -> None:
        self.problem = problem
        self.schedule = schedule
        self.seed = np.uint64(seed)
        self.workers = workers
        self._slots = np.empty((problem.n_movable, 4))
        self._tasks, self._n_pieces = _cut(problem.starts, schedule.n_steps, workers.n_jobs)

    def run(
        self,
        fitted: FloatArray,
        noise_scale: float,
        labels: FloatArray,
        perm: IntArray,
        iteration: int,
    ) -> tuple[FloatArray, float]:
        """Run one iteration's chain from `perm`, which ends in the last state.

        Returns the average labels, shape (n,), and the acceptance rate.
        """
        slots, n = self._slots, self.problem.n_movable
        slots[:, MU] = fitted[:n]
        slots[:, HELD] = labels[perm[:n]]
        slots[:, SUM:] = 0.0
        precision = noise_scale**-2.0
        accepted = 0
        for piece in range(self._n_pieces):

            def advance(task: tuple[int, int], piece: int = piece) -> int:
                return advance_groups(
                    slots, perm, self.problem.starts, *task, precision, self.seed, iteration,
                    self.schedule, piece, self._n_pieces,
                )  # fmt: skip

            accepted += sum(self.workers.map(advance, self._tasks))
        average = labels.copy()
        average[:n] = slots[:, SUM]
        return average, accepted / self.schedule.n_steps if n else float("nan")


class SampledAlignment:
    """Posterior mean of the labels; the chain goes on where the last iteration left it."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        self._centre = chain.problem.y.mean()
        self._total = _sum_of_squares(chain.problem.y, self._centre)

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Average the labels over one run of the chain at `state`."""
        perm = state.perm.copy()
        expected, rate = self.chain.run(
            state.fitted, state.noise_scale, state.labels, perm, iteration
        )
        # A permutation keeps the sum of squares, so the spread needs no second moment.
        spread = max(self._total - _sum_of_squares(expected, self._centre), 0.0)
        return Alignment(expected, spread, state.labels, perm, rate)


class PublishedAlignment:
    """The alignment as its authors ran it.

    Each iteration restarts at the identity and permutes the *averaged* labels of the iteration
    before, so that the labels shrink towards their mean; their spread is forgotten.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Average the carried labels over one run of the chain at `state`."""
        perm = np.arange(len(state.labels), dtype=np.int64)
        carried, rate = self.chain.run(
            state.fitted, state.noise_scale, state.labels, perm, iteration
        )
        return Alignment(carried, 0.0, carried, perm, rate)


def _sum_of_squares(values: FloatArray, centre: float) -> float:
    distance = values - centre
    return float(distance @ distance)


def _cut(starts: IntArray, n_steps: int, n_jobs: int) -> tuple[list[tuple[int, int]], int]:
    """Cut the blocks into tasks of like size, and long chains into pieces.

    The cut decides only who does what and when, never what comes out.
    """
    n_blocks = len(starts) - 1
    if n_blocks == 0:
        return [], 0
    n = int(starts[-1])
    longest = n_steps * int(np.diff(starts).max()) // n
    n_pieces = 1 + longest // PROPOSALS_PER_PIECE
    proposals = n_steps // n_pieces
    useful = min(4 * n_jobs, proposals // PROPOSALS_PER_THREAD) if n_jobs > 1 else 1
    n_tasks = min(max(1, useful, proposals // PROPOSALS_PER_PIECE), n_blocks)
    edges = np.unique(np.searchsorted(starts, np.arange(n_tasks + 1) * n / n_tasks))
    return [(int(a), int(b)) for a, b in pairwise(edges)], n_pieces
