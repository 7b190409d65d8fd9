r"""Proper, wide priors of the parameters of a family.

With Z the (orthogonal) columns of unit variance in which a fit is made, :math:`\tau` the scale of
linear predictors (the standard deviation of normal labels, 1 for others, whose linear predictors
are logs) and :math:`\varphi` the precision,

.. math::

    \theta_j \sim N(0, 100\, \tau^2), \quad \theta_0 \sim N(m_0, 100\, \tau^2), \quad
    \varphi^{-1/2} \sim \text{half-}t_3(\tau), \quad \alpha \sim \text{Beta}(a, b),

where :math:`m_0` is the linear predictor of the mean label, and :math:`\alpha`, the rate of
mismatches, is uniform unless an audit says more.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from ...families.exponential import LabelFamily
from ...inference.audited_rate import Audit
from ...kernels.types import FloatArray
from .data import GlmData

WIDE, FREEDOM = 10.0, 3.0


@dataclass(frozen=True, eq=False)
class FamilyPrior:
    """Priors of packed parameters: coordinates, log precision and logit of the share redrawn.

    Attributes
    ----------
    centre : array of shape (q,)
        Mean of the coordinates.
    spread : float
        Their standard deviation.
    scale : float
        Of the half-t prior.
    rate_shape : pair of float
        Of the Beta prior of the rate of mismatches.
    others : float
        Share of redrawn labels that are another row's: the rate over the share redrawn.
    """

    centre: FloatArray
    spread: float
    scale: float
    rate_shape: tuple[float, float] = (1.0, 1.0)
    others: float = 1.0

    @property
    def information(self) -> FloatArray:
        """Of the coordinates."""
        value: FloatArray = np.eye(len(self.centre)) / self.spread**2
        return value

    def of_theta(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """Log density of coordinates, and its gradient."""
        off = (theta - self.centre) / self.spread
        return -0.5 * float(off @ off), -off / self.spread

    def of_log_precision(self, log_precision: float) -> tuple[float, float]:
        """The same of a log precision, whose root is one over what has the prior."""
        square = float(np.exp(-log_precision)) / (FREEDOM * self.scale**2)
        value = -0.5 * (FREEDOM + 1.0) * np.log1p(square) - 0.5 * log_precision
        return float(value), 0.5 * (FREEDOM + 1.0) * square / (1.0 + square) - 0.5

    def of_logit(self, logit: float) -> tuple[float, float]:
        """The same of the logit of the share of redrawn labels."""
        share = float(expit(logit))
        rate, (a, b) = share * self.others, self.rate_shape
        own = float(np.log(share) + np.log1p(-share)) if 0.0 < share < 1.0 else -np.inf
        value = (a - 1.0) * np.log(max(rate, 1e-300)) + (b - 1.0) * np.log1p(-rate) + own
        slope = (a - 1.0) * (1.0 - share)
        slope += 1.0 - 2.0 * share - (b - 1.0) * rate * (1.0 - share) / (1.0 - rate)
        return float(value), float(slope)


def prior_of(data: GlmData, family: LabelFamily, audit: Audit | None) -> FamilyPrior:
    """Wide priors on the scale of the labels; an audit is that of the rate of mismatches."""
    mean = float(np.average(data.y, weights=data.weights))
    tau = 1.0
    if family.name == "normal":
        tau = float(np.average((data.y - mean) ** 2, weights=data.weights)) ** 0.5
    centre = np.zeros(data.Z.shape[1])
    if data.design.fit_intercept:
        centre[0] = float(family.link(np.array([mean]))[0]) - float(np.mean(data.offset))
    shape, others = (1.0, 1.0), 1.0
    if audit is not None:
        shape = (1.0 + int(audit.wrong), 1.0 + int(audit.checked) - int(audit.wrong))
    if data.n_movable:
        n = data.n_movable
        share = 1.0 - data.weights[:n] / data.block_weights()
        others = float(np.average(share, weights=data.weights[:n]))
    return FamilyPrior(centre, WIDE * tau, tau, shape, others)
