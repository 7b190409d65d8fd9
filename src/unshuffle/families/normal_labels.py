r"""Normal labels, as a family with weights and offsets: :math:`y \sim N(\eta, 1/\varphi)`.

.. math::

    \log f = \varphi y \eta - \varphi \eta^2 / 2 - \varphi y^2 / 2 + \log(\varphi / 2 \pi) / 2,

so that :math:`u = \varphi \eta` and :math:`v = y`. Fits without weights and offsets use `normal`,
with the permutation model.
"""

import numpy as np

from ..kernels.types import FloatArray
from .exponential import LabelFamily, LabelTerms, RowTerms, column
from .family import Interaction


class NormalLabels(LabelFamily):
    """Labels with normal noise of one standard deviation."""

    name = "normal"
    has_precision = True

    def check_labels(self, labels: FloatArray) -> None:
        """Labels that vary."""
        if np.all(labels == labels[0]):
            raise ValueError(f"all {len(labels)} labels equal {labels[0]:g}: nothing to fit")

    def row_terms(self, eta: FloatArray, precision: float) -> RowTerms:
        """``a = -precision eta² / 2`` and ``u = precision eta``."""
        a, u = -0.5 * precision * eta**2, column(precision * eta)
        return RowTerms(a, u, -precision * eta, column(np.full_like(eta, precision)), a, u)

    def label_terms(self, labels: FloatArray, precision: float) -> LabelTerms:
        """``v = y``."""
        squares = -0.5 * precision * labels**2
        return LabelTerms(
            column(labels), squares + 0.5 * np.log(0.5 * precision / np.pi), squares + 0.5
        )

    def fisher(self, eta: FloatArray, precision: float) -> FloatArray:
        """The precision."""
        return np.full(len(eta), precision)

    def mean(self, eta: FloatArray) -> FloatArray:
        """The linear predictor."""
        return eta

    def link(self, mean: FloatArray) -> FloatArray:
        """The mean."""
        return mean

    def interaction(self, fitted: FloatArray, precision: float) -> Interaction:
        """``u = precision eta``."""
        return Interaction(fitted, precision)

    def variance(self, mean: FloatArray, precision: float) -> FloatArray:
        """One; the dispersion is a factor."""
        return np.ones_like(mean)

    def fit_precision(
        self, labels: FloatArray, eta: FloatArray, weights: FloatArray, n_parameters: int
    ) -> float:
        """Inverse of the mean squared residual."""
        squares = float(weights @ (labels - eta) ** 2)
        floor = 1e-20 * float(weights @ (labels - labels.mean()) ** 2)
        return (float(weights.sum()) - n_parameters) / max(squares, floor)

    def deviance(self, labels: FloatArray, mean: FloatArray, precision: float) -> FloatArray:
        """Squared residual."""
        return np.asarray((labels - mean) ** 2)

    def simulate(self, eta: FloatArray, precision: float, rng: np.random.Generator) -> FloatArray:
        """Linear predictors plus noise."""
        return np.asarray(eta + rng.standard_normal(len(eta)) / precision**0.5)


NORMAL_LABELS = NormalLabels()
