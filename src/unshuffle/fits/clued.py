"""Stochastic EM with a model of who is mismatched: clues give each row its prior probability."""

from dataclasses import replace

import numpy as np

from ..alignment.chain import Chain
from ..alignment.soft import SoftAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..em.clue_information import JointInverse, beside_bound, clue_scores, invert_jointly
from ..em.clued import CluedTable
from ..em.information import Covariance, add_intercept, error_inflation
from ..families.least_squares import LeastSquares
from ..families.match_logit import MatchLogit
from ..inference.match_model import MatchModel, make_match_model
from ..inference.permutations import (
    PermutationPosterior,
    likely_permutation,
    without_features,
)
from ..inference.sandwich import Robust
from ..kernels.types import FloatArray
from .clued_mixture import climb_with_clues, in_users_order, logit_of
from .data import InMemory
from .finish import End, MemoryFinish, n_averaged
from .plan import aligner, plan_in_memory
from .progress import Reporting, quiet
from .results import StochasticFit, design_of, standard_errors_of, uncertainty_of
from .robust import with_errors
from .settings import StochasticSettings
from .starts import course_of
from .stochastic import _iterate, assemble, labels_as_given, matches_of


def fit_clued(
    data: InMemory,
    settings: StochasticSettings,
    *,
    reporting: Reporting = quiet,
    solver: LeastSquares | None = None,
) -> StochasticFit:
    """Fit by Stochastic EM; the prior of each row follows the match model in every M-step.

    Parameters
    ----------
    data : InMemory
        With clues; its match probabilities, where there are any, are offsets.
    settings : StochasticSettings
    reporting : callable
        Opens a report of the iterations.
    solver : LeastSquares, optional
        X, factored without a ridge; it is factored here if left out.

    Returns
    -------
    fit : StochasticFit
        With a match model.
    """
    check_settings(settings)
    problem = data.problem
    if solver is None or settings.ridge:
        solver = settings.family.solver(
            problem.X, fit_intercept=settings.fit_intercept, ridge=settings.ridge
        )
    logit = logit_of(data)
    start = climb_with_clues(data, solver, in_users_order(data, logit))[0].clue_coef
    plan = plan_in_memory(settings, problem, logit.probabilities(start))
    chain = Chain(problem, plan.schedule, settings.seed, data.workers)
    align = aligner(settings, chain, plan.prior)
    assert isinstance(align, SoftAlignment)
    table = CluedTable(
        problem, solver, align, logit, start, workers=data.workers, family=settings.family
    )
    with reporting(settings.max_iter, "iterations") as report:
        # Extrapolation knows nothing of the match model.
        course = course_of(table, plan, settings, data.workers)._replace(accelerate=None)
        result = _iterate(table, course, settings, report)
    table.average_last(n_averaged(result, settings))
    plan, held = plan._replace(prior=table.prior), table.coef
    scores = clue_scores(problem, logit, held)
    end = MemoryFinish(table, data, plan, settings, course, scores.rows).run(result)
    matched = np.asarray(end.alignment.match_proba)
    state = end.state._replace(perm=end.alignment.perm, match_proba=matched)
    plan = plan._replace(prior=table.prior)
    design = design_of(problem.n_rows, problem.n_groups, solver)
    perm = likely_permutation(problem, plan.prior, state)
    rate = float(1.0 - matched.mean())
    fit = assemble(
        state,
        design,
        result,
        plan,
        settings,
        mismatch_rate=rate,
        matches=matches_of(problem, end.alignment.expected, perm, matched),
        uncertainty=uncertainty_of(end.covariance, state, rate, design),
        permutations=PermutationPosterior(
            without_features(problem), plan.prior, state, settings.seed
        ),
        as_given=labels_as_given(data, solver),
    )
    fit = with_errors(data, fit, end.expected, settings.covariance, solver)
    covariance = np.full((logit.size, logit.size), np.nan)
    if end.covariance is not None and end.snapshots is not None:
        bound = logit.rate_gradient(held) if logit.at_bound(held) else None
        if bound is not None:
            scores = beside_bound(problem, logit, held, scores, matched)
        joint = invert_jointly(
            problem, solver, state.fitted, state.noise_scale, end.snapshots, scores, bound
        )
        covariance = joint.clues
        gradient = logit.rate_gradient(held)
        rate_se = float(np.sqrt(max(gradient @ joint.clues @ gradient, 0.0))) / problem.n_rows
        found = joint_covariance(problem, solver, end, joint)
        fit = with_joint_errors(fit, found, state, rate_se)
    model = match_model_of(data, logit, table.coef, covariance, matched)
    return replace(fit, match_model=model)


def check_settings(settings: StochasticSettings) -> None:
    """Refuse what does not go with a match model."""
    if settings.variant == "published":
        raise ValueError(
            "variant='published' is the paper's algorithm and takes no match_features; use "
            "variant='exact'"
        )
    if settings.max_shift is not None:
        raise ValueError(
            f"match_features and max_shift={settings.max_shift} do not go together; leave out one "
            "of the two"
        )
    if settings.alignment == "sinkhorn" or settings.temper != 1.0:
        found = "alignment='sinkhorn'" if settings.temper == 1.0 else f"temper={settings.temper:g}"
        raise ValueError(
            f"match_features needs match probabilities of the model itself, which {found} does not "
            "give; use alignment='chain' and temper 1"
        )
    if settings.mismatch_rate not in (None, "estimate"):
        raise ValueError(
            f"match_features estimates the rate of mismatches, but mismatch_rate="
            f"{settings.mismatch_rate!r} fixes it; use mismatch_rate='estimate', with "
            "mismatch_rate_max as a bound"
        )


def joint_covariance(
    problem: Problem, solver: LeastSquares, end: End, joint: JointInverse
) -> Covariance:
    """The covariance of coefficients and noise where the match model was estimated along."""
    assert end.covariance is not None
    size, noise = 1 + len(solver.to_coef), end.state.noise_scale
    coef = np.zeros((size, size))
    coef[1:, 1:] = solver.to_coef @ joint.coef @ solver.to_coef.T
    if solver.fit_intercept:
        add_intercept(coef, solver.centre, noise, problem.n_rows)
    return end.covariance._replace(
        coef=coef, log_noise=joint.log_noise, inflation=error_inflation(joint.coef, noise)
    )


def with_joint_errors(
    fit: StochasticFit, joint: Covariance, state: State, rate_se: float
) -> StochasticFit:
    """Report standard errors that carry the uncertainty of the match model.

    A sandwich takes the match model as known, so what that model adds to the model's own covariance
    is added to it.
    """
    assert fit.uncertainty is not None and fit.errors is not None
    found = replace(
        uncertainty_of(joint, state, float("nan"), fit.design), mismatch_rate_se=rate_se
    )
    if fit.errors.kind == "model":
        errors = replace(fit.errors, uncertainty=found)
    else:
        values, axes = np.linalg.eigh(found.covariance - fit.uncertainty.covariance)
        added = (axes * np.maximum(values, 0.0)) @ axes.T
        covariance = fit.errors.uncertainty.covariance + added
        robust = replace(
            fit.errors.uncertainty,
            covariance=covariance,
            standard_errors=standard_errors_of(covariance),
            mismatch_rate_se=rate_se,
        )
        errors = replace(fit.errors, uncertainty=robust, robust=_with_added(fit, added))
    return replace(fit, uncertainty=found, errors=errors)


def _with_added(fit: StochasticFit, added: FloatArray) -> Robust | None:
    """The sandwich that methods of the estimator read, with the same variance added."""
    assert fit.errors is not None
    robust = fit.errors.robust
    if robust is None:
        return None
    first = 0 if fit.design.fit_intercept else 1
    coef = robust.covariance.coef.copy()
    coef[first:, first:] += added
    return robust._replace(covariance=robust.covariance._replace(coef=coef))


def match_model_of(
    data: InMemory,
    logit: MatchLogit,
    coef: FloatArray,
    covariance: FloatArray,
    matched: FloatArray,
) -> MatchModel:
    """The match model, with vectors in the user's order."""
    clues = data.clues
    assert clues is not None
    users, by_row = in_users_order(data, logit), data.problem.restore(matched)
    return make_match_model(users, coef, covariance, clues.names, clues.dropped, by_row)


def expected_as_given(problem: Problem, fit: StochasticFit) -> FloatArray:
    """Expected label beside each row, in the user's order, if the fit is right.

    A row holds its own label with its prior probability, and otherwise one of those that the
    mismatched rows of its group have among them.
    """
    assert fit.permutations is not None
    state, prior = fit.permutations.state, fit.permutations.prior
    n, starts = problem.n_movable, problem.starts
    missed = 1.0 - prior.matched(n, state.mismatch_rate)
    fitted = state.fitted[:n]
    means = np.add.reduceat(missed * fitted, starts[:-1]) / np.add.reduceat(missed, starts[:-1])
    others = np.repeat(means, np.diff(starts))
    expected = state.fitted.copy()
    expected[:n] += missed * (others - fitted)
    return problem.restore(expected)
