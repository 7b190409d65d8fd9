r"""Exact observed information of the mixture of own and other labels, with a model of mismatches.

A row's label has density :math:`p_i g((y_i - \mu_i) / s) / s + (1 - p_i) f(y_i)`, with the law g of
the noise, standard normal or another one, and :math:`\mathrm{logit}\,p_i` linear in clues
:math:`z_i`. Given which labels are own ones the score would be :math:`m_i u_i` and
:math:`(m_i - p_i) z_i`, where :math:`u_i` is the score of the density of own labels in coefficients
and :math:`\log s`. By Louis' formula (1982), with the posterior probability :math:`m_i` of an own
label,

.. math::

    I = \sum_i m_i A_i \oplus p_i (1 - p_i) z_i z_i^\top
        - \sum_i m_i (1 - m_i) c_i c_i^\top, \qquad c_i = (u_i, z_i),

where :math:`A_i` is the negative second derivative of the log density of own labels.
"""

from typing import NamedTuple

import numpy as np

from ..families.least_squares import LeastSquares
from ..families.match_logit import MatchLogit
from ..families.noise import STANDARD_NORMAL, noise_density, noise_slopes
from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray


class JointCovariance(NamedTuple):
    """Covariance of regression and match model.

    Attributes
    ----------
    coef : array of shape (k, k)
        Of intercept (where there is one) and coefficients.
    log_noise : float
        Variance of the logarithm of the noise scale.
    clues : array of shape (1 + q, 1 + q)
        Of the standardised coefficients of the match model.
    """

    coef: FloatArray
    log_noise: float
    clues: FloatArray

    def rate_error(self, rate: float) -> float:
        """Standard error of a rate whose logit was estimated, by the delta method; else nan."""
        if not self.clues.size:
            return float("nan")
        return rate * (1.0 - rate) * float(np.sqrt(self.clues[0, 0]))


class MixturePoint(NamedTuple):
    """Where the mixture is differentiated; vectors in the order of the solver's rows.

    Attributes
    ----------
    residual : array of shape (n,)
    noise_scale : float
    density : array of shape (n,)
        Of the labels at large.
    clue_coef : array of shape (1 + q,)
    law : NoiseLaw
        Of the noise, in units of its scale.
    """

    residual: FloatArray
    noise_scale: float
    density: FloatArray
    clue_coef: FloatArray
    law: NoiseLaw = STANDARD_NORMAL


def own_probabilities(point: MixturePoint, logit: MatchLogit) -> FloatArray:
    """Posterior probability that each label is the row's own."""
    p = logit.probabilities(point.clue_coef)
    own = p * noise_density(point.residual / point.noise_scale, point.law) / point.noise_scale
    total = own + (1.0 - p) * point.density
    share = np.divide(own, total, out=np.zeros_like(own), where=total > 0.0)
    return np.where(p == 1.0, 1.0, share)


def mixture_information(solver: LeastSquares, point: MixturePoint, logit: MatchLogit) -> FloatArray:
    """Observed information; shape (k, k).

    Coordinates are the mean (of length one, where there is an intercept), the orthonormal basis of
    X, the logarithm of the noise, and the standardised coefficients of the match model, whose ridge
    is part of it.
    """
    basis, s = _basis(solver), point.noise_scale
    r = point.residual / s
    matched = own_probabilities(point, logit)
    slope, bend = noise_slopes(r, point.law)
    size, n_clues = basis.shape[1], logit.size
    score = np.column_stack([basis * (slope / s)[:, None], r * slope - 1.0, logit.columns])
    information = np.zeros((size + 1 + n_clues, size + 1 + n_clues))
    information[:size, :size] = (basis * (matched * bend)[:, None]).T @ basis / s**2
    cross = basis.T @ (matched * (slope + r * bend)) / s
    information[:size, size] = information[size, :size] = cross
    information[size, size] = float(matched @ (r * (slope + r * bend)))
    spread = logit.spread(point.clue_coef)
    information[size + 1 :, size + 1 :] = (logit.columns * spread[:, None]).T @ logit.columns
    information -= (score * (matched * (1.0 - matched))[:, None]).T @ score
    information[size + 1 :, size + 1 :] += np.diag(logit.penalty)
    return information


def mixture_scores(solver: LeastSquares, point: MixturePoint, logit: MatchLogit) -> FloatArray:
    """Derivatives of the log density of each label, in the coordinates of the information."""
    r = point.residual / point.noise_scale
    matched = own_probabilities(point, logit)
    slope = noise_slopes(r, point.law)[0]
    away = matched - logit.probabilities(point.clue_coef)
    return np.column_stack([
        _basis(solver) * (matched * slope / point.noise_scale)[:, None],
        matched * (r * slope - 1.0),
        logit.columns * away[:, None],
    ])  # fmt: skip


def mixture_covariance(
    solver: LeastSquares, point: MixturePoint, logit: MatchLogit
) -> JointCovariance:
    """Inverse of the observed information, in the units of X."""
    information = mixture_information(solver, point, logit)
    size, bound = int(solver.fit_intercept) + solver.rank, None
    if logit.at_bound(point.clue_coef):
        coef, columns = point.clue_coef, logit.columns
        distance = own_probabilities(point, logit) - logit.probabilities(coef)
        gradient = columns.T @ distance - logit.penalty * coef
        information[size + 1 :, size + 1 :] += logit.bound_curvature(coef, gradient)
        bound = np.concatenate([np.zeros(size + 1), logit.rate_gradient(coef)])
    return _in_units(solver, invert_beside_bound(information, bound))


def outer_product_covariance(
    solver: LeastSquares, point: MixturePoint, logit: MatchLogit
) -> JointCovariance:
    """Inverse of the sum of products of scores, which estimates the same and is never negative.

    Near a steep side of the law of the noise the observed information need not be positive.
    """
    scores = mixture_scores(solver, point, logit)
    return _in_units(solver, _inverse(scores.T @ scores))


def sandwich_covariance(
    solver: LeastSquares, point: MixturePoint, logit: MatchLogit
) -> JointCovariance:
    """The sandwich of the likelihood equations, which holds if the law is not quite right too."""
    inverse = _inverse(mixture_information(solver, point, logit))
    units = mixture_scores(solver, point, logit) @ inverse
    return _in_units(solver, units.T @ units)


def _in_units(solver: LeastSquares, inverse: FloatArray) -> JointCovariance:
    """From the coordinates of the information to coefficients."""
    size, leads = int(solver.fit_intercept) + solver.rank, lead_to_coef(solver)
    return JointCovariance(
        leads @ inverse[:size, :size] @ leads.T,
        float(inverse[size, size]),
        inverse[size + 1 :, size + 1 :],
    )


def invert_beside_bound(information: FloatArray, bound: FloatArray | None) -> FloatArray:
    """Inverse of an information; along a bound that decides the answer, nothing can vary.

    Parameters
    ----------
    information : array of shape (k, k)
    bound : array of shape (k,) or None
        Gradient of what is bounded; None where no bound decides.
    """
    if bound is None:
        return _inverse(information)
    free = np.linalg.svd(bound[None])[2][1:].T
    return np.asarray(free @ _inverse(free.T @ information @ free) @ free.T)


def _inverse(information: FloatArray) -> FloatArray:
    """Inverse in units of the diagonal; nan where the information is not positive definite."""
    unit = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, axes = np.linalg.eigh(information / np.outer(unit, unit))
    if values.min() <= 1e-12:
        return np.full_like(information, np.nan)
    return np.asarray((axes / values) @ axes.T / np.outer(unit, unit))


def lead_to_coef(solver: LeastSquares) -> FloatArray:
    """Matrix from the coordinates of the basis to intercept and coefficients."""
    n, first = len(solver.X), int(solver.fit_intercept)
    leads = np.zeros((first + len(solver.to_coef), first + solver.rank))
    leads[first:, first:] = solver.to_coef
    if first:
        leads[0] = np.append(n**-0.5, -solver.centre @ solver.to_coef)
    return leads


def _basis(solver: LeastSquares) -> FloatArray:
    basis = solver.basis()
    if not solver.fit_intercept:
        return basis
    n = len(basis)
    return np.column_stack([np.full(n, n**-0.5), basis])
