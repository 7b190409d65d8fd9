"""Alignment of rows and labels in unequal numbers: which rows hold a label, and which one."""

import math
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..data.threads import Workers
from ..data.unequal import UnequalProblem
from ..kernels.partial_chain import PartialRows, PartialState, sweep_partial
from ..kernels.skip_match import match_with_skips
from ..kernels.tied_density import log_tied_densities
from ..kernels.types import FloatArray, IntArray
from .state import State

LARGEST_LOG_ODDS = 25.0  # of a row having its label: beyond, it surely has one
SMALLEST_STRANGERS = 1e-10  # expected labels of nobody, per row of a group


class Shares(NamedTuple):
    """The prior over partial matchings.

    Rows have their label among those given with probability `matched`, each by itself, and labels
    of nobody arrive like a Poisson process: `strangers` for each row of a group. Then the prior
    odds of a pair against its row and its label being alone are the same for all pairs of a group.

    Attributes
    ----------
    matched, strangers : float
    """

    matched: float
    strangers: float

    def log_odds(self, group_rows: IntArray) -> FloatArray:
        """Log prior odds of any pair in each group."""
        matched = min(max(self.matched, 0.0), 1.0)
        most = math.exp(-LARGEST_LOG_ODDS)
        of_row = math.log(max(matched, most)) - math.log(max(1.0 - matched, most))
        expected: FloatArray = np.maximum(self.strangers, SMALLEST_STRANGERS) * group_rows
        return np.asarray(of_row - np.log(expected))


def shares_of(problem: UnequalProblem, matched: float) -> Shares:
    """The prior in which a share of the rows has its label; the other labels are nobody's."""
    rows = max(problem.n_open_rows, 1)
    most = np.minimum(problem.group_rows, problem.group_labels).sum()
    # Labels beyond the rows of their group are strangers whatever the share.
    fewest = float(problem.n_open_labels - most) / rows
    return Shares(matched, max(problem.n_open_labels / rows - matched, fewest, SMALLEST_STRANGERS))


class PartialAlignment(NamedTuple):
    """What is expected of each arranged row and label, known pairs included.

    Attributes
    ----------
    holds : array of shape (n_rows,)
        Probability that the row holds a label.
    held : array of shape (n_rows,)
        Expected label, where a row without one counts as zero.
    squares : float
        Expected sum of the squares of the labels that are held.
    is_held : array of shape (n_labels,)
        Probability that somebody holds the label.
    label_of : array of shape (n_rows,)
        Where the chain ended.
    acceptance_rate : float
        Moves accepted in a sweep, per row.
    """

    holds: FloatArray
    held: FloatArray
    squares: float
    is_held: FloatArray
    label_of: IntArray
    acceptance_rate: float


def gains(problem: UnequalProblem, state: State) -> FloatArray:
    """Log weight of each open label being held, without the distance to its row."""
    return gains_and_densities(problem, state)[0]


def gains_and_densities(problem: UnequalProblem, state: State) -> tuple[FloatArray, FloatArray]:
    """The gains, and the log density of each open label if it is nobody's."""
    rows, labels = problem.n_open_rows, problem.n_open_labels
    mu, starts = state.fitted[:rows], problem.row_starts
    density = np.empty(labels)
    spread = spread_inside(mu, starts)
    log_tied_densities(
        mu, problem.y[:labels], starts, problem.label_starts, state.noise_scale, spread, density
    )
    odds = shares_of(problem, 1.0 - state.mismatch_rate).log_odds(problem.group_rows)
    height = math.log(state.noise_scale * math.sqrt(2.0 * math.pi))
    return np.asarray(np.repeat(odds, problem.group_labels) - height - density), density


def spread_inside(mu: FloatArray, starts: IntArray) -> float:
    """Standard deviation of fitted values around the means of their groups."""
    sizes = np.diff(starts)
    means = np.add.reduceat(mu, starts[:-1]) / sizes
    freedom = len(mu) - len(sizes)
    if freedom < 1:  # groups of one row each: what lies between them is all there is
        return float(mu.std())
    return float(np.sqrt(np.sum((mu - np.repeat(means, sizes)) ** 2) / freedom))


class PartialChain:
    """Runs the chain over partial matchings, on all threads.

    Parameters
    ----------
    problem : UnequalProblem
    seed : int
    workers : Workers
    n_sweeps, burn_in : int
        Sweeps of a run that are averaged, and those before.
    """

    def __init__(
        self, problem: UnequalProblem, seed: int, workers: Workers, n_sweeps: int, burn_in: int
    ) -> None:
        self.problem, self.seed, self.workers = problem, np.uint64(seed), workers
        self.n_sweeps, self.burn_in = n_sweeps, burn_in

    def __call__(
        self, state: State, iteration: int, gain: FloatArray | None = None
    ) -> PartialAlignment:
        """Average over one run of the chain at `state`, from where the last one ended.

        `gain`, where it is known, is ``gains(problem, state)``.
        """
        problem = self.problem
        rows, labels = problem.n_open_rows, problem.n_open_labels
        chain = PartialState(
            state.perm[:rows].copy(),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros(rows),
            np.zeros(labels),
        )
        over = PartialRows(
            state.fitted[:rows],
            problem.y[:labels],
            gains(problem, state) if gain is None else gain,
            problem.row_starts,
            problem.label_starts,
        )

        def advance(groups: tuple[int, int]) -> int:
            return sweep_partial(
                over, chain, groups[0], groups[1], state.noise_scale**-2.0, self.seed, iteration,
                self.burn_in, self.n_sweeps,
            )  # fmt: skip

        accepted = sum(self.workers.map(advance, self._tasks()))
        known = problem.y[labels:]
        ones = np.ones(problem.n_known)
        return PartialAlignment(
            np.concatenate([chain.holds, ones]),
            np.concatenate([chain.held, known]),
            float(chain.held_squares.sum() + known @ known),
            np.concatenate([chain.is_held, ones]),
            np.concatenate([chain.label_of, np.arange(labels, labels + problem.n_known)]),
            accepted / max(rows * (self.n_sweeps + self.burn_in), 1),
        )

    def _tasks(self) -> list[tuple[int, int]]:
        """Groups in portions of like size: some for each thread, short enough to interrupt."""
        problem = self.problem
        work = problem.n_open_rows * (self.n_sweeps + self.burn_in)
        n_tasks = max(4 * self.workers.n_jobs if work > 100_000 else 1, work // 2_000_000)
        edges = np.searchsorted(
            problem.row_starts, np.linspace(0, problem.n_open_rows, n_tasks + 1)
        )
        return [(int(a), int(b)) for a, b in pairwise(np.unique(edges)) if a < b]


def likely_matching(problem: UnequalProblem, state: State) -> IntArray:
    """A most likely partial matching: the arranged label of each arranged row, or -1."""
    gain = gains(problem, state)
    label_of = np.full(problem.n_rows, -1, dtype=np.int64)
    precision = state.noise_scale**-2.0
    for g in range(problem.n_groups):
        first, last = problem.row_starts[g : g + 2]
        begin, end = problem.label_starts[g : g + 2]
        order = first + np.argsort(state.fitted[first:last], kind="stable")
        places = np.empty(len(order), dtype=np.int64)
        match_with_skips(
            state.fitted[order], problem.y[begin:end], precision, np.zeros(len(order)),
            gain[begin:end], places,
        )  # fmt: skip
        label_of[order] = np.where(places >= 0, begin + places, -1)
    label_of[problem.n_open_rows :] = np.arange(problem.n_open_labels, problem.n_labels)
    return label_of
