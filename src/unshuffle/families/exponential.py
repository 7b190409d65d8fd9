r"""Families of labels other than normal ones: the interface that fits and E-steps use.

The density of label j at a row of linear predictor :math:`\eta_i` and precision :math:`\varphi` is

.. math::

    \log f(y_j \mid \eta_i) = a(\eta_i) + u(\eta_i) \cdot v(y_j) + b(y_j).

Only :math:`u \cdot v` matters to an exchange of labels. For all families but Cox u and v are
numbers, for Cox they are pairs. The M-step maximises :math:`\sum_i W_i a(\eta_i) + u(\eta_i) \cdot
S_i` over the coefficients, where W and S are expected weights and statistics (`irls`).
"""

from abc import ABC, abstractmethod
from typing import ClassVar, NamedTuple

import numpy as np

from ..kernels.types import FloatArray
from .family import Interaction


class RowTerms(NamedTuple):
    r"""The row's part of the log density, with its derivatives.

    Attributes
    ----------
    a, a_eta, a_log : arrays of shape (n,)
        :math:`a`, and its derivatives by :math:`\eta` and by :math:`\log \varphi`.
    u, u_eta, u_log : arrays of shape (n, k)
        The same of :math:`u`.
    """

    a: FloatArray
    u: FloatArray
    a_eta: FloatArray
    u_eta: FloatArray
    a_log: FloatArray
    u_log: FloatArray


class LabelTerms(NamedTuple):
    r"""The label's part of the log density.

    Attributes
    ----------
    v : array of shape (n, k)
    b, b_log : arrays of shape (n,)
        :math:`b`, and its derivative by :math:`\log \varphi`.
    """

    v: FloatArray
    b: FloatArray
    b_log: FloatArray


class LabelFamily(ABC):
    """A law of the label given the linear predictor.

    Attributes
    ----------
    name : str
        As users write it.
    has_precision : bool
        Whether there is a precision to estimate.
    ratio : str
        What the exponential of a coefficient is; empty where it is nothing.
    """

    name: ClassVar[str]
    has_precision: ClassVar[bool] = False
    ratio: ClassVar[str] = ""

    @abstractmethod
    def check_labels(self, labels: FloatArray) -> None:
        """Refuse labels that the family cannot have; name the family that would fit."""

    @abstractmethod
    def row_terms(self, eta: FloatArray, precision: float) -> RowTerms:
        """The row's part of the log density."""

    @abstractmethod
    def label_terms(self, labels: FloatArray, precision: float) -> LabelTerms:
        """The label's part of the log density."""

    @abstractmethod
    def fisher(self, eta: FloatArray, precision: float) -> FloatArray:
        """Expected information about the linear predictor in one label."""

    @abstractmethod
    def mean(self, eta: FloatArray) -> FloatArray:
        """Expected label."""

    @abstractmethod
    def link(self, mean: FloatArray) -> FloatArray:
        """Linear predictor of rows with these expected labels."""

    @abstractmethod
    def interaction(self, fitted: FloatArray, precision: float) -> Interaction:
        """The row's part u, increasing in the linear predictor, for chains over permutations."""

    @abstractmethod
    def deviance(self, labels: FloatArray, mean: FloatArray, precision: float) -> FloatArray:
        """Deviance of each label."""

    @abstractmethod
    def variance(self, mean: FloatArray, precision: float) -> FloatArray:
        """Variance of a label as a function of its mean."""

    @abstractmethod
    def simulate(self, eta: FloatArray, precision: float, rng: np.random.Generator) -> FloatArray:
        """Labels drawn at linear predictors."""

    def statistic(self, labels: FloatArray) -> FloatArray:
        """The label's part v, one number."""
        return labels

    def fit_precision(
        self, labels: FloatArray, eta: FloatArray, weights: FloatArray, n_parameters: int
    ) -> float:
        """Precision of labels in known order; 1 for families without one."""
        return 1.0

    def curvature(
        self, eta: FloatArray, precision: float, weights: FloatArray, sums: FloatArray
    ) -> FloatArray:
        """Information about the linear predictor in expected weights and statistics."""
        return weights * self.fisher(eta, precision)

    def dispersion(self, precision: float) -> float:
        """The number that users know: 1 for families without one."""
        return 1.0 / precision

    def log_density(self, labels: FloatArray, eta: FloatArray, precision: float) -> FloatArray:
        """Log density of labels beside rows."""
        rows, given = self.row_terms(eta, precision), self.label_terms(labels, precision)
        value: FloatArray = rows.a + (rows.u * given.v).sum(axis=1) + given.b
        return value


def column(values: FloatArray) -> FloatArray:
    """A vector as a matrix of one column."""
    return np.ascontiguousarray(values, dtype=np.float64)[:, None]
