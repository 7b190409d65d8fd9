r"""Counts: :math:`y \sim \mathrm{Poisson}(e^\eta)`, so that :math:`u = \eta` and :math:`v = y`.

.. math::

    \log f = y \eta - e^\eta - \log y!, \qquad a = -e^\eta, \quad b = -\log y!.

The exponential of a coefficient is a rate ratio; the logarithm of the exposure is an offset. There
is no dispersion; counts with more variance than their mean need the negative binomial family.
"""

import numpy as np
from scipy.special import gammaln, xlogy

from ..kernels.types import FloatArray
from .exponential import LabelFamily, LabelTerms, RowTerms, column
from .family import Interaction
from .row_errors import refuse_labels

LARGEST_ETA = 100.0  # beyond, exponentials and their squares leave what numbers can hold


def safe_exp(eta: FloatArray) -> FloatArray:
    """Exponential that stays finite while a fit tries steps that are too long."""
    value: FloatArray = np.exp(np.clip(eta, -LARGEST_ETA, LARGEST_ETA))
    return value


def check_counts(labels: FloatArray, name: str) -> None:
    """Whole numbers from 0 on, not all 0."""
    wrong = np.flatnonzero((labels < 0) | (labels != np.round(labels)))
    refuse_labels(labels, wrong, f"family={name!r} is for counts 0, 1, 2, ...")
    if not labels.any():
        raise ValueError(
            f"all {len(labels)} counts are 0: there is nothing to fit; check that y is the right "
            "column"
        )


class Poisson(LabelFamily):
    """Counts with the log link."""

    name = "poisson"
    ratio = "rate ratio"

    def check_labels(self, labels: FloatArray) -> None:
        """Counts."""
        check_counts(labels, self.name)

    def row_terms(self, eta: FloatArray, precision: float) -> RowTerms:
        """``a = -exp(eta)`` and ``u = eta``."""
        mean, zero = safe_exp(eta), np.zeros_like(eta)
        return RowTerms(-mean, column(eta), -mean, column(np.ones_like(eta)), zero, column(zero))

    def label_terms(self, labels: FloatArray, precision: float) -> LabelTerms:
        """``v = y`` and ``b = -log y!``."""
        return LabelTerms(column(labels), -gammaln(labels + 1.0), np.zeros(len(labels)))

    def fisher(self, eta: FloatArray, precision: float) -> FloatArray:
        """The mean."""
        return safe_exp(eta)

    def mean(self, eta: FloatArray) -> FloatArray:
        """``exp(eta)``."""
        return safe_exp(eta)

    def link(self, mean: FloatArray) -> FloatArray:
        """Logarithm of the mean."""
        return np.asarray(np.log(np.maximum(mean, 1e-10)))

    def interaction(self, fitted: FloatArray, precision: float) -> Interaction:
        """``u = eta``."""
        return Interaction(fitted, 1.0)

    def variance(self, mean: FloatArray, precision: float) -> FloatArray:
        """The mean."""
        return mean

    def deviance(self, labels: FloatArray, mean: FloatArray, precision: float) -> FloatArray:
        """``2 (y log(y / mean) - (y - mean))``."""
        return np.asarray(2.0 * (xlogy(labels, labels / mean) - (labels - mean)))

    def simulate(self, eta: FloatArray, precision: float, rng: np.random.Generator) -> FloatArray:
        """Counts."""
        return rng.poisson(safe_exp(eta)).astype(np.float64)


POISSON = Poisson()
