"""Does the order in which the labels were given say anything about the rows?"""

import numpy as np
from scipy.stats import chi2

from ...families.cox import Times
from ...kernels.types import FloatArray
from .data import GlmData


def order_p_value(data: GlmData, labels: FloatArray) -> float:
    """p-value of the labels as given against labels shuffled inside groups.

    The sum of products of features and labels, centred inside groups, has a mean of zero over all
    shuffles and a covariance that is known; in units of that covariance its square is close to χ².
    Nothing is drawn at random. `labels` are numbers that stand for the labels, arranged.
    """
    n, starts = data.n_movable, data.problem.starts
    if n == 0:
        return float("nan")
    weights = data.weights[:n]
    sums = np.add.reduceat(weights, starts[:-1])
    sizes = np.diff(starts)

    def centred(values: FloatArray) -> FloatArray:
        means = np.add.reduceat(weights[:, None] * values, starts[:-1]) / sums[:, None]
        value: FloatArray = values - np.repeat(means, sizes, axis=0)
        return value

    Z = centred(data.Z[:n, int(data.design.fit_intercept) :])
    v = centred(labels[:n, None])[:, 0]
    squares = np.add.reduceat(weights * v**2, starts[:-1]) / np.maximum(sums - 1.0, 1e-12)
    total = Z.T @ (weights * v)
    covariance = Z.T @ ((weights * np.repeat(squares, sizes))[:, None] * Z)
    values, axes = np.linalg.eigh(covariance)
    kept = values > 1e-10 * max(values.max(initial=0.0), 1e-300)
    if not kept.any() or values.max() <= 0.0:
        return float("nan")
    square = float(((axes[:, kept].T @ total) ** 2 / values[kept]).sum())
    return float(chi2.sf(square, int(kept.sum())))


def scores_of_times(times: Times, weights: FloatArray) -> FloatArray:
    """Events less the cumulative hazard of all rows alike (martingale residuals)."""
    jumps = times.hazard(np.ones(len(weights)), weights)
    value: FloatArray = times.event - times.cumulative(jumps)
    return value
