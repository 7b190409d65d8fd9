r"""Counts with more variance than their mean: negative binomial of mean :math:`\mu = e^\eta`.

.. math::

    f = \frac{\Gamma(y + \theta)}{\Gamma(\theta)\, y!}
        \left(\frac{\theta}{\mu + \theta}\right)^\theta \left(\frac{\mu}{\mu + \theta}\right)^y,

so that :math:`u = \log(\mu / (\mu + \theta))` and :math:`v = y`. The variance is :math:`\mu +
\mu^2/\theta`; the dispersion reported is :math:`1/\theta`, estimated by maximum likelihood. The
exponential of a coefficient is a rate ratio.
"""

import numpy as np
from scipy.optimize import brentq
from scipy.special import digamma, gammaln, xlogy

from ..kernels.types import FloatArray
from .exponential import LabelFamily, LabelTerms, RowTerms, column
from .family import Interaction
from .poisson import check_counts, safe_exp

PRECISIONS = (1e-3, 1e6)  # beyond the upper one counts are Poisson's


class NegativeBinomial(LabelFamily):
    """Counts with the log link and a dispersion."""

    name = "negative-binomial"
    has_precision = True
    ratio = "rate ratio"

    def check_labels(self, labels: FloatArray) -> None:
        """Counts."""
        check_counts(labels, self.name)

    def row_terms(self, eta: FloatArray, precision: float) -> RowTerms:
        """``a = theta log(theta / (mu + theta))`` and ``u = log(mu / (mu + theta))``."""
        theta, mean = precision, safe_exp(eta)
        share = theta / (mean + theta)
        a = -theta * np.log1p(mean / theta)
        return RowTerms(
            a,
            column(eta - np.log(mean + theta)),
            -mean * share,
            column(share),
            a + theta * (1.0 - share),
            column(-share),
        )

    def label_terms(self, labels: FloatArray, precision: float) -> LabelTerms:
        """``v = y``."""
        theta = precision
        b = gammaln(labels + theta) - gammaln(theta) - gammaln(labels + 1.0)
        return LabelTerms(column(labels), b, theta * (digamma(labels + theta) - digamma(theta)))

    def fisher(self, eta: FloatArray, precision: float) -> FloatArray:
        """``mu theta / (mu + theta)``."""
        mean = safe_exp(eta)
        return np.asarray(mean * precision / (mean + precision))

    def mean(self, eta: FloatArray) -> FloatArray:
        """``exp(eta)``."""
        return safe_exp(eta)

    def link(self, mean: FloatArray) -> FloatArray:
        """Logarithm of the mean."""
        return np.asarray(np.log(np.maximum(mean, 1e-10)))

    def interaction(self, fitted: FloatArray, precision: float) -> Interaction:
        """``u = log(mu / (mu + theta))``."""
        return Interaction(fitted - np.log(safe_exp(fitted) + precision), 1.0)

    def variance(self, mean: FloatArray, precision: float) -> FloatArray:
        """``mu + mu² / theta``."""
        return np.asarray(mean + mean**2 / precision)

    def fit_precision(
        self, labels: FloatArray, eta: FloatArray, weights: FloatArray, n_parameters: int
    ) -> float:
        """Maximum likelihood at the given linear predictors."""

        def slope(log_precision: float) -> float:
            precision = float(np.exp(log_precision))
            rows, given = self.row_terms(eta, precision), self.label_terms(labels, precision)
            total = rows.a_log + rows.u_log[:, 0] * given.v[:, 0] + given.b_log
            return float(weights @ total)

        low, high = np.log(PRECISIONS[0]), np.log(PRECISIONS[1])
        if slope(high) >= 0.0:
            return PRECISIONS[1]
        if slope(low) <= 0.0:
            return PRECISIONS[0]
        return float(np.exp(brentq(slope, low, high, xtol=1e-12)))

    def deviance(self, labels: FloatArray, mean: FloatArray, precision: float) -> FloatArray:
        """``2 (y log(y / mean) - (y + theta) log((y + theta) / (mean + theta)))``."""
        shifted = (labels + precision) * np.log((labels + precision) / (mean + precision))
        return np.asarray(2.0 * (xlogy(labels, labels / mean) - shifted))

    def simulate(self, eta: FloatArray, precision: float, rng: np.random.Generator) -> FloatArray:
        """Counts."""
        mean = safe_exp(eta)
        draws = rng.negative_binomial(precision, precision / (mean + precision))
        return draws.astype(np.float64)


NEGATIVE_BINOMIAL = NegativeBinomial()
