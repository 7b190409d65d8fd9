r"""The normal family: ``y ~ N(fitted, s²)``, so that ``u = fitted / s²`` and ``v = y``.

The M-step of the coefficients is least squares on the expected labels (`least_squares`, or
`normal_equations` where rows are read in passes).
"""

import math

import numpy as np

from ..kernels.types import FloatArray
from .family import Estimate, Interaction
from .least_squares import LeastSquares

# A noise of zero would make every proposal a division by zero; this is far below rounding.
SMALLEST_RELATIVE_NOISE = 1e-10


class Normal:
    """Labels with normal noise of one standard deviation."""

    depends_on_difference = True

    def interaction(self, fitted: FloatArray, noise_scale: float) -> Interaction:
        """``u = fitted / s²``."""
        return Interaction(fitted, noise_scale**-2.0)

    def statistic(self, labels: FloatArray) -> FloatArray:
        """The labels themselves."""
        return labels

    def log_density(self, labels: FloatArray, fitted: FloatArray, noise_scale: float) -> FloatArray:
        """``-(y - fitted)² / 2 s²``."""
        with np.errstate(over="ignore"):  # so far away that the density is zero
            value: FloatArray = -0.5 * ((labels - fitted) / noise_scale) ** 2
        return value

    def density(self, labels: FloatArray, fitted: FloatArray, noise_scale: float) -> FloatArray:
        """The normal density."""
        height: FloatArray = np.exp(self.log_density(labels, fitted, noise_scale))
        height /= noise_scale * np.sqrt(2.0 * np.pi)
        return height

    def simulate(
        self, fitted: FloatArray, noise_scale: float, rng: np.random.Generator
    ) -> FloatArray:
        """Fitted values plus noise."""
        labels = rng.standard_normal(len(fitted))
        labels *= noise_scale
        labels += fitted
        return labels

    def solver(self, X: FloatArray, *, fit_intercept: bool, ridge: float = 0.0) -> LeastSquares:
        """Least squares with one design and many right-hand sides."""
        return LeastSquares(X, fit_intercept=fit_intercept, ridge=ridge)

    def solve(
        self, solver: LeastSquares, expected: FloatArray, spread: float, label_spread: float
    ) -> Estimate:
        """Least squares on the expected labels; the noise includes their spread."""
        solution = solver.solve(expected)
        objective = solution.residual_ss + spread
        freedom = len(expected) - solver.n_parameters
        noise = self.noise_scale(objective, freedom, label_spread)
        return Estimate(solution.coef, solution.intercept, solution.fitted, objective, noise)

    def noise_scale(self, objective: float, freedom: int, label_spread: float) -> float:
        """Root of the mean square, over the degrees of freedom that the coefficients leave."""
        floor = SMALLEST_RELATIVE_NOISE * label_spread
        return max(math.sqrt(objective / freedom), floor)


NORMAL = Normal()
