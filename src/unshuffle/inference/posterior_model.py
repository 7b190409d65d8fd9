"""What the chains of a posterior share, their initial values, and what they record."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..alignment.priors import Prior
from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray, IntArray
from .mismatches import RatePosterior
from .parameter_prior import ParameterPrior


class Model:
    """What all chains share: data in the orthonormal basis, and priors.

    Attributes
    ----------
    basis : array of shape (n, rank)
        Orthonormal basis of the (centred) columns of X, arranged.
    to_coef : array of shape (d, rank)
        Leads from coordinates to coefficients.
    """

    def __init__(
        self, problem: Problem, solver: LeastSquares, prior: Prior, parameters: ParameterPrior
    ) -> None:
        self.problem = problem
        self.prior = prior
        self.parameters = parameters
        self.fit_intercept = solver.fit_intercept
        self.centre = solver.centre
        # A second factorisation makes the basis orthonormal to the last bits where X is not
        # well conditioned.
        basis, triangle = np.linalg.qr((solver.X - solver.centre) @ solver.to_coef)
        self.to_coef: FloatArray = np.linalg.solve(triangle.T, solver.to_coef.T).T.astype(
            np.float64
        )
        self._to_theta: FloatArray = triangle @ solver.to_theta
        order = slice(None) if problem.order is None else problem.order
        self.basis = np.ascontiguousarray(basis[order])
        self.rank = self.basis.shape[1]
        self.samples_rate = prior.estimates and problem.n_movable > 0
        self.rates = (
            RatePosterior(problem.starts, parameters.rate_shape) if self.samples_rate else None
        )

    def coordinates(self, coef: FloatArray) -> FloatArray:
        """Coordinates of coefficients; those of the undetermined directions play no role."""
        theta: FloatArray = self._to_theta @ coef
        return theta

    def coef(self, theta: FloatArray) -> FloatArray:
        """Coefficients of coordinates, one or many rows of them."""
        return np.asarray(theta @ self.to_coef.T)


class Start(NamedTuple):
    """Initial values of a chain: coordinates, noise, permutation, rate of mismatches."""

    theta: FloatArray
    noise_scale: float
    perm: IntArray
    rate: float


@dataclass(frozen=True, eq=False)
class Record:
    """Draws of one chain.

    Attributes
    ----------
    theta : array of shape (n_draws, rank)
    centre, noise_scale, rate : arrays of shape (n_draws,)
        Fitted value of the mean row, noise, rate of mismatches.
    """

    theta: FloatArray
    centre: FloatArray
    noise_scale: FloatArray
    rate: FloatArray
