"""Running a compiled chain: work space, streams, and how the work is cut for threads."""

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise

import numpy as np

from ..data.problem import Problem
from ..data.threads import Workers
from ..families.family import Interaction
from ..kernels.local import Lists, RowPrior, State, advance_blocks
from ..kernels.swap import HELD, MU, SUM, Schedule, Stream, Task, advance_groups
from ..kernels.types import FloatArray, IntArray
from .settings import WORK, WorkSettings
from .sweeps import Sweeps, even_edges, task_count


class Chain:
    """A swap chain on one problem.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule
    seed : int
        Streams are keyed by (seed, iteration, block), so that the outcome does not depend on
        the number of threads.
    workers : Workers
    """

    def __init__(
        self,
        problem: Problem,
        schedule: Schedule,
        seed: int,
        workers: Workers,
        work: WorkSettings = WORK,
    ) -> None:
        self.problem, self.schedule, self.work = problem, schedule, work
        self.seed = np.uint64(seed)
        self.workers = workers

    def sweeps(self) -> Sweeps:
        """Sweeps with the same schedule, streams and threads."""
        return Sweeps(self.problem, self.schedule, int(self.seed), self.workers, self.work)

    @cached_property
    def _slots(self) -> FloatArray:
        return np.empty((self.problem.n_movable, 4))

    def run_random_pairs(
        self, rows: Interaction, labels: FloatArray, perm: IntArray, iteration: int
    ) -> tuple[FloatArray, float]:
        """Propose uniformly random pairs, from `perm`, which ends in the last state.

        Returns the average labels, shape (n,), and the acceptance rate.
        """

        def advance(task: Task) -> int:
            stream = Stream(self.seed, iteration)
            return advance_groups(
                self._slots, perm, self.problem.starts, rows.weight, stream, self.schedule, task
            )

        return self._run(advance, rows.values, labels, perm)

    def run_local_pairs(
        self,
        rows: Interaction,
        labels: FloatArray,
        perm: IntArray,
        iteration: int,
        lists: Lists,
        by_row: RowPrior,
    ) -> tuple[FloatArray, FloatArray, float]:
        """Propose pairs that are neighbours in `lists`, under the prior `by_row`.

        Returns the average labels, the share of states in which each row held its own label
        (both of shape (n,)), and the acceptance rate.
        """
        matched = np.zeros(self.problem.n_rows)
        matched[self.problem.n_movable :] = 1.0
        row_of_label = np.empty(self.problem.n_rows if len(lists.suspects) else 0, dtype=np.int64)
        if len(lists.suspects):
            row_of_label[perm] = np.arange(self.problem.n_rows)

        state, stream = (
            State(self._slots, perm, row_of_label, matched),
            Stream(self.seed, iteration),
        )

        def advance(task: Task) -> int:
            return advance_blocks(
                state, self.problem.starts, lists, by_row, rows.weight, stream, self.schedule, task
            )

        average, rate = self._run(advance, rows.values, labels, perm)
        return average, matched, rate

    def _run(
        self,
        advance: Callable[[Task], int],
        values: FloatArray,
        labels: FloatArray,
        perm: IntArray,
    ) -> tuple[FloatArray, float]:
        slots, n = self._slots, self.problem.n_movable
        slots[:, MU] = values[:n]
        slots[:, HELD] = labels[perm[:n]]
        slots[:, SUM:] = 0.0
        tasks, n_pieces = cut_proposals(
            self.problem.starts, self.schedule.n_steps, self.workers.n_jobs, self.work
        )
        accepted = 0
        for piece in range(n_pieces):

            def work(task: tuple[int, int], piece: int = piece) -> int:
                return advance(Task(*task, piece, n_pieces))

            accepted += sum(self.workers.map(work, tasks))
        average = labels.copy()
        average[:n] = slots[:, SUM]
        return average, accepted / self.schedule.n_steps if n else float("nan")


def cut_proposals(
    starts: IntArray, n_steps: int, n_jobs: int, work: WorkSettings = WORK
) -> tuple[list[tuple[int, int]], int]:
    """Cut the blocks into tasks of like size, and long chains into pieces.

    The cut decides only who does what and when, never what comes out.
    """
    n_blocks = len(starts) - 1
    if n_blocks == 0:
        return [], 0
    n = int(starts[-1])
    longest = n_steps * int(np.diff(starts).max()) // n
    n_pieces = 1 + longest // work.proposals_per_piece
    proposals = n_steps // n_pieces
    n_tasks = task_count(
        proposals, n_jobs, work.proposals_per_piece, work.proposals_per_thread, n_blocks
    )
    return list(pairwise(even_edges(starts, n_tasks).tolist())), n_pieces
