"""Running systematic sweeps: the order carried over, and how the work is cut for threads."""

from functools import cached_property
from itertools import pairwise

import numpy as np

from ..data.problem import Problem
from ..data.threads import Workers
from ..families.family import Interaction
from ..kernels import sweep_blocks as blocks
from ..kernels.rng import stream_key
from ..kernels.strides import stride_scales, sweep_key
from ..kernels.swap import Schedule
from ..kernels.sweep import PAIRS, Slots, kind_of, sweep_once
from ..kernels.sweep_blocks import Answers, Plan, Streams, SweepSpace, SweptRows
from ..kernels.types import BoolArray, FloatArray, IntArray
from .settings import WORK, WorkSettings


class Sweeps:
    """Systematic sweeps on one problem.

    Parameters
    ----------
    problem : Problem
    schedule : Schedule
        Proposals of an iteration; a sweep over pairs makes half as many as there are rows.
    seed : int
        Streams are keyed by (seed, iteration, number of the block, sweep, slot), so that the
        outcome does not depend on threads.
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
        self.problem, self.work = problem, work
        self.plan = sweep_plan(schedule, problem.n_movable)
        self.seed = np.uint64(seed)
        self.workers = workers
        self._order = np.empty(problem.n_movable, dtype=np.int32)
        self._sorted = False
        self._blocks = np.arange(len(problem.starts) - 1)

    @cached_property
    def _tasks(self) -> tuple[list[tuple[int, int]], list[int]]:
        return cut_visits(self.problem.starts, self.plan, self.workers.n_jobs, self.work)

    def run(
        self,
        interaction: Interaction,
        labels: FloatArray,
        perm: IntArray,
        iteration: int,
        costs: FloatArray,
        suspected: BoolArray,
    ) -> tuple[FloatArray, FloatArray, float]:
        """Sweep from `perm`, which ends in the last state.

        Returns the average labels, the probability that each row holds its own label (both
        of shape (n,)), and the share of accepted proposals.
        """
        n = self.problem.n_movable
        expected, matched = np.empty(len(labels)), np.empty(len(labels))
        expected[n:], matched[n:] = labels[n:], 1.0
        if n == 0:
            return expected, matched, float("nan")
        rows = SweptRows(interaction.values, labels, costs, suspected)
        answers, precision = Answers(perm, expected, matched), interaction.weight
        small, large = self._tasks

        sweep = blocks.sweep_blocks if len(costs) else blocks.sweep_uniform_blocks
        streams = Streams(self.seed, iteration, self._blocks)

        def work(task: tuple[int, int]) -> tuple[int, int]:
            self._sort(rows.fitted, task)
            return sweep(
                rows, answers, self._order, self.problem.starts, *task, precision, streams,
                self.plan, self._space(task, len(costs) > 0),
            )  # fmt: skip

        tally = self.workers.map(work, small)
        tally += [self._run_large(rows, answers, g, precision, iteration) for g in large]
        self._sorted = True
        accepted, proposed = (sum(column) for column in zip(*tally, strict=True))
        return expected, matched, accepted / max(proposed, 1)

    def _sort(self, fitted: FloatArray, task: tuple[int, int]) -> None:
        blocks.sort_blocks(fitted, self.problem.starts, *task, self._order, self._sorted)

    def _space(self, task: tuple[int, int], priced: bool) -> SweepSpace:
        first, last = task
        largest = int(np.diff(self.problem.starts[first : last + 1]).max())
        return blocks.new_sweep_space(largest, priced)

    def _run_large(
        self, rows: SweptRows, answers: Answers, block: int, precision: float, iteration: int
    ) -> tuple[int, int]:
        """What `sweep_blocks` does, one sweep at a time, with threads inside sweeps over pairs."""
        first, last = (int(edge) for edge in self.problem.starts[block : block + 2])
        priced = len(rows.costs) > 0
        key = np.uint64(stream_key(self.seed, iteration, block))
        self._sort(rows.fitted, (block, block + 1))
        answers.expected[first:last] = answers.matched[first:last] = 0.0
        place, tally = np.empty(last - first, dtype=np.int64), np.zeros(2, dtype=np.int64)
        few = blocks.few_suspects(rows, first, last)
        for phase in range(2 if few else 1):
            members = blocks.pick_members(self._order, first, last, rows, few and phase == 0)
            slots = blocks.new_slots(len(members), priced)
            blocks.gather(members, first, rows, answers.perm, place, slots)
            number, n_warm, n_kept = blocks.phase_sweeps(self.plan, phase)
            tally += self._run_list(slots, precision, key, number, n_warm, n_kept)
            if few and phase == 0:
                blocks.count_unmoved(first, last, rows, answers, n_kept)
            blocks.scatter(members, first, slots, answers)
        blocks.close_block(first, last, answers, self.plan, few)
        return int(tally[0]), int(tally[1])

    def _run_list(
        self, slots: Slots, precision: float, key: np.uint64, number: int, n_warm: int, n_kept: int
    ) -> IntArray:
        size, priced = len(slots.mu), len(slots.cost) > 0
        if size < 2:
            return np.array(blocks.run_list(slots, precision, key, number, n_warm, n_kept))
        low, high = stride_scales(slots.mu, precision)
        n_parts = min(self.workers.n_jobs, 1 + size // self.work.visits_per_thread)
        parts = list(pairwise(k * size // n_parts for k in range(n_parts + 1)))
        tally = np.zeros(2, dtype=np.int64)
        for k in range(n_warm + n_kept):
            kind = kind_of(number + k, priced)
            this = np.uint64(sweep_key(key, number + k))

            def work(
                part: tuple[int, int], this: np.uint64 = this, kind: int = kind, k: int = k
            ) -> tuple[int, int]:
                return sweep_once(slots, precision, this, kind, low, high, *part, k >= n_warm)

            for counts in self.workers.map(work, parts if kind == PAIRS else [(0, size)]):
                tally += counts
        return tally


def sweep_plan(schedule: Schedule, n: int) -> Plan:
    """Sweeps that make about as many proposals; at least one is kept."""
    n_sweeps = max(1, round(2 * schedule.n_steps / max(n, 1)))
    n_warm = min(round(2 * schedule.burn_in / max(n, 1)), n_sweeps - 1)
    return Plan(n_warm, n_sweeps - n_warm)


def cut_visits(
    starts: IntArray, plan: Plan, n_jobs: int, work: WorkSettings = WORK
) -> tuple[list[tuple[int, int]], list[int]]:
    """Cut the blocks into tasks of like size; blocks too large for one call come by themselves.

    The cut decides only who does what and when, never what comes out.
    """
    n_sweeps = plan.n_warm + plan.n_kept
    sizes = np.diff(starts)
    large = np.flatnonzero(sizes * n_sweeps > work.visits_per_piece)
    visits = int(starts[-1]) * n_sweeps
    n_tasks = task_count(visits, n_jobs, work.visits_per_piece, work.visits_per_thread, len(sizes))
    edges = np.unique(np.concatenate([even_edges(starts, n_tasks), large, large + 1]))
    alone = set(large.tolist())
    tasks = [(int(a), int(b)) for a, b in pairwise(edges) if int(a) not in alone]
    return tasks, [int(g) for g in large]


def task_count(total: int, n_jobs: int, per_piece: int, per_thread: int, n_blocks: int) -> int:
    """Tasks to cut `total` work into: enough for the threads, none too long, none too short."""
    useful = min(4 * n_jobs, total // per_thread) if n_jobs > 1 else 1
    return min(max(1, useful, total // per_piece), n_blocks)


def even_edges(starts: IntArray, n_tasks: int) -> IntArray:
    """Edges between blocks that cut the rows into parts of like size."""
    goals = np.arange(n_tasks + 1) * int(starts[-1]) / n_tasks
    edges: IntArray = np.unique(np.searchsorted(starts, goals))
    return edges
