"""What least squares on the labels as given leaves, in a few numbers."""

import numpy as np
from scipy.stats import f as fisher

from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from ..search.robust import median_scale


def radius_of(reference: LeastSquares, y: FloatArray) -> float:
    """95 % radius of least squares, as a share of its length."""
    solution, freedom = reference.solve(y), len(y) - reference.n_parameters
    length = reference.length(solution.coef)
    if length == 0.0 or freedom < 1:
        return float("inf")
    return noise_radius(reference, float(np.sqrt(solution.residual_ss / freedom)), freedom) / length


def noise_radius(reference: LeastSquares, noise: float, freedom: int) -> float:
    """95 % radius of a fit with known order and so much noise."""
    return noise * float(np.sqrt(reference.rank * fisher.ppf(0.95, reference.rank, freedom)))


def tail_share(residual: FloatArray, scales: float) -> float:
    """Share of residuals that lie many robust standard deviations from their median."""
    size = np.abs(residual - np.median(residual))
    return float(np.mean(size > scales * median_scale(size)))


def largest_share(reference: LeastSquares, y: FloatArray) -> float:
    """Share of the residual sum of squares that one label holds."""
    squares = (y - reference.solve(y).fitted) ** 2
    return float(squares.max() / max(float(squares.sum()), 1e-300))


def r_squared(reference: LeastSquares, y: FloatArray) -> float:
    """Share of the labels' variance that least squares explains."""
    total = float(((y - y.mean()) ** 2).sum())
    return 1.0 - reference.solve(y).residual_ss / total if total > 0.0 else 0.0
