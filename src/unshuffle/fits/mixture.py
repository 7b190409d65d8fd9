"""The two-component mixture: a label is the row's own, or one of the labels at large."""

import numpy as np

from ..alignment.density import kernel_density
from ..families.least_squares import LeastSquares
from ..inference.mixture_information import MixturePoint
from ..kernels.types import FloatArray
from ..search.law_mixture import Limits, fit_law_mixture
from ..search.robust import NO_CLUES
from ..search.robust import fit_mixture as climb_mixture
from .clued_mixture import fit_clued_mixture
from .data import InMemory
from .mixture_errors import law_errors, law_scale, mixture_fit, plain_covariance
from .results import MixtureFit, design_of
from .settings import MixtureSettings
from .stochastic import labels_as_given


def fit_mixture(data: InMemory, settings: MixtureSettings) -> MixtureFit:
    """Fit the mixture by EM from two starts.

    Parameters
    ----------
    data : InMemory
        Its match probabilities, where there are any, take the place of the rate.
    settings : MixtureSettings

    Returns
    -------
    fit : MixtureFit
    """
    if data.clues is not None:
        return fit_clued_mixture(data, settings)
    if settings.noise != "normal":
        return _fit_with_law(data, settings)
    problem = data.problem
    solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept)
    pinned = np.zeros(problem.n_rows)
    pinned[problem.n_movable :] = 1.0
    y, known = problem.restore(problem.y), problem.restore(pinned) == 1.0
    match_prob = None if data.match_prob is None else problem.restore(data.match_prob)
    mixture = climb_mixture(
        solver,
        y,
        mismatch_rate=settings.mismatch_rate,
        match_prob=match_prob,
        known=known,
        max_iter=settings.max_iter,
        tol=settings.tol,
    )
    given = match_prob
    if given is None and settings.mismatch_rate is not None:
        given = np.full(problem.n_rows, 1.0 - settings.mismatch_rate)
    residual = y - solver.predict(mixture.coef, mixture.intercept)
    point = MixturePoint(residual, mixture.noise_scale, kernel_density(y), NO_CLUES)
    errors = plain_covariance(solver, point, mixture.mismatch_rate, known, given)
    return mixture_fit(data, solver, mixture, errors)


def _mismatched(matched: FloatArray) -> float:
    """Share of mismatches among the rows that can move; none where there are no such rows."""
    return 1.0 - float(matched.mean()) if len(matched) else 0.0


def _fit_with_law(data: InMemory, settings: MixtureSettings) -> MixtureFit:
    """The same with noise of another law, and a density of other labels tied to the model."""
    problem = data.problem
    solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept)
    mixture = fit_law_mixture(
        problem,
        solver,
        settings.noise,
        Limits(settings.max_iter, settings.tol),
        mismatch_rate=settings.mismatch_rate,
        match_prob=data.match_prob,
    )
    found, errors = mixture.found, law_errors(data, solver, mixture, settings.mismatch_rate)
    solution = solver.solve(problem.restore(found.fitted))
    noise_scale, rate = law_scale(problem, found), _mismatched(found.matched[: problem.n_movable])
    return MixtureFit(
        coef=solution.coef,
        intercept=solution.intercept,
        noise_scale=noise_scale,
        mismatch_rate=rate,
        match_proba=problem.restore(found.matched),
        mean_log_density=found.log_likelihood / problem.n_rows,
        n_iter=mixture.n_iter,
        converged=mixture.converged,
        noise=mixture.shape.name,
        design=design_of(problem.n_rows, problem.n_groups, solver),
        covariance=errors.coef,
        noise_scale_se=noise_scale * errors.log_noise**0.5,
        mismatch_rate_se=errors.rate_error(rate),
        as_given=labels_as_given(data, solver),
    )
