"""The ways that the front door can go: believing the order given, searching, or with caution."""

from typing import TYPE_CHECKING, Any

from ..search.landscape import Landscape
from ..search.lost import CAUTIOUS_TEMPER, Finding, Stage, cautious_ridge, explore, refit
from ..search.mostly_right import fits_tightly
from ..search.population import automatic_budget
from ..search.starts import anchor, group_means
from ._base import Outcome, Task
from ._progress import Progress, reporting
from ._told import sensitivity, told_of_search

if TYPE_CHECKING:
    from .shuffled import ShuffledRegressor

# The order given surely carries information below the first p-value. Up to the second it may, which
# is believed if a search finds nothing; up to the third if a first fit that believes it finds many
# rows near a line.
INFORMATIVE, PERHAPS, HARDLY = 0.001, 0.05, 0.2
# So many mismatched rows leave nothing of the order.
NOTHING_LEFT = 0.9
# Below so many affordable candidates a search is not worth the name.
FEWEST_CANDIDATES = 50


class Routes:
    """Every way to fit one table.

    Parameters
    ----------
    model : ShuffledRegressor
        Whose parameters choose among them.
    task : Task
    landscape : Landscape
        The labels to be matched.
    """

    def __init__(self, model: "ShuffledRegressor", task: Task, landscape: Landscape) -> None:
        self.model, self.task, self.landscape = model, task, landscape

    def find_out(self, p_value: float) -> tuple[str, Outcome]:
        """Fit as the order given suggests; where the fit belies it, the other way."""
        task, ordered = self.task, p_value < INFORMATIVE
        if ordered or (p_value < HARDLY and fits_tightly(task.problem, task.solver, task.seed)):
            outcome = self.mostly_right()
            if outcome.extras["mismatch_rate_"] <= NOTHING_LEFT:
                return "mostly-right", outcome
        finding = self.explore()
        if not ordered and p_value < PERHAPS and not self._follows(finding):
            outcome = self.mostly_right()
            if outcome.extras["mismatch_rate_"] <= NOTHING_LEFT:
                return "mostly-right", outcome
        return "lost", self.lost(finding)

    def mostly_right(self) -> Outcome:
        """Believe the order given, but for a share of the rows."""
        outcome = self._soften(1.0, 0.0, mismatch_rate=self.model.mismatch_rate)
        return outcome._replace(extras=outcome.extras | sensitivity(self.task, outcome))

    def lost(self, finding: Finding | None) -> Outcome:
        """Begin where a search led, if that can be followed."""
        task, landscape = self.task, self.landscape
        told = {} if finding is None else told_of_search(landscape, finding)
        if finding is not None and self._follows(finding):
            best = landscape.state(finding.search.thetas[0])
            outcome = self._soften(1.0, 0.0, init=best.coef)
            distances = refit(landscape, outcome.result.state, task.seed)
            if self.model.search == "population" or finding.holds(distances):
                told |= {"refit_distances_": distances, "start_": "match"}
                told |= sensitivity(task, outcome)
                return outcome._replace(extras=outcome.extras | told)
        outcome = self._cautious()
        return outcome._replace(extras=outcome.extras | told)

    def explore(self) -> Finding | None:
        """Search, where that is asked for and affordable."""
        model, landscape = self.model, self.landscape
        automatic = model.n_candidates == "auto"
        budget = automatic_budget(landscape) if automatic else int(model.n_candidates)
        unaffordable = model.search == "auto" and automatic and budget < FEWEST_CANDIDATES
        if model.search == "none" or unaffordable or landscape.rank == 0:
            return None
        with reporting(model.verbose, budget, "candidates", model.callback) as report:

            def tell(stage: Stage) -> None:
                done = stage.done if stage.total else budget
                report(Progress(done, budget, stage.objective, float("nan"), None))

            return explore(
                landscape,
                n_candidates=budget,
                seed=self.task.seed,
                compare=model.search == "auto",
                report=tell,
            )

    def _follows(self, finding: Finding | None) -> bool:
        """Whether the best match found is where EM begins."""
        return finding is not None and (self.model.search == "population" or finding.may_hold)

    def _cautious(self) -> Outcome:
        """Where no match is followed."""
        task, landscape = self.task, self.landscape
        held_by = anchor(landscape)
        if held_by is not None:
            start = landscape.state(group_means(landscape))
            outcome = self._soften(1.0, 0.0, init=start.coef)
            return outcome._replace(extras=outcome.extras | {"start_": held_by})
        return self._soften(CAUTIOUS_TEMPER, cautious_ridge(task.problem, task.solver))

    def _soften(self, temper: float, ridge: float, **settings: Any) -> Outcome:
        """Average over permutations by Stochastic EM; `temper` and `ridge` are for "auto"."""
        model, task = self.model, self.task
        temper = temper if model.temper == "auto" else float(model.temper)
        ridge = ridge if model.ridge == "auto" else float(model.ridge)
        inner = model._inner(temper, ridge, **settings)
        if ridge:
            task = task._replace(solver=inner._solver(task.problem))
        outcome = inner._run(task)
        return outcome._replace(extras=outcome.extras | {"temper_": temper, "ridge_": ridge})
