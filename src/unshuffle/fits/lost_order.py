"""The fit where the order is lost: search, start from the match if it stands the tests, or not."""

from functools import cached_property

from ..alignment.state import State
from ..em.memory import start_from_coefficients
from ..families.least_squares import LeastSquares
from ..inference.settings import CHECKS
from ..search.landscape import Landscape
from ..search.lost import Finding, Stage, cautious_ridge, explore, refit
from ..search.population import automatic_budget
from ..search.sample import rows_to_search, sample_of
from ..search.starts import anchor, group_means
from .auto_results import Outcome
from .choice import Choice, choose_cautious
from .data import InMemory
from .progress import Progress
from .results import StochasticFit
from .routes import ROUTES
from .table_fits import TableFits, inflation_of, state_of


class LostOrder:
    """Search for the best match of a table, and fit from it.

    Parameters
    ----------
    fits : TableFits
    """

    def __init__(self, fits: TableFits) -> None:
        self.fits = fits

    @cached_property
    def landscape(self) -> Landscape:
        """The labels to be matched; it holds a copy of X in an orthonormal basis."""
        return Landscape(
            self.fits.data.problem,
            self.fits.solver,
            self.fits.data.workers,
            self.fits.settings.searching,
        )

    @cached_property
    def searched(self) -> Landscape:
        """What searches, nulls and refits visit: the landscape, or that of a sample of it."""
        searching = self.fits.settings.searching
        many = rows_to_search(self.fits.solver.rank, searching.population, searching.descent)
        problem = sample_of(self.fits.data.problem, many)
        if problem is self.fits.data.problem:
            return self.landscape
        solver = LeastSquares(problem.X, fit_intercept=self.fits.settings.fit_intercept)
        return Landscape(problem, solver, self.fits.data.workers, searching)

    def explore(self) -> Finding | None:
        """Search, where that is asked for and affordable."""
        settings, landscape = self.fits.settings, self.searched
        automatic = settings.n_candidates is None
        budget = automatic_budget(landscape) if automatic else settings.n_candidates
        assert budget is not None
        unaffordable = settings.search == "auto" and automatic and budget < ROUTES.fewest_candidates
        if settings.search == "none" or unaffordable or landscape.rank == 0:
            return None
        with self.fits.reporting(budget, self._what_is_tried()) as report:

            def count(stage: Stage) -> None:
                report(Progress(stage.done if stage.total else budget, budget, stage.objective))

            return explore(
                landscape,
                n_candidates=budget,
                seed=settings.seed,
                compare=settings.search == "auto",
                report=count,
            )

    def _what_is_tried(self) -> str:
        n_rows, n_searched = self.fits.data.problem.n_rows, self.searched.problem.n_rows
        sampled = n_searched < n_rows
        return f"candidates in a sample of {n_searched:,} rows" if sampled else "candidates"

    def fit(self, finding: Finding | None) -> Outcome:
        """Start from the match that a search found, if it stands the tests; else with caution."""
        if finding is not None and self._uses(finding):
            fit = self.fits.stochastic(1.0, 0.0, init=self._best_match(finding).coef)
            distances = refit(self.searched, self._searched_state(fit), self.fits.settings.seed)
            if self._forced or finding.holds(distances):
                outcome = Outcome(fit, "lost", "match", finding, distances)
                return self.fits.with_sensitivity(outcome)
        return self.cautious(finding)

    def _best_match(self, finding: Finding) -> State:
        """The best match found; that of a sample is followed down on all rows."""
        best = self.searched.state(finding.search.thetas[0])
        if self.searched is self.landscape:
            return best
        everywhere = start_from_coefficients(
            self.fits.data.problem, self.fits.solver, best.coef, best.intercept
        )
        theta = self.landscape.theta_of(everywhere.fitted)[None]
        self.landscape.descend(theta, self.fits.settings.searching.descent.most_steps)
        return self.landscape.state(theta[0])

    def _searched_state(self, fit: StochasticFit) -> State:
        """Where EM ended, for the rows that are searched."""
        state, searched = state_of(fit), self.searched
        if searched is self.landscape:
            return state
        start = start_from_coefficients(
            searched.problem, searched.solver, state.coef, state.intercept
        )
        return start._replace(noise_scale=state.noise_scale)

    @property
    def _forced(self) -> bool:
        """Whether EM is to start from the best match in any case."""
        return self.fits.settings.search == "population" or self.fits.settings.start == "match"

    def _uses(self, finding: Finding) -> bool:
        """Whether EM starts from the best match found."""
        return self.fits.settings.start != "labels as given" and (self._forced or finding.may_hold)

    def cautious(self, finding: Finding | None) -> Outcome:
        """Where no match is used: known rows and group means, or more noise and a ridge."""
        held_by = anchor(self.landscape) if self.fits.settings.start is None else None
        if held_by is not None:
            start = self.landscape.state(group_means(self.landscape))
            fit = self.fits.stochastic(1.0, 0.0, init=start.coef)
            return Outcome(fit, "lost", held_by, finding)
        ridge = cautious_ridge(self.fits.data.problem, self.fits.solver)
        temper = self.fits.settings.searching.match.cautious_temper
        choice = self._cautious_choice(ridge)
        if choice is not None:
            temper, ridge = choice.setting.temper, choice.setting.ridge
        fit = self.fits.stochastic(temper, ridge)
        return Outcome(fit, "lost", finding=finding, choice=choice)

    def _cautious_choice(self, ridge: float) -> Choice | None:
        """Temper and ridge by held-out groups, where the settings leave both open."""
        given = self.fits.settings
        if given.start is not None or given.temper is not None or given.ridge is not None:
            return None
        data = InMemory(self.searched.problem, self.fits.data.workers)
        return choose_cautious(data, given, ridge, reporting=self.fits.reporting)

    def is_doubted(self, outcome: Outcome) -> bool:
        """Whether labels beside rows of one group have a match that two checks speak against.

        The match may be one of unrelated labels, and the data hardly determine the fit: then the
        labels may as well be in order, with features that explain little of them.
        """
        finding = outcome.finding
        if outcome.start != "match" or finding is None or self._forced:
            return False
        determined = inflation_of(outcome.fit) < CHECKS.inflation_caution
        weak = not finding.p_value < CHECKS.match_p_reject
        return weak and not determined and self.fits.data.problem.n_blocks == 1

    def tells_nothing(self, outcome: Outcome) -> bool:
        """Whether no match was found where one to a strong relation would have been.

        With few features a search finds the best match of all. So the features hardly explain the
        labels, and then labels in their own order look like labels in a lost one.
        """
        given, few = self.fits.settings, self.fits.settings.searching.match.few_directions
        left_open = (given.start, given.temper, given.ridge) == (None, None, None)
        searched = left_open and outcome.finding is not None and self.searched.rank <= few
        return (
            searched and outcome.start == "labels as given" and self.fits.data.problem.n_blocks == 1
        )
