"""The end of Stochastic EM: averages, match probabilities, missing information."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..alignment.soft import SoftAlignment
from ..alignment.state import Alignment, State
from ..em.information import Covariance, covariance_less, louis_covariance, monte_carlo_error
from ..em.loop import EMResult, average_last
from ..em.memory import MemoryTable
from ..em.passes import ExpectedSums, PassesTable
from ..em.scores import (
    Snapshots,
    covariance_over_snapshots,
    score_snapshots,
    snapshots_needed,
    sweeps_between,
)
from ..em.table import Expected
from ..inference import sandwich
from ..inference.sampling_settings import SANDWICH
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from .data import InMemory
from .final_runs import Runs, average_runs
from .plan import Plan
from .settings import StochasticSettings
from .starts import Course


def n_averaged(result: EMResult[Expected], settings: StochasticSettings) -> int:
    """Iterations at the end that are averaged."""
    return min(2 * settings.em.iteration.window, (len(result.steps) + 1) // 2)


def finish_in_passes(
    table: PassesTable,
    result: EMResult[ExpectedSums],
    plan: Plan,
    settings: StochasticSettings,
) -> tuple[State, float, Covariance | None]:
    """Average, align once more there, and take snapshots: two passes.

    Returns the state, the share of mismatched rows among those that can move, and the covariance.
    """
    state = average_last(table, result, n_averaged(result, settings))
    stream, em = len(result.steps), settings.em
    share = table.align(state, stream).mismatched_share
    if not settings.maximises_likelihood:
        return state, share, None
    wanted = -(-em.restart.snapshots_of_all_blocks // max(table.n_blocks, 1))
    n_snapshots = min(max(wanted, em.restart.fewest_snapshots), em.restart.most_snapshots)
    between = sweeps_between(n_snapshots, plan.prior.mostly_right, em.information)
    missing = table.missing_information(state, stream + 1, n_snapshots, between)
    rate = share if plan.prior.estimates and table.n_movable else None
    covariance = covariance_less(table, table.solver, state.noise_scale, missing, rate)
    return state, share, covariance


class End(NamedTuple):
    """Where a fit in memory ended.

    Attributes
    ----------
    state : State
    alignment : Alignment
    covariance : Covariance or None
        None for fits that do not maximise the likelihood.
    expected : sandwich.Expected or None
        Expectations over permutations for a sandwich; None where they were not averaged.
    snapshots : Snapshots or None
        What the covariance was estimated from.
    """

    state: State
    alignment: Alignment
    covariance: Covariance | None = None
    expected: sandwich.Expected | None = None
    snapshots: Snapshots | None = None


@dataclass(frozen=True, eq=False)
class MemoryFinish:
    """The end of a fit in memory: one object for what all its steps share.

    `clues` are scores of a mismatch of each movable row, where there is a match model.
    """

    table: MemoryTable
    data: InMemory
    plan: Plan
    settings: StochasticSettings
    course: Course
    clues: FloatArray | None = None

    def run(self, result: EMResult[Alignment]) -> End:
        """Average the last iterations, continue the chain there, and estimate the covariance."""
        # Probabilities of a chain gain from every state that it passes through; others are exact.
        sampled = self.plan.prior.mostly_right and self.settings.alignment == "chain"
        most = self._final_runs() if sampled else 1
        if self.plan.by_newton:  # the last iteration was long, and where the average is
            most = 0
        state = average_last(self.table, result, n_averaged(result, self.settings))
        alignment, n_runs = self._align(state, result, most)
        if not self.settings.maximises_likelihood:
            return End(state, alignment)
        stream = len(result.steps) + n_runs
        start = state._replace(perm=alignment.perm)
        snapshots = self._recorded(start, result)
        if snapshots is None:
            averages = sampled or self._chooses_errors or self.clues is not None
            snapshots = self._walk(start, stream, alignment, averages=averages)
        end = state
        if sampled:
            snapshots = self._walk_on(start, stream, alignment, snapshots)
            alignment = self._merge(state, alignment, n_runs, snapshots)
            # One more step, on labels averaged for longer than those of any step before: it drops
            # most of the Monte Carlo error of the chain.
            end = self.table.solve(alignment)
        covariance = louis_covariance(
            self.table, self.table.solver, state.noise_scale, snapshots.scores,
            self._rate(alignment),
        )  # fmt: skip
        expected = self._expected(alignment, snapshots, sampled)
        return End(end, alignment, covariance, expected, snapshots)

    @property
    def _chooses_errors(self) -> bool:
        """Whether standard errors may be those of a sandwich."""
        few = self.data.problem.n_rows <= SANDWICH.most_rows
        return few and self.settings.covariance != "model"

    def _expected(
        self, alignment: Alignment, seen: Snapshots, merged: bool
    ) -> sandwich.Expected | None:
        """What a sandwich needs, from the walk; `merged` labels are averages over it already."""
        if not self._chooses_errors or seen.expected is None or seen.squares is None:
            return None
        share = 0.0 if merged else self._share_of_walk(1, seen)
        labels = alignment.expected + share * (seen.expected - alignment.expected)
        matched = alignment.match_proba if merged else seen.match_proba
        missing = covariance_over_snapshots(seen.scores)
        return sandwich.Expected(labels, seen.squares, 1.0 - np.asarray(matched), missing)

    def _align(self, state: State, result: EMResult[Alignment], most: int) -> Runs:
        """Average the alignment over runs that continue each other; with none the last stays."""
        if most == 0:
            return Runs(result.alignment, 0)
        later = self._walked() / self.plan.schedule.n_steps
        stream, numbers = len(result.steps), self.settings.em.final
        return average_runs(self.table, state, stream, most, later, numbers)

    def _n_snapshots(self) -> int:
        """Snapshots of one walk."""
        return snapshots_needed(self.data.problem, self.settings.em.information)

    def _steps_between(self) -> int:
        """Proposals from one snapshot to the next."""
        numbers = self.settings.em.information
        sweeps = sweeps_between(self._n_snapshots(), self.plan.prior.mostly_right, numbers)
        return max(sweeps * self.data.problem.n_movable // 2, 1)

    def _final_runs(self) -> int:
        """At most so many runs are averaged, with the walk after them, for probabilities."""
        numbers = self.settings.em.final
        missing = numbers.steps - self._walked()
        return min(max(1, missing // self.plan.schedule.n_steps), numbers.most_runs)

    def _walked(self) -> int:
        """Proposals of the walk that estimates the covariance."""
        walks = self.settings.maximises_likelihood
        return self._n_snapshots() * self._steps_between() if walks else 0

    def _recorded(self, state: State, result: EMResult[Alignment]) -> Snapshots | None:
        """Scores recorded during the iterations, the last included, where there are enough."""
        record = self.course.record
        if record is None:
            return None
        if result.converged:
            record(state)
        if len(record.scores) < self.settings.em.final.fewest_recorded:
            return None
        return record.snapshots(state.noise_scale)

    def _walk(
        self, state: State, stream: int, alignment: Alignment, *, averages: bool
    ) -> Snapshots:
        """Snapshots of the chain at the end of the fit."""
        problem = self.data.problem
        schedule = Schedule(self._steps_between(), 0, 1)
        chain = Chain(problem, schedule, self.settings.seed, self.data.workers)
        return score_snapshots(
            problem,
            self.table.solver,
            state,
            SampledAlignment(chain, self.plan.prior),
            self._n_snapshots(),
            stream,
            alignment.expected,
            averages=averages,
            settings=self.settings.em.information,
            clues=self.clues,
        )

    def _walk_on(
        self, state: State, stream: int, alignment: Alignment, seen: Snapshots
    ) -> Snapshots:
        """Continue the chain where the information kept may be little or none.

        It is a difference of two numbers, one of which has a Monte Carlo error. Little is kept of
        the information about a match model, so that its errors need all walks.
        """
        problem, rate, numbers = self.data.problem, self._rate(alignment), self.settings.em.final
        for _ in range(numbers.most_walks - 1):
            known = louis_covariance(
                problem, self.table.solver, state.noise_scale, seen.scores, rate
            )
            error = monte_carlo_error(problem, len(seen.scores), known.fraction_kept)
            if self.clues is None and not known.fraction_kept < numbers.doubtful * error:
                break
            stream += len(seen.scores)
            seen = seen.merged(self._walk(state, stream, alignment, averages=True))
        return seen

    def _merge(self, state: State, alignment: Alignment, n_runs: int, seen: Snapshots) -> Alignment:
        """Average the runs and the walk at one state by their lengths, in proposals."""
        if seen.expected is None or seen.match_proba is None or alignment.match_proba is None:
            return alignment
        share = self._share_of_walk(n_runs, seen)
        return SoftAlignment(self.data.problem, self.plan.prior).conclude(
            state,
            alignment.expected + share * (seen.expected - alignment.expected),
            alignment.match_proba + share * (seen.match_proba - alignment.match_proba),
            alignment.perm,
            alignment.acceptance_rate,
        )

    def _share_of_walk(self, n_runs: int, seen: Snapshots) -> float:
        """Share of the walk in the proposals of the runs and the walk."""
        made = n_runs * self.plan.schedule.n_steps
        length = len(seen.scores) * self._steps_between()
        return length / (made + length)

    def _rate(self, alignment: Alignment) -> float | None:
        """Rate of mismatches among the rows that can move, where it was estimated."""
        n = self.data.problem.n_movable
        if not self.plan.prior.estimates or n == 0:
            return None
        return float(1.0 - np.asarray(alignment.match_proba)[:n].mean())
