r"""A fit to the sums of labels in groups, which no shuffle inside groups changes.

The sum over a group has mean :math:`\sum_{i \in g} \mu(\eta_i)`, however its labels stand.
Quasi-likelihood, by Fisher scoring with step halving. Rows with a known label are groups of one.
"""

from typing import NamedTuple

import numpy as np

from ...families.exponential import LabelFamily
from ...families.irls import solve_positive
from ...kernels.types import FloatArray, IntArray
from .data import GlmData
from .inverse import inverse_information
from .settings import SUMS


class SumsFit(NamedTuple):
    """Coefficients from sums, and their covariance: not below what the family has it."""

    theta: FloatArray
    covariance: FloatArray


class SumsStep(NamedTuple):
    """One step of scoring from given coefficients.

    Attributes
    ----------
    step : array of shape (q,)
        Towards the coefficients that fit the sums best.
    covariance : array of shape (q, q)
        Of coefficients from sums alone.
    """

    step: FloatArray
    covariance: FloatArray


def edges_of_sums(data: GlmData) -> IntArray:
    """First row of each group; every pinned row is one."""
    pinned = np.arange(data.n_movable, data.problem.n_rows)
    edges: IntArray = np.concatenate([data.problem.starts[:-1], pinned])
    return edges


def step_by_sums(
    data: GlmData, family: LabelFamily, precision: float, theta: FloatArray
) -> SumsStep:
    """How far sums of groups would move given coefficients, and how exact they are."""
    edges = edges_of_sums(data)
    means, slopes, variances = _moments(data, family, precision, theta, edges)
    # Variances of families with a factor lack it: it is one over the precision.
    factor = 1.0 / precision if family.name in {"normal", "gamma"} else 1.0
    residual = np.add.reduceat(data.y, edges) - means
    information = slopes.T @ (slopes / (factor * variances)[:, None])
    covariance = inverse_information(information)
    step = covariance @ (slopes.T @ (residual / (factor * variances)))
    return SumsStep(step, covariance)


def fit_group_sums(
    data: GlmData, family: LabelFamily, precision: float, start: FloatArray
) -> SumsFit | None:
    """Coefficients from sums of groups; None where there are too few, or they are alike."""
    edges, q = edges_of_sums(data), data.Z.shape[1]
    if len(edges) < SUMS.groups_per_coefficient * q:
        return None
    sums = np.add.reduceat(data.y, edges)
    theta = start.copy()
    for _ in range(SUMS.max_iter):
        means, slopes, variances = _moments(data, family, precision, theta, edges)
        residual = sums - means
        information = slopes.T @ (slopes / variances[:, None])
        values = np.linalg.eigvalsh(information)
        if values[0] <= SUMS.smallest_share * values[-1]:
            return None
        step = solve_positive(information, slopes.T @ (residual / variances))
        best = float(residual**2 @ (1.0 / variances))
        step = _shortened(data, family, precision, theta, step, sums, edges, variances, best)
        theta = theta + step
        if float(np.abs(step).max()) < SUMS.tolerance:
            break
    # Variances of families with a factor lack it; what else varies more shows in the residuals.
    factor = 0.0 if family.name in {"normal", "gamma"} else 1.0
    scale = max(best / max(len(edges) - q, 1), factor)
    covariance = inverse_information(information) * scale
    return SumsFit(theta, covariance)


def _shortened(
    data: GlmData,
    family: LabelFamily,
    precision: float,
    theta: FloatArray,
    step: FloatArray,
    sums: FloatArray,
    edges: IntArray,
    variances: FloatArray,
    best: float,
) -> FloatArray:
    for _ in range(30):
        means, _, _ = _moments(data, family, precision, theta + step, edges)
        if float((sums - means) ** 2 @ (1.0 / variances)) <= best * (1.0 + 1e-9):
            return step
        step = 0.5 * step
    return np.zeros_like(step)


def _moments(
    data: GlmData, family: LabelFamily, precision: float, theta: FloatArray, edges: IntArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Means of sums, their derivatives by the coordinates, and their variances."""
    eta = data.offset + data.Z @ theta
    mean = family.mean(eta)
    slope = (family.mean(eta + 1e-5) - family.mean(eta - 1e-5)) / 2e-5
    means = np.add.reduceat(mean, edges)
    slopes = np.add.reduceat(slope[:, None] * data.Z, edges)
    variances = np.add.reduceat(family.variance(mean, precision), edges)
    return means, slopes, np.maximum(variances, 1e-300)
