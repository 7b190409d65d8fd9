"""The default fit: find out what kind of shuffle it is, fit accordingly, and judge the result."""

from dataclasses import replace
from functools import cached_property

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..em.memory import MemoryTable, start_from_coefficients
from ..families.least_squares import LeastSquares
from ..inference.group_means import GroupMeans, compare_with_means
from ..inference.sensitivity import shrinkage_share, tempering_shift
from ..inference.settings import CHECKS
from ..inference.stratum_rates import StratumRates
from ..inference.verdict import judge
from ..kernels.streams import FIRST_INFLATED
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..search.landscape import Landscape
from ..search.lost import Finding, Stage, cautious_ridge, explore, refit
from ..search.mostly_right import fits_tightly
from ..search.order_test import order_p_value
from ..search.population import automatic_budget
from ..search.sample import rows_to_search, sample_of
from ..search.starts import anchor, group_means
from .audited import with_audit
from .auto_results import AutoFit, MismatchFit, Outcome
from .choice import Choice, choose_cautious
from .clued import expected_as_given, fit_clued
from .data import InMemory
from .examination import compare_chain, examine
from .known import fit_known
from .linked import fit_expected
from .noise_law import SHAPES, fit_with_law
from .order_given import least_squares, under_named_law
from .progress import Progress, Reporting, quiet
from .results import Matches, StochasticFit
from .routes import ROUTES
from .searched import search_fit
from .settings import AutoSettings, StochasticSettings
from .stochastic import fit_stochastic
from .verdict import verdict_of

NO_VERDICT = judge([])
NAN = float("nan")


def fit_auto(data: InMemory, settings: AutoSettings, *, reporting: Reporting = quiet) -> AutoFit:
    """Fit as the order given suggests: as it is, with a few mismatches, or by a search.

    Parameters
    ----------
    data : InMemory
    settings : AutoSettings
    reporting : callable
        Opens reports of the search and of the iterations.

    Returns
    -------
    fit : AutoFit
    """
    router = Router(data, settings, reporting)
    pairing = router.declared_pairing()
    if pairing == "auto":
        outcome = router.find_out()
    elif pairing == "known":
        outcome = Outcome(
            fit_known(data, router.solver, settings.seed, settings.covariance), "known"
        )
    elif pairing == "mostly-right":
        outcome = router.mostly_right
    else:
        outcome = router.lost(router.explore())
    return router.conclude(router.with_law(outcome))


class Router:
    """Every way to fit one table; what several of them need is computed once.

    Parameters
    ----------
    data : InMemory
    settings : AutoSettings
    reporting : callable
    """

    def __init__(self, data: InMemory, settings: AutoSettings, reporting: Reporting) -> None:
        self.data, self.settings, self.reporting = data, settings, reporting
        self.solver = LeastSquares(data.problem.X, fit_intercept=settings.fit_intercept)
        self.order_p_value = NAN  # where no test of the order was made

    @cached_property
    def landscape(self) -> Landscape:
        """The labels to be matched; it holds a copy of X in an orthonormal basis."""
        return Landscape(self.data.problem, self.solver, self.data.workers, self.settings.searching)

    @cached_property
    def searched(self) -> Landscape:
        """What searches, nulls and refits visit: the landscape, or that of a sample of it."""
        searching = self.settings.searching
        many = rows_to_search(self.solver.rank, searching.population, searching.descent)
        problem = sample_of(self.data.problem, many)
        if problem is self.data.problem:
            return self.landscape
        solver = LeastSquares(problem.X, fit_intercept=self.settings.fit_intercept)
        return Landscape(problem, solver, self.data.workers, searching)

    @cached_property
    def mostly_right(self) -> Outcome:
        """The answer where the order given is used: with mismatches, or least squares.

        A fit with mismatches needs a sign of mismatches, and must be consistent with least squares
        on the labels as given; otherwise that is the answer.
        """
        data, settings, solver = self.data, self.settings, self.solver
        if settings.mismatch_rate != "estimate" or data.order_from is not None:
            return self._chain_outcome(None)
        sure = not self.order_p_value >= ROUTES.informative
        found = examine(data.problem, settings.noise, order_is_sure=sure)
        facts = found.facts
        if settings.noise in SHAPES and found.whole:
            return under_named_law(data, solver, settings, facts)
        if facts.answer == "mismatches" and (found.normal or not found.whole):
            outcome = self._chain_outcome(facts)
            assert outcome.mismatch is not None
            consistent = outcome.mismatch.answer == "mismatches"
            if consistent and (
                not found.whole or _inflation(outcome.fit) < CHECKS.inflation_linked
            ):
                return outcome
            facts = facts if found.whole else outcome.mismatch
            facts = replace(facts, chain_inflation=_inflation(outcome.fit))
        if facts.answer == "mismatches":
            assert found.best is not None
            fit = fit_expected(data, solver, settings.seed, found.best)
            return Outcome(fit, "mostly-right", mismatch=facts)
        return least_squares(data, solver, settings, facts)

    def _chain_outcome(self, facts: MismatchFit | None) -> Outcome:
        """A chain over permutations with few mismatches, beside least squares as given."""
        fit = self._fit_stochastic(1.0, 0.0, mismatch_rate=self.settings.mismatch_rate)

        def refit(rate: float | StratumRates) -> StochasticFit:
            if isinstance(rate, StratumRates):
                other = Router(self.data.with_strata(rate), self.settings, quiet)
                return other._fit_stochastic(1.0, 0.0, init=fit.coef)
            return self._fit_stochastic(1.0, 0.0, init=fit.coef, mismatch_rate=rate)

        fit = with_audit(fit, self.data.strata or self.settings.audit, refit)
        outcome = self.with_sensitivity(Outcome(fit, "mostly-right"))
        clued = self.data.clues is not None
        expected = expected_as_given(self.data.problem, fit) if clued else None
        facts = compare_chain(self.data.problem, fit, facts, expected=expected)
        return outcome._replace(mismatch=facts)

    def declared_pairing(self) -> str:
        """What the settings or the data themselves declare of the order given."""
        data, pairing = self.data, self.settings.pairing
        if data.order_from is not None and pairing in {"lost", "known"}:
            raise ValueError(
                f"{data.order_from} means that the order given is mostly right, but pairing="
                f"{pairing!r}; leave out one of the two"
            )
        if data.problem.n_movable == 0:
            return "known"
        if not data.side_by_side:
            return "lost"
        return pairing if data.order_from is None else "mostly-right"

    def find_out(self) -> Outcome:
        """Fit as the order given suggests; where the fit contradicts it, the other way."""
        problem = self.data.problem
        p_value = self.order_p_value = order_p_value(problem, self.solver, self.settings.seed)
        ordered = p_value < ROUTES.informative
        # Inside groups least squares as given is far off where the order is lost, so that an order
        # that is only plausible does not count.
        plausible = p_value < ROUTES.perhaps and problem.n_blocks == 1
        assumed = ordered or (plausible and fits_tightly(problem, self.solver, self.settings.seed))
        if assumed and self._order_left():
            return self.mostly_right
        outcome = self.lost(self.explore())
        if plausible and not ordered and self._order_left():
            trusted = self.conclude(outcome).verdict.level == "trust"
            return outcome if trusted else self.mostly_right
        return self._unclear(outcome.finding) if self._tells_nothing(outcome) else outcome

    def _tells_nothing(self, outcome: Outcome) -> bool:
        """Whether no match was found where one to a strong relation would have been.

        With few features a search finds the best match of all. So the features hardly explain the
        labels, and then labels in their own order look like labels in a lost one.
        """
        given, few = self.settings, self.settings.searching.match.few_directions
        left_open = (given.start, given.temper, given.ridge) == (None, None, None)
        searched = left_open and outcome.finding is not None and self.searched.rank <= few
        return searched and outcome.start == "labels as given" and self.data.problem.n_blocks == 1

    def _unclear(self, finding: Finding | None) -> Outcome:
        """Least squares: the right answer if the labels are in order; if not, there is none."""
        data, settings = self.data, self.settings
        facts = examine(data.problem, settings.noise, order_is_sure=False).facts
        return least_squares(data, self.solver, settings, replace(facts, answer="unclear"), finding)

    def _order_left(self) -> bool:
        """Whether a fit that assumes the order given finds that some of it is left."""
        rate = self.mostly_right.fit.mismatch_rate
        return rate is None or not rate > ROUTES.nothing_left

    def explore(self) -> Finding | None:
        """Search, where that is asked for and affordable."""
        settings, landscape = self.settings, self.searched
        automatic = settings.n_candidates is None
        budget = automatic_budget(landscape) if automatic else settings.n_candidates
        assert budget is not None
        unaffordable = settings.search == "auto" and automatic and budget < ROUTES.fewest_candidates
        if settings.search == "none" or unaffordable or landscape.rank == 0:
            return None
        with self.reporting(budget, self._what_is_tried()) as report:

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
        n_rows, n_searched = self.data.problem.n_rows, self.searched.problem.n_rows
        sampled = n_searched < n_rows
        return f"candidates in a sample of {n_searched:,} rows" if sampled else "candidates"

    def lost(self, finding: Finding | None) -> Outcome:
        """Start from the match that a search found, if it stands the tests; else with caution."""
        if finding is not None and self._uses(finding):
            fit = self._fit_stochastic(1.0, 0.0, init=self._best_match(finding).coef)
            distances = refit(self.searched, self._searched_state(fit), self.settings.seed)
            if self._forced or finding.holds(distances):
                outcome = Outcome(fit, "lost", "match", finding, distances)
                return self.with_sensitivity(outcome)
        return self._cautious(finding)

    def _best_match(self, finding: Finding) -> State:
        """The best match found; that of a sample is followed down on all rows."""
        best = self.searched.state(finding.search.thetas[0])
        if self.searched is self.landscape:
            return best
        everywhere = start_from_coefficients(
            self.data.problem, self.solver, best.coef, best.intercept
        )
        theta = self.landscape.theta_of(everywhere.fitted)[None]
        self.landscape.descend(theta, self.settings.searching.descent.most_steps)
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
        return self.settings.search == "population" or self.settings.start == "match"

    def _uses(self, finding: Finding) -> bool:
        """Whether EM starts from the best match found."""
        return self.settings.start != "labels as given" and (self._forced or finding.may_hold)

    def _cautious(self, finding: Finding | None) -> Outcome:
        """Where no match is used: known rows and group means, or more noise and a ridge."""
        held_by = anchor(self.landscape) if self.settings.start is None else None
        if held_by is not None:
            start = self.landscape.state(group_means(self.landscape))
            fit = self._fit_stochastic(1.0, 0.0, init=start.coef)
            return Outcome(fit, "lost", held_by, finding)
        ridge = cautious_ridge(self.data.problem, self.solver)
        temper = self.settings.searching.match.cautious_temper
        choice = self._cautious_choice(ridge)
        if choice is not None:
            temper, ridge = choice.setting.temper, choice.setting.ridge
        fit = self._fit_stochastic(temper, ridge)
        return Outcome(fit, "lost", finding=finding, choice=choice)

    def _cautious_choice(self, ridge: float) -> Choice | None:
        """Temper and ridge by held-out groups, where the settings leave both open."""
        given = self.settings
        if given.start is not None or given.temper is not None or given.ridge is not None:
            return None
        data = InMemory(self.searched.problem, self.data.workers)
        return choose_cautious(data, given, ridge, reporting=self.reporting)

    def _fit_stochastic(
        self,
        temper: float,
        ridge: float,
        *,
        init: FloatArray | None = None,
        mismatch_rate: float | str | None = None,
    ) -> StochasticFit:
        """Stochastic EM; `temper` and `ridge` hold where the settings leave them open."""
        given = self.settings
        settings = StochasticSettings(
            given.seed,
            max_iter=given.em.iteration.max_iter,
            init=init,
            mismatch_rate=mismatch_rate,
            alignment=given.alignment,
            temper=temper if given.temper is None else given.temper,
            ridge=ridge if given.ridge is None else given.ridge,
            fit_intercept=given.fit_intercept,
            covariance=given.covariance,
            em=given.em,
        )
        fit = fit_stochastic if self.data.clues is None else fit_clued
        return fit(self.data, settings, reporting=self.reporting, solver=self.solver)

    def with_sensitivity(self, outcome: Outcome) -> Outcome:
        """Add how the answer depends on the noise, and what shrinkage alone would have given."""
        problem, solver, state = self.data.problem, self.solver, state_of(outcome.fit)
        posterior, n = outcome.fit.permutations, problem.n_movable
        assert posterior is not None
        steps = max(ROUTES.fewest_sweeps * n, min(ROUTES.most_sweeps * n, ROUTES.enough_steps))
        chain = Chain(problem, Schedule(steps, 0, 1), self.settings.seed, self.data.workers)
        align = SampledAlignment(chain, posterior.prior)
        as_given = MemoryTable(problem, solver).ordinary_start().fitted
        return outcome._replace(
            temper_shift=tempering_shift(problem, solver, state, align, FIRST_INFLATED),
            shrinkage_share=shrinkage_share(state.fitted, as_given),
        )

    def with_law(self, outcome: Outcome) -> Outcome:
        """Continue under another law of the noise, where one is asked for and the order is lost."""
        asked = self.settings.noise in SHAPES and outcome.pairing == "lost"
        if not asked or outcome.fit.temper != 1.0 or outcome.fit.ridge:
            return outcome
        fit, law = fit_with_law(
            self.data, outcome.fit, self.solver, self.settings, reporting=self.reporting
        )
        return outcome._replace(fit=fit, law=law)

    def conclude(self, outcome: Outcome) -> AutoFit:
        """Put everything together, and judge it."""
        problem, fit = self.data.problem, outcome.fit
        matches = fit.matches
        assert matches is not None
        held = problem.arrange(problem.restore(problem.y)[matches.permutation])
        residual = held - state_of(fit).fitted
        numbers = self.data.label_numbers
        if numbers is not None:  # no label was given beside a row, so none can be its own
            perm = numbers[matches.permutation]
            matches = Matches(matches.expected_labels, perm, match_proba=None)
            fit = replace(fit, mismatch_rate=None, matches=matches)
        finding = outcome.finding
        found = AutoFit(
            fit=fit,
            pairing=outcome.pairing,
            order_p_value=self.order_p_value,
            start=outcome.start,
            search=None if finding is None else search_fit(finding, self.searched, problem.n_rows),
            refit_distances=outcome.refit_distances,
            temper_shift=outcome.temper_shift,
            shrinkage_share=outcome.shrinkage_share,
            objective=float(residual @ residual),
            mismatch=outcome.mismatch,
            verdict=NO_VERDICT,
            group_means=self._group_means(outcome),
            choice=outcome.choice,
            law=outcome.law,
        )
        return replace(found, verdict=verdict_of(found, problem))

    def _group_means(self, outcome: Outcome) -> GroupMeans | None:
        fit, problem = outcome.fit, self.data.problem
        if outcome.pairing != "lost" or fit.uncertainty is None or fit.ridge:
            return None
        first = int(fit.design.fit_intercept)
        covariance = fit.uncertainty.covariance[first:, first:]
        return compare_with_means(problem, self.solver, fit.coef, covariance, fit.noise_scale)


def _inflation(fit: StochasticFit) -> float:
    """Standard errors as a multiple of those with the order known."""
    assert fit.uncertainty is not None
    return fit.uncertainty.inflation


def state_of(fit: StochasticFit) -> State:
    """Where EM ended, with its vectors over (arranged) rows."""
    assert fit.permutations is not None
    return fit.permutations.state
