"""Standard errors of a mixture of own and other labels, and the fit that carries them."""

from collections.abc import Callable

import numpy as np

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..families.match_logit import LogitSettings, MatchLogit, make_match_logit
from ..inference.match_model import MatchModel
from ..inference.mixture_information import (
    JointCovariance,
    MixturePoint,
    mixture_covariance,
    outer_product_covariance,
)
from ..kernels.types import BoolArray, FloatArray
from ..search.law_mixture import LawMixture
from ..search.noise_model import NoiseFit
from ..search.robust import NO_CLUES, Mixture
from .data import InMemory
from .results import MixtureFit, design_of
from .stochastic import labels_as_given

Estimate = Callable[[LeastSquares, MixturePoint, MatchLogit], JointCovariance]
NAN = float("nan")
WITHOUT_RIDGE = LogitSettings(ridge=0.0)


def plain_covariance(
    solver: LeastSquares,
    point: MixturePoint,
    rate: float,
    known: BoolArray,
    given: FloatArray | float | None,
    estimate: Estimate = mixture_covariance,
) -> JointCovariance:
    """Covariance of coefficients, log noise and, where it was estimated, the logit of the rate.

    Parameters
    ----------
    solver : LeastSquares
    point : MixturePoint
        Where the mixture ended, without coefficients of clues; in the user's order.
    rate : float
        Of mismatches.
    known : array of bool of shape (n,)
        Rows whose label is surely their own.
    given : array of shape (n,), float or None
        Probability that a label is the row's own, where it was given; None where the rate was
        estimated.
    estimate : callable
        Of the covariance; where it fails, products of scores give it.
    """
    held = (point, _held(1.0 - rate if given is None else given, known))
    tried = [(estimate, *held), (outer_product_covariance, *held)]
    if given is None and not known.all() and rate > 0.0:
        logit = make_match_logit(
            np.empty((len(known), 0)),
            match_prob=None,
            movable=~known,
            largest_rate=None,
            settings=WITHOUT_RIDGE,
        )
        free = (point._replace(clue_coef=np.log([(1.0 - rate) / rate])), logit)
        # A rate at its bound of zero has no curvature; the others are found with it held.
        if rate * float((~known).sum()) >= 1.0:
            tried.insert(0, (outer_product_covariance, *free))
        tried.insert(0, (estimate, *free))
    found = (way(solver, at, logit) for way, at, logit in tried)
    return next((one for one in found if np.isfinite(one.coef).all()), _undetermined(solver))


def _undetermined(solver: LeastSquares) -> JointCovariance:
    size = int(solver.fit_intercept) + len(solver.to_coef)
    return JointCovariance(np.full((size, size), NAN), NAN, np.empty((0, 0)))


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
        mismatch_rate_se=NAN if model is not None else errors.rate_error(rate),
        as_given=labels_as_given(data, solver),
    )


def law_scale(problem: Problem, found: NoiseFit) -> float:
    """Standard deviation of the noise."""
    squares, n_own = found.matched @ (problem.y - found.fitted) ** 2, float(found.matched.sum())
    # Where no label is a row's own, none shows the noise either; it is at most the labels' spread.
    return float(np.sqrt(squares / n_own)) if n_own else problem.label_spread


def law_errors(
    data: InMemory,
    solver: LeastSquares,
    mixture: LawMixture,
    mismatch_rate: float | None,
    estimate: Estimate = mixture_covariance,
) -> JointCovariance:
    """Covariance at the end of a mixture with its own law, whose shape is taken as known."""
    problem, found = data.problem, mixture.found
    pinned = problem.restore((np.arange(problem.n_rows) >= problem.n_movable).astype(float))
    given: FloatArray | float | None = None
    if data.match_prob is not None:
        given = problem.restore(data.match_prob)
    elif mismatch_rate is not None:
        given = 1.0 - mismatch_rate
    point = MixturePoint(
        problem.restore(problem.y - found.fitted),
        1.0,
        problem.restore(mixture.elsewhere),
        NO_CLUES,
        found.law,
    )
    errors = plain_covariance(solver, point, found.rate, pinned == 1.0, given, estimate)
    n_own, n_parameters = float(found.matched.sum()), mixture.shape.n_parameters
    left = n_own - solver.n_parameters - n_parameters
    if left <= 0.0:
        return _undetermined(solver)
    factor = n_own / left  # as in least squares, the parameters of the law counted
    return JointCovariance(factor * errors.coef, factor * errors.log_noise, factor * errors.clues)
