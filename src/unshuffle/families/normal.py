r"""The normal family: ``y ~ N(fitted, s²)``, so that ``u = fitted / s²`` and ``v = y``.

The M-step of the coefficients is least squares on the expected labels (`least_squares`, or
`normal_equations` where rows are read in passes).
"""

import math

import numpy as np

from ..kernels.types import FloatArray
from .family import Interaction

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

    def noise_scale(self, sum_of_squares: float, freedom: int, label_spread: float) -> float:
        """Root of the mean square, over the degrees of freedom that the coefficients leave."""
        floor = SMALLEST_RELATIVE_NOISE * label_spread
        return max(math.sqrt(sum_of_squares / freedom), floor)


NORMAL = Normal()
