"""Stochastic EM: expected labels from a Metropolis-Hastings chain over permutations."""

import hashlib

import numpy as np

from ..alignment.chain import Chain
from ..alignment.hard import most_likely_permutation
from ..alignment.state import Alignment, State
from ..alignment.sweeps import sweep_plan
from ..data.problem import Problem
from ..data.survey import Survey, survey
from ..data.threads import Workers
from ..em.information import complete_covariance
from ..em.loop import EMResult, Guard, Step, run_em, unguarded
from ..em.memory import MemoryTable, start_from_labels
from ..em.passes import PassesTable, PassSettings
from ..em.table import Expected, Table
from ..families.family import Solver
from ..families.least_squares import LeastSquares
from ..families.normal_equations import NormalEquations
from ..inference.intervals import Estimates
from ..inference.permutations import (
    PermutationPosterior,
    likely_permutation,
    without_features,
)
from ..kernels.types import FloatArray
from .data import Data, InMemory, InPasses
from .finish import MemoryFinish, finish_in_passes
from .plan import Plan, aligner, plan_in_memory, plan_in_passes
from .progress import Progress, Report, Reporting, quiet
from .results import (
    Design,
    Matches,
    StochasticFit,
    Uncertainty,
    design_of,
    iterations_of,
    uncertainty_of,
)
from .robust import with_errors, with_model_errors
from .settings import StochasticSettings
from .starts import Course, course_of


def fit_stochastic(
    data: Data,
    settings: StochasticSettings,
    *,
    reporting: Reporting = quiet,
    solver: LeastSquares | None = None,
) -> StochasticFit:
    """Fit by Stochastic EM.

    Parameters
    ----------
    data : InMemory or InPasses
    settings : StochasticSettings
    reporting : callable
        Opens a report of the iterations.
    solver : LeastSquares, optional
        X of a table in memory, factored without a ridge; it is factored here if left out.

    Returns
    -------
    fit : StochasticFit
    """
    if isinstance(data, InPasses):
        return _fit_in_passes(data, settings, reporting)
    return _fit_in_memory(data, settings, reporting, solver)


def _fit_in_memory(
    data: InMemory, settings: StochasticSettings, reporting: Reporting, solver: LeastSquares | None
) -> StochasticFit:
    problem = data.problem
    if solver is None or settings.ridge:
        solver = settings.family.solver(
            problem.X, fit_intercept=settings.fit_intercept, ridge=settings.ridge
        )
    plan = plan_in_memory(settings, problem, data.match_prob)
    chain = Chain(problem, plan.schedule, settings.seed, data.workers)
    align = aligner(settings, chain, plan.prior)
    table = MemoryTable(problem, solver, align, data.workers, settings.family)
    with reporting(settings.max_iter, "iterations") as report:
        course = course_of(table, plan, settings, data.workers)
        result = _iterate(table, course, settings, report)
    if settings.variant == "published":
        return _published_fit(data, table, plan, settings, result)
    finish = MemoryFinish(table, data, plan, settings, course)
    state, alignment, covariance, expected, _ = finish.run(result)
    covariance = course.with_monte_carlo_error(covariance, result)
    matched = np.asarray(alignment.match_proba)
    rate = float(1.0 - matched.mean())
    state = state._replace(perm=alignment.perm, match_proba=matched)
    design = design_of(problem.n_rows, problem.n_groups, solver)
    perm = likely_permutation(problem, plan.prior, state)
    fit = assemble(
        state,
        design,
        result,
        plan,
        settings,
        mismatch_rate=rate,
        matches=matches_of(problem, alignment.expected, perm, matched),
        uncertainty=uncertainty_of(covariance, state, rate, design),
        permutations=PermutationPosterior(
            without_features(problem), plan.prior, state, settings.seed
        ),
        as_given=labels_as_given(data, solver),
    )
    return with_errors(data, fit, expected, settings.covariance, solver)


def _published_fit(
    data: InMemory,
    table: MemoryTable,
    plan: Plan,
    settings: StochasticSettings,
    result: EMResult[Alignment],
) -> StochasticFit:
    """The last iterate, as its authors report it."""
    problem, state = data.problem, result.state
    perm = most_likely_permutation(problem, state.fitted)
    design = design_of(problem.n_rows, problem.n_groups, table.solver)
    matches = matches_of(problem, result.alignment.expected, perm, None)
    return assemble(state, design, result, plan, settings, matches=matches)


def _fit_in_passes(
    data: InPasses, settings: StochasticSettings, reporting: Reporting
) -> StochasticFit:
    if settings.covariance == "robust":
        raise ValueError(
            "covariance_type='robust' is not for data that are read in passes; use 'auto' or "
            "'model', or fit a sample in memory"
        )
    facts = survey(data.parts, settings.fit_intercept)
    solver = normal_equations(facts, settings.fit_intercept, settings.ridge)
    plan = plan_in_passes(settings, facts)
    table = PassesTable(
        data.parts,
        facts,
        solver,
        PassSettings(
            settings.seed,
            sweep_plan(plan.schedule, facts.n_movable),
            settings.temper,
            plan.prior.estimates,
        ),
    )
    words = fingerprint(facts, plan, settings)
    checkpoint = data.checkpoint.bind(settings.seed, words, len(facts.centre))
    with Workers(1) as workers, reporting(settings.max_iter, "iterations") as report:
        course = course_of(table, plan, settings, workers)
        resumed = checkpoint.load()
        result = _iterate(table, course, settings, report, resumed, checkpoint.guard)
    state, share, covariance = finish_in_passes(table, result, plan, settings)
    covariance = course.with_monte_carlo_error(covariance, result)
    design = design_of(facts.n_rows, facts.n_groups, solver)
    unpenalised = normal_equations(facts, settings.fit_intercept, 0.0)
    given = table.state_at(*table.least_squares(unpenalised))
    fit = assemble(
        state,
        design,
        result,
        plan,
        settings,
        mismatch_rate=share * facts.n_movable / facts.n_rows if plan.prior.mostly_right else None,
        uncertainty=uncertainty_of(covariance, state, share, design),
        as_given=estimates_of(table, unpenalised, given),
    )
    return with_model_errors(fit)


def assemble(
    state: State,
    design: Design,
    result: EMResult[Expected],
    plan: Plan,
    settings: StochasticSettings,
    *,
    mismatch_rate: float | None = None,
    matches: Matches | None = None,
    uncertainty: Uncertainty | None = None,
    permutations: PermutationPosterior | None = None,
    as_given: Estimates | None = None,
) -> StochasticFit:
    """Put the parts of a fit together."""
    return StochasticFit(
        coef=state.coef,
        intercept=state.intercept,
        noise_scale=state.noise_scale,
        mismatch_rate=mismatch_rate,
        design=design,
        iterations=iterations_of(result),
        acceptance_rate=result.alignment.acceptance_rate,
        tol=plan.tol,
        schedule=plan.schedule,
        temper=settings.temper,
        ridge=settings.ridge,
        matches=matches,
        uncertainty=uncertainty,
        permutations=permutations,
        as_given=as_given,
    )


def _iterate(
    table: Table[Expected],
    course: Course,
    settings: StochasticSettings,
    report: Report,
    resumed: tuple[State, list[Step]] | None = None,
    guard: Guard = unguarded,
) -> EMResult[Expected]:
    """EM from its start, or from where an interrupted run was, until it stops."""
    start, before = resumed if resumed is not None else (course.start, [])
    total, done = settings.max_iter, len(before)

    def count(step: Step) -> None:
        nonlocal done
        done += 1
        report(
            Progress(
                done, total, step.objective, step.acceptance_rate, step.coef, step.intercept,
                step.noise_scale,
            )
        )  # fmt: skip

    return run_em(
        table,
        start,
        max_iter=total,
        stop=course.stop,
        report=count,
        accelerate=course.accelerate,
        before=before,
        guard=guard,
    )


def fingerprint(facts: Survey, plan: Plan, settings: StochasticSettings) -> str:
    """What must be the same for a run to continue; `max_iter` may change."""
    init = None if settings.init is None else settings.init.tolist()
    words = repr((
        settings.fit_intercept, settings.ridge, settings.temper, plan.schedule, plan.tol,
        settings.em, plan.prior.rate, plan.prior.estimates, init,
    ))  # fmt: skip
    return hashlib.sha256(f"{facts.digest} {words}".encode()).hexdigest()


def matches_of(
    problem: Problem, expected: FloatArray, perm: np.ndarray, matched: FloatArray | None
) -> Matches:
    """Vectors over rows, back in the user's order."""
    return Matches(
        problem.restore(expected),
        problem.restore_permutation(perm),
        None if matched is None else problem.restore(matched),
    )


def normal_equations(facts: Survey, fit_intercept: bool, ridge: float) -> NormalEquations:
    """Least squares from the products that the first passes added up."""
    return NormalEquations(
        facts.gram, facts.centre, facts.n_rows, fit_intercept=fit_intercept, ridge=ridge
    )


def labels_as_given(data: InMemory, solver: LeastSquares) -> Estimates | None:
    """Least squares on the labels as given; None where rows and labels came as two tables."""
    if not data.side_by_side:
        return None
    problem = data.problem
    if solver.ridge:
        solver = LeastSquares(problem.X, fit_intercept=solver.fit_intercept)
    table = MemoryTable(problem, solver)
    return estimates_of(table, solver, start_from_labels(problem, solver, problem.y))


def estimates_of(table: Table[Expected], solver: Solver, state: State) -> Estimates:
    """Least squares estimates with their standard errors."""
    covariance = complete_covariance(table, solver, state.noise_scale).coef
    first = 0 if solver.fit_intercept else 1
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    values = np.append(state.intercept, state.coef)
    return Estimates(values[first:], errors[first:], table.n_rows - solver.n_parameters)
