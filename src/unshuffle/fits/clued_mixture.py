"""The two-component mixture with a model of who is mismatched."""

import numpy as np

from ..alignment.density import kernel_density
from ..families.least_squares import LeastSquares
from ..families.match_logit import MatchLogit, make_match_logit
from ..inference.match_model import make_match_model
from ..inference.mixture_information import MixturePoint, mixture_covariance, own_probabilities
from ..search.robust import Mixture
from ..search.robust import fit_mixture as climb_mixture
from .data import InMemory
from .results import MixtureFit, design_of
from .settings import MixtureSettings


def logit_of(data: InMemory) -> MatchLogit:
    """The model of mismatches of a table, in the arranged order."""
    clues, problem = data.clues, data.problem
    assert clues is not None
    return make_match_logit(
        clues.values,
        match_prob=data.match_prob,
        movable=np.arange(problem.n_rows) < problem.n_movable,
        largest_rate=clues.largest_rate,
    )


def in_users_order(data: InMemory, logit: MatchLogit) -> MatchLogit:
    """The same model, beside the rows as they were given."""
    return logit.take(data.problem.arranged_rows(np.arange(data.problem.n_rows)))


def climb_with_clues(
    data: InMemory, solver: LeastSquares, logit: MatchLogit, max_iter: int = 500, tol: float = 1e-8
) -> Mixture:
    """EM of the mixture; `logit` is in the user's order, as are the vectors of the answer."""
    problem = data.problem
    pinned = np.zeros(problem.n_rows)
    pinned[problem.n_movable :] = 1.0
    return climb_mixture(
        solver,
        problem.restore(problem.y),
        known=problem.restore(pinned) == 1.0,
        max_iter=max_iter,
        tol=tol,
        clues=logit,
    )


def fit_clued_mixture(data: InMemory, settings: MixtureSettings) -> MixtureFit:
    """Fit coefficients, noise and the match model by EM, with their joint covariance.

    Parameters
    ----------
    data : InMemory
        With clues; its match probabilities, where there are any, are offsets.
    settings : MixtureSettings

    Returns
    -------
    fit : MixtureFit
    """
    clues, problem = data.clues, data.problem
    assert clues is not None
    refuse_law(settings)
    solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept)
    logit = in_users_order(data, logit_of(data))
    mixture = climb_with_clues(data, solver, logit, settings.max_iter, settings.tol)
    y = problem.restore(problem.y)
    point = MixturePoint(
        y - solver.predict(mixture.coef, mixture.intercept),
        mixture.noise_scale,
        kernel_density(y),
        mixture.clue_coef,
    )
    covariance = mixture_covariance(solver, point, logit)
    matched = own_probabilities(point, logit)
    model = make_match_model(
        logit, mixture.clue_coef, covariance.clues, clues.names, clues.dropped, matched
    )
    return MixtureFit(
        coef=mixture.coef,
        intercept=mixture.intercept,
        noise_scale=mixture.noise_scale,
        mismatch_rate=mixture.mismatch_rate,
        match_proba=mixture.match_proba,
        mean_log_density=mixture.log_likelihood,
        n_iter=mixture.n_iter,
        converged=mixture.converged,
        noise="normal",
        design=design_of(problem.n_rows, problem.n_groups, solver),
        match_model=model,
        covariance=covariance.coef,
    )


def refuse_law(settings: MixtureSettings) -> None:
    """The match model is fitted with normal noise and an estimated rate."""
    if settings.noise not in {"normal", "auto"}:
        raise ValueError(
            f"match_features goes with noise='normal' only, got noise={settings.noise!r}; leave "
            "one of the two out"
        )
    if settings.mismatch_rate is not None:
        raise ValueError(
            f"match_features estimates the rate of mismatches, but mismatch_rate="
            f"{settings.mismatch_rate!r} fixes it; use mismatch_rate='estimate', with "
            "mismatch_rate_max as a bound"
        )
