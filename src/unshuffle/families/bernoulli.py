r"""Yes/no labels: :math:`P(y = 1) = 1 / (1 + e^{-\eta})`; :math:`u = \eta` and :math:`v = y`.

.. math::

    \log f = y \eta - \log(1 + e^\eta), \qquad a = -\log(1 + e^\eta), \quad b = 0.

The exponential of a coefficient is an odds ratio. There is no dispersion.
"""

import numpy as np
from scipy.special import expit, xlogy

from ..kernels.types import FloatArray
from .exponential import LabelFamily, LabelTerms, RowTerms, column
from .family import Interaction


class Bernoulli(LabelFamily):
    """Labels 0 and 1 with the logit link."""

    name = "bernoulli"
    ratio = "odds ratio"

    def check_labels(self, labels: FloatArray) -> None:
        """Two classes, coded 0 and 1."""
        wrong = np.flatnonzero((labels != 0) & (labels != 1))
        if len(wrong):
            raise ValueError(
                f"yes/no labels are 0 or 1, but row {wrong[0]} has {labels[wrong[0]]:g}; "
                "ShuffledClassifier takes any two classes, ShuffledRegressor other labels"
            )
        if np.all(labels == labels[0]):
            raise ValueError(
                f"all {len(labels)} labels are {labels[0]:g}: there is only one class, and nothing "
                "to fit; check that y is the right column"
            )

    def row_terms(self, eta: FloatArray, precision: float) -> RowTerms:
        """``a = -log(1 + exp(eta))`` and ``u = eta``."""
        zero, one = np.zeros_like(eta), np.ones_like(eta)
        return RowTerms(
            -np.logaddexp(0.0, eta), column(eta), -expit(eta), column(one), zero, column(zero)
        )

    def label_terms(self, labels: FloatArray, precision: float) -> LabelTerms:
        """``v = y`` and ``b = 0``."""
        zero = np.zeros(len(labels))
        return LabelTerms(column(labels), zero, zero)

    def fisher(self, eta: FloatArray, precision: float) -> FloatArray:
        """``p (1 - p)``."""
        return np.asarray(expit(eta) * expit(-eta))

    def mean(self, eta: FloatArray) -> FloatArray:
        """Probability of label 1."""
        return np.asarray(expit(eta))

    def link(self, mean: FloatArray) -> FloatArray:
        """Logit of the mean."""
        inside = np.clip(mean, 1e-6, 1.0 - 1e-6)
        return np.asarray(np.log(inside / (1.0 - inside)))

    def interaction(self, fitted: FloatArray, precision: float) -> Interaction:
        """``u = eta``."""
        return Interaction(fitted, 1.0)

    def variance(self, mean: FloatArray, precision: float) -> FloatArray:
        """``p (1 - p)``."""
        return mean * (1.0 - mean)

    def deviance(self, labels: FloatArray, mean: FloatArray, precision: float) -> FloatArray:
        """``-2 log f``."""
        return np.asarray(-2.0 * (xlogy(labels, mean) + xlogy(1.0 - labels, 1.0 - mean)))

    def simulate(self, eta: FloatArray, precision: float, rng: np.random.Generator) -> FloatArray:
        """Zeros and ones."""
        return np.asarray(rng.random(len(eta)) < expit(eta), dtype=np.float64)


BERNOULLI = Bernoulli()
