"""The mixture of own and other labels by maximum likelihood, under a law of the noise.

Where the noise is far from normal the coefficients are more exact than least squares with the order
known: rows far from the line count less. They estimate the same slopes only if the law of the noise
does not depend on the features.
"""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..families.noise import NoiseShape, component_shares
from ..kernels.types import FloatArray
from .curve import plane
from .noise_model import NoiseFit, NoiseModel
from .rate_profile import profile_rate, shapes_named
from .robust import WeightedFit
from .settings import DEFAULT, SearchSettings


class LawMixture(NamedTuple):
    """A fitted mixture.

    Attributes
    ----------
    shape : NoiseShape
    found : NoiseFit
        Its fitted values are means of the labels, and the mean of its law is zero.
    elsewhere : array of shape (n,)
        Density of each label at other rows.
    n_iter : int
    converged : bool
    """

    shape: NoiseShape
    found: NoiseFit
    elsewhere: FloatArray
    n_iter: int
    converged: bool


@dataclass(frozen=True)
class Limits:
    """When the iterations stop."""

    max_iter: int
    tol: float


def fit_law_mixture(
    problem: Problem,
    solver: LeastSquares,
    noise: str,
    limits: Limits,
    *,
    mismatch_rate: float | None = None,
    match_prob: FloatArray | None = None,
    settings: SearchSettings = DEFAULT,
) -> LawMixture:
    """Start where fitted values are tied to least squares, then maximise the likelihood.

    Parameters
    ----------
    problem : Problem
    solver : LeastSquares
    noise : {"auto", "t", "mixture"}
    limits : Limits
    mismatch_rate : float, optional
        Kept as it is; None estimates it.
    match_prob : array of shape (n,), optional
        Given probabilities, arranged.
    """
    X = problem.X[problem.user_rows(np.arange(problem.n_rows))]
    curve = plane(X, problem.y, problem.starts, settings.curve)
    model = NoiseModel(curve, match_prob, settings.profile)
    # A spread that follows the fitted values would let the likelihood pull the slopes.
    shapes = tuple(shape for shape in shapes_named(noise) if not shape.by_fit)
    if mismatch_rate is None and match_prob is None:
        profile = profile_rate(model, shapes)
        shape, found = profile.shape, profile.best
    else:
        rate = 0.0 if mismatch_rate is None else mismatch_rate
        fits = {shape: model.fit(shape, rate, *model.start(shape)) for shape in shapes}
        cost = float(np.log(problem.n_rows))
        shape = min(fits, key=lambda s: s.n_parameters * cost - 2.0 * fits[s].log_likelihood)
        found = fits[shape]
    estimates = mismatch_rate is None and match_prob is None
    log_unit = float(np.log(problem.label_spread or 1.0))
    converged, n_iter = False, 0
    while not converged and n_iter < limits.max_iter:
        n_iter += 1
        before = found.log_likelihood / problem.n_rows
        fitted = _weighted_step(problem, solver, found)
        rate = model.next_rate(found) if estimates else found.rate
        found = model.around(shape, rate, found.law, found.growth, fitted, centred=False)
        change = found.log_likelihood / problem.n_rows - before
        # The density of standardised labels: units must not decide when to stop.
        converged = abs(change) <= limits.tol * (1.0 + abs(before + log_unit))
    found = _centred(found)
    return LawMixture(shape, found, model.elsewhere(found), n_iter, converged)


def _centred(found: NoiseFit) -> NoiseFit:
    """The same fit, with the mean of the law in the fitted values."""
    law = found.law
    mean = float(law.weights @ law.means)
    fitted = found.fitted + mean * float(found.spread.mean())
    return replace(found, fitted=fitted, law=law._replace(means=law.means - mean))


def _weighted_step(problem: Problem, solver: LeastSquares, found: NoiseFit) -> FloatArray:
    """Weighted least squares: every component of the noise asks for its own centre and weight."""
    law, spread = found.law, found.spread
    shares = component_shares((problem.y - found.fitted) / spread, law)
    precision = shares / law.scales**2
    total = precision.sum(axis=1)
    centred = problem.y - spread * (precision @ law.means) / total
    weights = problem.restore(found.matched * total / spread**2)
    labels = problem.restore(centred)
    if weights.max() == 0.0:  # no label is a row's own, so that none says anything of the slopes
        return found.fitted
    return problem.arrange(WeightedFit(solver, labels).fit(weights / weights.max()))
