"""The fit to rows and labels in unequal numbers: search, EM over partial matchings, verdict."""

from dataclasses import replace

import numpy as np

from ..alignment.partial import PartialAlignment, PartialChain
from ..alignment.state import State
from ..data.threads import Workers
from ..data.unequal import UnequalProblem
from ..em.loop import EMResult, Step, average_last
from ..em.partial import PartialTable
from ..em.partial_information import (
    PartialSnapshots,
    partial_covariance,
    walk,
)
from ..families.least_squares import LeastSquares
from ..kernels.streams import FIRST_PARTNERS
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..search.partial import (
    PartialFinding,
    automatic_budget,
    explore_partial,
    group_mean_start,
)
from ..search.partial_landscape import PartialLandscape
from ..search.partial_recovery import partial_refit_distances
from .auto_results import AutoFit
from .progress import Progress, Reporting, quiet
from .unequal_assembly import Assembly
from .unequal_em import UnequalSettings, chain_of_iteration, iterate, sweeps_of_iteration
from .unequal_start import initial_state
from .unequal_verdict import unequal_verdict

NAN = float("nan")


def fit_unequal(
    problem: UnequalProblem,
    workers: Workers,
    settings: UnequalSettings,
    *,
    reporting: Reporting = quiet,
) -> AutoFit:
    """Fit rows and labels in unequal numbers.

    Parameters
    ----------
    problem : UnequalProblem
    workers : Workers
    settings : UnequalSettings
    reporting : callable
        Opens reports of the search and of the iterations.

    Returns
    -------
    fit : AutoFit
        With `unmatched`.
    """
    return _UnequalRoute(problem, workers, settings, reporting).fit()


class _UnequalRoute:
    """One table on its way from a search to a verdict."""

    def __init__(
        self,
        problem: UnequalProblem,
        workers: Workers,
        settings: UnequalSettings,
        reporting: Reporting,
    ) -> None:
        self.workers, self.settings, self.reporting = workers, settings, reporting
        # Sums of squares lose nothing where labels lie around zero.
        self.centre = float(problem.y.mean()) if settings.fit_intercept else 0.0
        self.problem = problem.with_labels(problem.y - self.centre)
        self.solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept)
        self.n_sweeps = sweeps_of_iteration(problem, settings)
        step = problem.n_open_rows // settings.searching.partial.many_rows
        self.thinning = step if step >= 2 and problem.n_groups >= 2 * step else 1
        self.table = PartialTable(
            self.problem,
            self.solver,
            settings.match_share,
            chain_of_iteration(self.problem, workers, settings),
        )

    def fit(self) -> AutoFit:
        """Search, iterate, and put everything together."""
        landscape = PartialLandscape(
            self.problem, self.solver, self.workers, self.settings.searching
        )
        finding = self._search(landscape)
        start, first = self._start(landscape, finding)
        result = self._iterate(first)
        state = average_last(self.table, result, 2 * self.settings.em.iteration.window)
        n_pairs = float(result.alignment.holds.sum())
        if n_pairs <= self.solver.n_parameters:
            raise ValueError(
                f"only {n_pairs:.2g} rows are expected to have a label among those given, and "
                f"there are {self.solver.n_parameters} coefficients; give match_share a lower "
                "bound, more rows and labels that share a group, or fewer features"
            )
        found = self._walk(state)
        covariance = partial_covariance(
            self.table, state, found, estimated=self.settings.estimates_share
        )
        parts = Assembly(self.table, state, found, covariance, self.centre)
        fit = parts.stochastic(
            result,
            Schedule(self.n_sweeps * self.problem.n_open_rows, 0, 1),
            self.settings.em.iteration.tolerance,
        )
        unmatched = parts.unmatched(estimated=self.settings.estimates_share)
        search = None if finding is None else parts.search(landscape, finding)
        distances = np.empty(0)
        if start == "match":
            distances = self._refit(landscape, state, found)
        verdict = unequal_verdict(fit, unmatched, start, search, self.problem.n_groups, distances)
        return AutoFit(
            fit=fit,
            pairing="lost",
            order_p_value=NAN,
            start=start,
            search=search,
            refit_distances=distances,
            temper_shift=NAN,
            shrinkage_share=NAN,
            objective=state.objective,
            mismatch=None,
            verdict=verdict,
            unmatched=unmatched,
        )

    def _search(self, landscape: PartialLandscape) -> PartialFinding | None:
        settings = self.settings
        if settings.search == "none" or self.solver.rank == 0:
            return None
        if self.thinning > 1:
            landscape = self._thinned()
        budget = settings.n_candidates or automatic_budget(landscape)
        with self.reporting(budget, "candidates") as report:
            finding = explore_partial(
                landscape,
                n_candidates=budget,
                seed=settings.seed,
                compare=settings.search == "auto",
                bounds=settings.match_share,
                report=lambda tried, lowest: report(Progress(tried, budget, lowest)),
            )
            report(Progress(budget, budget))
        if landscape.problem is self.problem:
            return finding
        return self._on_all_rows(landscape, finding)

    def _thinned(self) -> PartialLandscape:
        """The groups in which a large table is searched."""
        settings, sample = self.settings, self.problem.thinned(self.thinning)
        solver = LeastSquares(sample.X, fit_intercept=settings.fit_intercept)
        return PartialLandscape(sample, solver, self.workers, settings.searching)

    def _refit(
        self, landscape: PartialLandscape, state: State, found: PartialSnapshots
    ) -> FloatArray:
        """How far matches of labels simulated from the fit end from it."""
        problem, step = self.problem, self.thinning
        held = found.label_of[:, : problem.n_open_rows] >= 0
        pairs = np.add.reduceat(held.astype(np.int64), problem.row_starts[:-1], axis=1)
        fitted = state.fitted
        if step > 1:
            landscape, pairs = self._thinned(), pairs[:, ::step]
            fitted = landscape.problem.X @ state.coef + state.intercept
        return partial_refit_distances(
            landscape, fitted, state.noise_scale, pairs, self.settings.seed
        )

    def _on_all_rows(self, sampled: PartialLandscape, finding: PartialFinding) -> PartialFinding:
        """The optima of a sample in the coordinates of all rows."""

        def move(theta: FloatArray) -> FloatArray:
            found = sampled.solver.solve(sampled.Z @ theta)
            fitted = self.solver.predict(found.coef, found.intercept)
            return np.asarray(np.linalg.lstsq(self.table.Z, fitted, rcond=None)[0])

        search, followed = finding.search, finding.followed
        grown = self.problem.most_pairs / max(sampled.problem.most_pairs, 1)
        thetas = np.array([move(theta) for theta in search.thetas])
        return finding._replace(
            search=replace(search, thetas=thetas, objectives=search.objectives * grown),
            followed=None if followed is None else followed._replace(theta=move(followed.theta)),
        )

    def _start(
        self, landscape: PartialLandscape, finding: PartialFinding | None
    ) -> tuple[str, State]:
        """What EM starts from: the match, or the means of groups where it means nothing."""
        start, theta = self._first_coordinates(landscape, finding)
        followed = finding.followed if finding is not None and start == "match" else None
        if followed is None:
            return start, initial_state(self.table, landscape, theta)
        held = landscape.match(followed.theta)
        return start, self.table.start(followed.theta, followed.noise_scale, followed.share, held)

    def _first_coordinates(
        self, landscape: PartialLandscape, finding: PartialFinding | None
    ) -> tuple[str, FloatArray]:
        settings, problem = self.settings, self.problem
        used = settings.searching.partial.used
        if finding is not None and (settings.search == "population" or finding.p_value < used):
            return "match", finding.search.thetas[0]
        enough = settings.searching.anchor.rows_per_direction * (self.solver.rank + 1)
        if problem.n_groups + problem.n_known >= enough or finding is None:
            anchored = "known rows" if problem.n_known >= enough else "group means"
            return anchored, group_mean_start(landscape)[0]
        return "match", finding.search.thetas[0]

    def _iterate(self, start: State) -> EMResult[PartialAlignment]:
        total, done = self.settings.em.iteration.max_iter, 0
        with self.reporting(total, "iterations") as report:

            def count(step: Step) -> None:
                nonlocal done
                done += 1
                report(
                    Progress(
                        done, total, step.objective, step.acceptance_rate, step.coef,
                        step.intercept + self.centre, step.noise_scale,
                    )
                )  # fmt: skip

            return iterate(self.table, start, self.settings, count)

    def _walk(self, state: State) -> PartialSnapshots:
        information = self.settings.em.information
        rows = max(self.problem.n_open_rows, 1)
        n_snapshots = min(
            information.most_snapshots,
            max(information.enough_snapshots, information.rows_seen // rows),
        )
        # Births and deaths mix a group sooner than exchanges alone: half the way is enough.
        way = information.sweeps_of_walk // 2
        sweeps = max(information.sweeps_per_snapshot, way // n_snapshots)
        chain = PartialChain(self.problem, self.settings.seed, self.workers, sweeps, 0)
        return walk(self.table, state, chain, n_snapshots, FIRST_PARTNERS)
