"""Standard errors of a mixture of own and other labels, and the fit that carries them."""

import numpy as np

from ..families.least_squares import LeastSquares
from ..families.match_logit import LogitSettings, MatchLogit, make_match_logit
from ..inference.match_model import MatchModel
from ..inference.mixture_information import JointCovariance, MixturePoint, mixture_covariance
from ..kernels.types import BoolArray, FloatArray
from ..search.robust import Mixture
from .data import InMemory
from .results import MixtureFit, design_of
from .stochastic import labels_as_given

WITHOUT_RIDGE = LogitSettings(ridge=0.0)


def plain_covariance(
    solver: LeastSquares,
    y: FloatArray,
    mixture: Mixture,
    density: FloatArray,
    known: BoolArray,
    given: FloatArray | float | None,
) -> JointCovariance:
    """Covariance of coefficients, log noise and, where it was estimated, the logit of the rate.

    Parameters
    ----------
    solver : LeastSquares
    y, density : arrays of shape (n,)
        Labels, and the density of labels at large at each of them; in the user's order.
    mixture : Mixture
    known : array of bool of shape (n,)
        Rows whose label is surely their own.
    given : array of shape (n,), float or None
        Probability that a label is the row's own, where it was given; None where the rate was
        estimated.
    """
    residual = y - solver.predict(mixture.coef, mixture.intercept)

    def at(clue_coef: FloatArray) -> MixturePoint:
        return MixturePoint(residual, mixture.noise_scale, density, clue_coef)

    rate = mixture.mismatch_rate
    if given is None and not known.all():
        free = make_match_logit(
            np.empty((len(y), 0)),
            match_prob=None,
            movable=~known,
            largest_rate=None,
            settings=WITHOUT_RIDGE,
        )
        found = mixture_covariance(solver, at(np.log([(1.0 - rate) / rate])), free)
        if np.isfinite(found.coef).all():
            return found
        # A rate at its bound of zero has no curvature; the others are found with it held.
    return mixture_covariance(
        solver, at(np.empty(0)), _held(1.0 - rate if given is None else given, known)
    )


def _held(own: FloatArray | float, known: BoolArray) -> MatchLogit:
    """Probabilities that stay as they are: a match model without coefficients."""
    n, none = len(known), np.empty(0)
    return MatchLogit(
        np.empty((n, 0)),
        np.zeros(n),
        np.zeros(n, dtype=np.bool_),
        np.where(known, 1.0, own),
        none,
        none,
        settings=WITHOUT_RIDGE,
    )


def mixture_fit(
    data: InMemory,
    solver: LeastSquares,
    mixture: Mixture,
    errors: JointCovariance,
    model: MatchModel | None = None,
) -> MixtureFit:
    """A mixture with normal noise and its standard errors; `model` says who is mismatched."""
    problem, rate = data.problem, mixture.mismatch_rate
    one_rate = model is None and errors.clues.size > 0
    return MixtureFit(
        coef=mixture.coef,
        intercept=mixture.intercept,
        noise_scale=mixture.noise_scale,
        mismatch_rate=rate,
        match_proba=mixture.match_proba,
        mean_log_density=mixture.log_likelihood,
        n_iter=mixture.n_iter,
        converged=mixture.converged,
        noise="normal",
        design=design_of(problem.n_rows, problem.n_groups, solver),
        match_model=model,
        covariance=errors.coef,
        # The delta method leads from the logarithm and the logit to the scale people read.
        noise_scale_se=mixture.noise_scale * errors.log_noise**0.5,
        mismatch_rate_se=(
            rate * (1.0 - rate) * float(errors.clues[0, 0]) ** 0.5 if one_rate else float("nan")
        ),
        as_given=labels_as_given(data, solver),
    )
