"""Labels in lost order whose noise is not normal: from a fit with normal noise to another law."""

from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from scipy.stats import chi2

from ..alignment.law_chain import LawAlignment, LawChain
from ..alignment.law_sinkhorn import LawSinkhorn
from ..alignment.state import State
from ..em.law import LawTable
from ..em.law_information import law_covariance
from ..em.loop import EMResult, average_last, run_em
from ..em.squarem import SquaremAcceleration
from ..em.stopping import StopWhenStable
from ..families.least_squares import LeastSquares
from ..families.noise import NoiseShape, first_law
from ..inference.law_likelihood import log_likelihood_gains
from ..inference.permutations import likely_permutation
from ..inference.sandwich import Robust
from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray
from .data import InMemory
from .progress import Progress, Reporting, quiet
from .results import Errors, StochasticFit, iterations_of, uncertainty_of
from .settings import AutoSettings

SHAPES = {
    "t": (NoiseShape("t"),),
    "mixture": (NoiseShape("mixture", 2), NoiseShape("mixture", 3, free_means=True)),
}
MOST_SWEEPS = 40  # of an iteration: small tables need no more


@dataclass(frozen=True, eq=False)
class LawFit:
    """The law of the noise of labels in lost order.

    Attributes
    ----------
    name : {"t", "mixture"}
    law : NoiseLaw
    gain : float
        Log likelihood, less that with normal noise, less what an information criterion (BIC) takes
        for the further parameters.
    distance : float
        Of the fitted values from those with normal noise, relative to their length.
    p_value : float
        Of slopes equal to those with normal noise, by the standard errors of the latter.
    """

    name: str
    law: NoiseLaw
    gain: float
    distance: float
    p_value: float


@dataclass(frozen=True, eq=False)
class _Candidate:
    """A fit with laws of one shape."""

    table: LawTable
    state: State
    result: EMResult[LawAlignment]
    gain: float


def fit_with_law(
    data: InMemory,
    fit: StochasticFit,
    solver: LeastSquares,
    settings: AutoSettings,
    *,
    reporting: Reporting = quiet,
) -> tuple[StochasticFit, LawFit]:
    """Continue a fit with normal noise under the law that `settings.noise` names.

    Parameters
    ----------
    data : InMemory
        The data of the fit.
    fit : StochasticFit
        With normal noise, neither tempered nor penalised.
    solver : LeastSquares
        X, factored without a ridge.
    settings : AutoSettings
    reporting : callable
        Opens a report of the iterations.

    Returns
    -------
    fit : StochasticFit
    law : LawFit
    """
    normal = _normal_state(fit)
    found = [
        _fit_shape(data, normal, solver, shape, settings, reporting)
        for shape in SHAPES[settings.noise]
    ]
    best = max(found, key=lambda one: one.gain)
    assert best.state.law is not None
    moved = float(np.linalg.norm(best.state.fitted - normal.fitted))
    length = float(np.linalg.norm(normal.fitted - normal.fitted.mean()))
    law = LawFit(
        settings.noise,
        best.state.law,
        best.gain,
        moved / length if length else 0.0,
        _p_value(fit, best.state.coef),
    )
    return _assemble(data, fit, best, settings), law


def _p_value(fit: StochasticFit, coef: FloatArray) -> float:
    """Wald's test of the coefficients of a fit, over the directions that the data determine."""
    assert fit.uncertainty is not None
    spread = fit.uncertainty.covariance[int(fit.design.fit_intercept) :, :]
    spread = spread[:, int(fit.design.fit_intercept) :]
    if fit.design.rank == 0 or not np.isfinite(spread).all():
        return float("nan")
    unit = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    away = (coef - fit.coef) / unit
    inverse = np.linalg.pinv(spread / np.outer(unit, unit), rcond=1e-10, hermitian=True)
    return float(chi2.sf(float(away @ inverse @ away), fit.design.rank))


def _normal_state(fit: StochasticFit) -> State:
    """Where a fit with normal noise ended, with its law written as one normal."""
    assert fit.permutations is not None
    state = fit.permutations.state
    law = NoiseLaw(np.ones(1), np.zeros(1), np.array([state.noise_scale]))
    return state._replace(law=law)


def _fit_shape(
    data: InMemory,
    normal: State,
    solver: LeastSquares,
    shape: NoiseShape,
    settings: AutoSettings,
    reporting: Reporting,
) -> _Candidate:
    """EM with laws of one shape."""
    problem, em = data.problem, settings.em
    wanted = 2 * em.iteration.fewest_steps // max(problem.n_movable, 1)
    sweeps = min(max(2 * em.iteration.sweeps, wanted), MOST_SWEEPS)
    n_warm = max(1, int(em.iteration.burn_in * sweeps))
    chain = LawChain(problem, settings.seed, n_warm, sweeps - n_warm)
    aligner = LawSinkhorn(problem) if settings.alignment == "sinkhorn" else None
    table = LawTable(problem, solver, shape, chain, aligner)
    total, steps = em.iteration.max_iter, count(1)
    with reporting(total, f"iterations with {shape.name} noise") as report:
        result = run_em(
            table,
            normal._replace(law=first_law(shape, normal.noise_scale)),
            max_iter=total,
            stop=StopWhenStable(table, em.iteration.tolerance, em.iteration.window),
            report=lambda step: report(Progress(next(steps), total, step.objective)),
            accelerate=SquaremAcceleration(
                table, em.iteration.squarem_window, with_rate=False, settings=em.squarem
            ),
        )
    state = average_last(table, result, 2 * em.iteration.window)
    further = 0.5 * (shape.n_parameters - 1) * float(np.log(problem.n_rows))
    gain = float(log_likelihood_gains(problem, settings.seed, normal, state).sum())
    return _Candidate(table, state, result, gain - further)


def _assemble(
    data: InMemory, fit: StochasticFit, best: _Candidate, settings: AutoSettings
) -> StochasticFit:
    """The fit with what the law changes: estimates, errors and matches."""
    problem, posterior, sums = data.problem, fit.permutations, best.result.alignment.sums
    assert posterior is not None and fit.matches is not None
    state = best.state._replace(perm=best.result.alignment.perm, match_proba=sums.matched)
    covariance = law_covariance(best.table, state)
    rate = float(1.0 - sums.matched.mean())
    uncertainty = uncertainty_of(covariance.model, state, rate, fit.design)
    n_units = problem.n_blocks + problem.n_rows - problem.n_movable
    robust = Robust(covariance.robust, min(fit.design.freedom, n_units - 1))
    errors = Errors("model", uncertainty, fit.design.freedom, robust=robust)
    if settings.covariance == "robust":
        found = uncertainty_of(robust.covariance, state, rate, fit.design)
        errors = Errors("robust", found, robust.freedom, robust=robust)
    return replace(
        fit,
        coef=state.coef,
        intercept=state.intercept,
        noise_scale=state.noise_scale,
        mismatch_rate=rate,
        iterations=iterations_of(best.result),
        acceptance_rate=best.result.alignment.acceptance_rate,
        matches=replace(
            fit.matches,
            expected_labels=problem.restore(sums.expected),
            match_proba=problem.restore(sums.matched),
            permutation=problem.restore_permutation(
                likely_permutation(problem, posterior.prior, state)
            ),
        ),
        uncertainty=uncertainty,
        errors=errors,
        permutations=replace(posterior, state=state),
    )
