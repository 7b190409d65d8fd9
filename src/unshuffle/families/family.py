r"""What a response family must offer; `normal.py` is the first, later ones add a file each.

For an exponential family in canonical form

.. math::

    \log f(y_j \mid x_i) = a_i + b_j + u_i v_j,

and an exchange of two labels changes the log-likelihood by
:math:`(u_i - u_k)(v_l - v_j)` alone. So the E-step needs `interaction` (u) and `statistic` (v), and
the M-step a solver for expected statistics.
"""

from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels.types import FloatArray, IntArray


class Interaction(NamedTuple):
    """The row's part of ``u_i v_j``, as ``u = weight · values``.

    Attributes
    ----------
    values : array of shape (n,)
        Rows are sorted by it.
    weight : float
        Positive.
    """

    values: FloatArray
    weight: float


class Solver(Protocol):
    """The M-step's knowledge of X, wherever its rows are.

    Attributes
    ----------
    rank : int
        Rank of X (centred when there is an intercept).
    n_parameters : int
        Coefficients that the data determine, the intercept included.
    dependent : array of int
        The columns that take part in a linear dependence.
    centre : array of shape (d,)
        Means of the columns; zero without an intercept.
    to_coef : array of shape (d, rank)
        From coordinates in an orthonormal basis to coefficients.
    """

    rank: int
    n_parameters: int
    dependent: IntArray
    centre: FloatArray
    to_coef: FloatArray
    fit_intercept: bool

    def length(self, coef: FloatArray) -> float:
        """Norm of ``X coef`` (centred)."""
        ...


class Estimate(NamedTuple):
    """What an M-step finds.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept : float
    fitted : array of shape (n,)
        In the order of the rows of X.
    objective : float
        What EM lowers; for the normal family the expected sum of squares.
    noise_scale : float
        Dispersion; 1 for families without one.
    """

    coef: FloatArray
    intercept: float
    fitted: FloatArray
    objective: float
    noise_scale: float


class Family(Protocol):
    """A law of the label given the row.

    Attributes
    ----------
    depends_on_difference : bool
        Whether the density depends on ``label - fitted`` alone, so that sums over all pairs are
        convolutions.
    """

    @property
    def depends_on_difference(self) -> bool:
        """Whether sums over all pairs are convolutions."""
        ...

    def interaction(self, fitted: FloatArray, noise_scale: float) -> Interaction:
        """The row's part u of the log-likelihood."""
        ...

    def statistic(self, labels: FloatArray) -> FloatArray:
        """The label's part v of the log-likelihood."""
        ...

    def log_density(self, labels: FloatArray, fitted: FloatArray, noise_scale: float) -> FloatArray:
        """Log density of labels at fitted values, up to a constant; arrays broadcast."""
        ...

    def density(self, labels: FloatArray, fitted: FloatArray, noise_scale: float) -> FloatArray:
        """Density of labels at fitted values; arrays broadcast."""
        ...

    def simulate(
        self, fitted: FloatArray, noise_scale: float, rng: np.random.Generator
    ) -> FloatArray:
        """Labels drawn at the fitted values."""
        ...

    def solver(self, X: FloatArray, *, fit_intercept: bool, ridge: float = 0.0) -> Any:
        """What the M-step computes once: X factored."""
        ...

    def solve(
        self, solver: Any, expected: FloatArray, spread: float, label_spread: float
    ) -> Estimate:
        """M-step: parameters from expected statistics beside the rows of X.

        `spread` is the variance of the labels around them, summed over rows, and `label_spread` the
        standard deviation of all labels.
        """
        ...

    def noise_scale(self, objective: float, freedom: int, label_spread: float) -> float:
        """Dispersion from the objective."""
        ...
