"""Running a compiled chain: work space, streams, and how the work is cut for threads."""

from collections.abc import Callable
from functools import cached_property

import numpy as np

from ..data.problem import Problem
from ..data.threads import Workers
from ..kernels.local import Belief, Lists, advance_blocks
from ..kernels.swap import HELD, MU, SUM, Schedule, advance_groups
from ..kernels.types import FloatArray, IntArray
from .sweeps import Sweeps, cut_blocks

# Proposals between two chances to obey an interruption: a few tenths of a second at worst.
PROPOSALS_PER_PIECE = 1 << 21

# Below this much work a second thread costs more than it brings.
PROPOSALS_PER_THREAD = 1 << 15


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
    first_block : int
        Number of the first block among the blocks of all parts of the data.
    """

    def __init__(
        self,
        problem: Problem,
        schedule: Schedule,
        seed: int,
        workers: Workers,
        first_block: int = 0,
    ) -> None:
        self.problem = problem
        self.schedule = schedule
        self.seed = np.uint64(seed)
        self.workers = workers
        self.first_block = first_block

    def sweeps(self) -> Sweeps:
        """Sweeps with the same schedule, streams and threads."""
        return Sweeps(self.problem, self.schedule, int(self.seed), self.workers, self.first_block)

    @cached_property
    def _slots(self) -> FloatArray:
        return np.empty((self.problem.n_movable, 4))

    def run_random_pairs(
        self,
        fitted: FloatArray,
        noise_scale: float,
        labels: FloatArray,
        perm: IntArray,
        iteration: int,
    ) -> tuple[FloatArray, float]:
        """Propose uniformly random pairs, from `perm`, which ends in the last state.

        Returns the average labels, shape (n,), and the acceptance rate.
        """

        def advance(group: int, group_end: int, piece: int, n_pieces: int) -> int:
            return advance_groups(
                self._slots, perm, self.problem.starts, group, group_end, noise_scale**-2.0,
                self.seed, iteration, self.schedule, piece, n_pieces,
            )  # fmt: skip

        return self._run(advance, fitted, labels, perm)

    def run_local_pairs(
        self,
        fitted: FloatArray,
        noise_scale: float,
        labels: FloatArray,
        perm: IntArray,
        iteration: int,
        lists: Lists,
        belief: Belief,
    ) -> tuple[FloatArray, FloatArray, float]:
        """Propose pairs that are neighbours in `lists`, under the prior `belief`.

        Returns the average labels, the share of states in which each row held its own label
        (both of shape (n,)), and the acceptance rate.
        """
        home = np.zeros(self.problem.n_rows)
        home[self.problem.n_movable :] = 1.0
        row_of_label = np.empty(self.problem.n_rows if len(lists.suspects) else 0, dtype=np.int64)
        if len(lists.suspects):
            row_of_label[perm] = np.arange(self.problem.n_rows)

        def advance(block: int, block_end: int, piece: int, n_pieces: int) -> int:
            return advance_blocks(
                self._slots, perm, row_of_label, home, self.problem.starts, lists, belief, block,
                block_end, noise_scale**-2.0, self.seed, iteration, self.schedule, piece, n_pieces,
            )  # fmt: skip

        average, rate = self._run(advance, fitted, labels, perm)
        return average, home, rate

    def _tasks(self) -> tuple[list[tuple[int, int]], int]:
        """Ranges of blocks, and the number of pieces into which their chains are cut."""
        starts, n_steps = self.problem.starts, self.schedule.n_steps
        if len(starts) < 2:
            return [], 0
        longest = n_steps * int(np.diff(starts).max()) // int(starts[-1])
        n_pieces = 1 + longest // PROPOSALS_PER_PIECE
        together = np.empty(0, dtype=np.int64)
        return cut_blocks(
            starts, n_steps // n_pieces, PROPOSALS_PER_PIECE, PROPOSALS_PER_THREAD,
            self.workers.n_jobs, together,
        ), n_pieces  # fmt: skip

    def _run(
        self,
        advance: Callable[[int, int, int, int], int],
        fitted: FloatArray,
        labels: FloatArray,
        perm: IntArray,
    ) -> tuple[FloatArray, float]:
        slots, n = self._slots, self.problem.n_movable
        slots[:, MU] = fitted[:n]
        slots[:, HELD] = labels[perm[:n]]
        slots[:, SUM:] = 0.0
        accepted = 0
        tasks, n_pieces = self._tasks()
        for piece in range(n_pieces):

            def work(task: tuple[int, int], piece: int = piece) -> int:
                return advance(*task, piece, n_pieces)

            accepted += sum(self.workers.map(work, tasks))
        average = labels.copy()
        average[:n] = slots[:, SUM]
        return average, accepted / self.schedule.n_steps if n else float("nan")
