"""The two-component mixture with a model of who is mismatched."""

import numpy as np

from ..alignment.density import kernel_density
from ..families.least_squares import LeastSquares
from ..families.match_logit import MatchLogit, make_match_logit
from ..inference.match_model import make_match_model
from ..inference.mixture_information import MixturePoint, mixture_covariance, own_probabilities
from ..kernels.types import FloatArray
from ..search.robust import Mixture
from ..search.robust import fit_mixture as climb_mixture
from .data import InMemory
from .mixture_errors import mixture_fit
from .results import MixtureFit
from .settings import MixtureSettings

# Times that the density of other labels is estimated anew, each after a fit to this tolerance.
DENSITY_ROUNDS, ROUGHLY = 2, 1e-6


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
) -> tuple[Mixture, FloatArray]:
    """EM of the mixture, and the density of other labels that it used.

    `logit` is in the user's order, as are the vectors of the answer. Labels of other rows are those
    of mismatched rows, which clues may make different from labels at large. So after a first fit
    the density is estimated again, from labels weighed by how probable mismatches are; squared,
    because own labels stand beside doubtful rows as well.
    """
    problem = data.problem
    pinned = np.zeros(problem.n_rows)
    pinned[problem.n_movable :] = 1.0
    y, known = problem.restore(problem.y), problem.restore(pinned) == 1.0

    def climb(density: FloatArray, tol: float) -> Mixture:
        return climb_mixture(
            solver, y, known=known, max_iter=max_iter, tol=tol, clues=logit, density=density
        )

    density = kernel_density(y)
    for _ in range(DENSITY_ROUNDS):
        first = climb(density, max(tol, ROUGHLY))
        weights = (1.0 - logit.probabilities(first.clue_coef)) ** 2
        density = kernel_density(y, weights)
    return climb(density, tol), density


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
    mixture, density = climb_with_clues(data, solver, logit, settings.max_iter, settings.tol)
    y = problem.restore(problem.y)
    point = MixturePoint(
        y - solver.predict(mixture.coef, mixture.intercept),
        mixture.noise_scale,
        density,
        mixture.clue_coef,
    )
    covariance = mixture_covariance(solver, point, logit)
    matched = own_probabilities(point, logit)
    model = make_match_model(
        logit, mixture.clue_coef, covariance.clues, clues.names, clues.dropped, matched
    )
    return mixture_fit(data, solver, mixture, covariance, model)


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
