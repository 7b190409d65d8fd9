"""The two-component mixture: a label is the row's own, or one of the labels at large."""

import numpy as np

from ..alignment.density import kernel_density
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from ..search.law_mixture import Limits, fit_law_mixture
from ..search.robust import fit_mixture as climb_mixture
from .clued_mixture import fit_clued_mixture
from .data import InMemory
from .mixture_errors import mixture_fit, plain_covariance
from .results import MixtureFit, design_of
from .settings import MixtureSettings


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
    errors = plain_covariance(solver, y, mixture, kernel_density(y), known, given)
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
    found = mixture.found
    solution = solver.solve(problem.restore(found.fitted))
    squares, n_own = found.matched @ (problem.y - found.fitted) ** 2, float(found.matched.sum())
    # Where no label is a row's own, none shows the noise either; it is at most the labels' spread.
    noise_scale = float(np.sqrt(squares / n_own)) if n_own else problem.label_spread
    return MixtureFit(
        coef=solution.coef,
        intercept=solution.intercept,
        noise_scale=noise_scale,
        mismatch_rate=_mismatched(found.matched[: problem.n_movable]),
        match_proba=problem.restore(found.matched),
        mean_log_density=found.log_likelihood / problem.n_rows,
        n_iter=mixture.n_iter,
        converged=mixture.converged,
        noise=mixture.shape.name,
        design=design_of(problem.n_rows, problem.n_groups, solver),
    )
