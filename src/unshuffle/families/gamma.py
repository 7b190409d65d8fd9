r"""Positive labels of one coefficient of variation: Gamma, mean :math:`e^\eta`, shape :math:`\nu`.

.. math::

    \log f = -\nu y e^{-\eta} - \nu \eta + \nu \log \nu - \log \Gamma(\nu) + (\nu - 1) \log y,

so that :math:`u = -\nu e^{-\eta}`, :math:`v = y` and :math:`a = -\nu \eta`. The exponential of a
coefficient is a ratio of means. The dispersion is :math:`1/\nu`, the square of the coefficient of
variation: Pearson's estimate where the order is known, maximum likelihood elsewhere.
"""

import numpy as np
from scipy.special import digamma, gammaln

from ..kernels.types import FloatArray
from .exponential import LabelFamily, LabelTerms, RowTerms, column
from .family import Interaction
from .poisson import safe_exp
from .row_errors import refuse_labels


class Gamma(LabelFamily):
    """Positive labels with the log link."""

    name = "gamma"
    has_precision = True
    ratio = "ratio of means"

    def check_labels(self, labels: FloatArray) -> None:
        """Positive numbers."""
        wrong = np.flatnonzero(labels <= 0)
        refuse_labels(labels, wrong, "family='gamma' is for positive labels")
        if np.all(labels == labels[0]):
            raise ValueError(f"all {len(labels)} labels equal {labels[0]:g}: nothing to fit")

    def row_terms(self, eta: FloatArray, precision: float) -> RowTerms:
        """``a = -nu eta`` and ``u = -nu exp(-eta)``."""
        u = -precision * safe_exp(-eta)
        a = -precision * eta
        return RowTerms(a, column(u), np.full_like(eta, -precision), column(-u), a, column(u))

    def label_terms(self, labels: FloatArray, precision: float) -> LabelTerms:
        """``v = y``."""
        nu, logs = precision, np.log(labels)
        b = nu * np.log(nu) - gammaln(nu) + (nu - 1.0) * logs
        return LabelTerms(column(labels), b, nu * (np.log(nu) + 1.0 - digamma(nu) + logs))

    def fisher(self, eta: FloatArray, precision: float) -> FloatArray:
        """The shape."""
        return np.full(len(eta), precision)

    def mean(self, eta: FloatArray) -> FloatArray:
        """``exp(eta)``."""
        return safe_exp(eta)

    def link(self, mean: FloatArray) -> FloatArray:
        """Logarithm of the mean."""
        return np.asarray(np.log(mean))

    def interaction(self, fitted: FloatArray, precision: float) -> Interaction:
        """``u = -nu exp(-eta)``."""
        return Interaction(-safe_exp(-fitted), precision)

    def variance(self, mean: FloatArray, precision: float) -> FloatArray:
        """The squared mean; the dispersion is a factor."""
        return mean**2

    def fit_precision(
        self, labels: FloatArray, eta: FloatArray, weights: FloatArray, n_parameters: int
    ) -> float:
        """Inverse of the mean squared relative residual (Pearson)."""
        relative = labels * safe_exp(-eta) - 1.0
        squares = float(weights @ relative**2)
        return (float(weights.sum()) - n_parameters) / max(squares, 1e-12)

    def deviance(self, labels: FloatArray, mean: FloatArray, precision: float) -> FloatArray:
        """``2 (y / mean - 1 - log(y / mean))``."""
        relative = labels / mean
        return np.asarray(2.0 * (relative - 1.0 - np.log(relative)))

    def simulate(self, eta: FloatArray, precision: float, rng: np.random.Generator) -> FloatArray:
        """Positive numbers."""
        return np.asarray(rng.gamma(precision, safe_exp(eta) / precision))


GAMMA = Gamma()
