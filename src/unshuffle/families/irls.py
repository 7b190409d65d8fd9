r"""The M-step of every family but the normal one: Fisher scoring with step halving.

It maximises :math:`\sum_i W_i a(\eta_i) + u(\eta_i) \cdot S_i` over :math:`\theta` in :math:`\eta =
\text{offset} + Z \theta`. With W the weights and S the weighted labels this is a generalised linear
model; with expected ones it is the M-step of EM.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.types import FloatArray
from .design import Design
from .exponential import LabelFamily
from .settings import IRLS


class Scored(NamedTuple):
    """A maximum of the expected log-likelihood.

    Attributes
    ----------
    theta : array of shape (q,)
    eta : array of shape (n,)
    information : array of shape (q, q)
        Expected information at the maximum.
    """

    theta: FloatArray
    eta: FloatArray
    information: FloatArray
    converged: bool
    n_iter: int


def maximise(
    family: LabelFamily,
    Z: FloatArray,
    offset: FloatArray,
    weights: FloatArray,
    sums: FloatArray,
    precision: float = 1.0,
    start: FloatArray | None = None,
    ridge: FloatArray | None = None,
) -> Scored:
    """Coefficients of expected weights (n,) and statistics (n, k).

    `ridge` is the matrix of a quadratic penalty, of which half is taken.
    """
    penalty = np.zeros((Z.shape[1], Z.shape[1])) if ridge is None else ridge
    theta = first_guess(family, Z, offset, weights, sums) if start is None else start.copy()

    def objective(at: FloatArray) -> float:
        eta = offset + Z @ at
        found = expected_log_density(family, eta, precision, weights, sums)
        return found - 0.5 * float(at @ penalty @ at)

    value = objective(theta)
    for number in range(IRLS.max_iter):
        eta = offset + Z @ theta
        rows = family.row_terms(eta, precision)
        by_eta = weights * rows.a_eta + (sums * rows.u_eta).sum(axis=1)
        gradient = Z.T @ by_eta - penalty @ theta
        information = information_of(Z, family.curvature(eta, precision, weights, sums))
        information += penalty
        step = solve_positive(information, gradient)
        # The objective may be a small difference of large sums, and is rounded as these are.
        size = 1.0 + float(np.abs(weights * rows.a).sum() + np.abs(sums * rows.u).sum())
        if float(gradient @ step) < IRLS.smallest_gain * size:
            # Too small to be seen in the objective, this step still adds digits.
            theta = theta + step
            return Scored(theta, offset + Z @ theta, information, True, number)
        for _ in range(IRLS.halvings):
            moved = objective(theta + step)
            if np.isfinite(moved) and moved >= value - IRLS.rounding * size:
                break
            step = 0.5 * step
        else:  # nothing but rounding is left
            return Scored(theta, eta, information, True, number)
        theta, value = theta + step, moved
    return Scored(theta, offset + Z @ theta, information, False, IRLS.max_iter)


def first_guess(
    family: LabelFamily, Z: FloatArray, offset: FloatArray, weights: FloatArray, sums: FloatArray
) -> FloatArray:
    """Least squares on the linked labels, each moved half-way to their mean."""
    used = weights > 0.0
    mean = float(sums[:, 0].sum() / weights.sum())
    labels = np.full(len(weights), mean)
    labels[used] = 0.5 * (sums[used, 0] / weights[used] + mean)
    target = family.link(labels) - offset
    root = np.sqrt(weights)
    return np.asarray(np.linalg.lstsq(Z * root[:, None], target * root, rcond=None)[0], dtype=float)


def expected_log_density(
    family: LabelFamily,
    eta: FloatArray,
    precision: float,
    weights: FloatArray,
    sums: FloatArray,
) -> float:
    """What the M-step maximises."""
    rows = family.row_terms(eta, precision)
    return float(weights @ rows.a + (rows.u * sums).sum())


def information_of(Z: FloatArray, curvature: FloatArray) -> FloatArray:
    """``Z' diag(curvature) Z``."""
    value: FloatArray = Z.T @ (curvature[:, None] * Z)
    return value


def solve_positive(information: FloatArray, gradient: FloatArray) -> FloatArray:
    """A step uphill, also where the information is singular."""
    try:
        step: FloatArray = np.asarray(np.linalg.solve(information, gradient), dtype=float)
        if np.isfinite(step).all():
            return step
    except np.linalg.LinAlgError:
        pass
    return np.asarray(np.linalg.lstsq(information, gradient, rcond=1e-12)[0], dtype=float)


def separated_column(
    design: Design,
    theta: FloatArray,
    eta: FloatArray,
    offset: FloatArray,
    information: FloatArray,
) -> int | None:
    """Number of a column that separates the labels, so that its coefficient is infinite.

    There the information about some direction has vanished, while linear predictors have left the
    range in which labels say anything about them.
    """
    values = np.linalg.eigvalsh(information)
    longest = float(np.abs(eta - offset - np.median(eta - offset)).max())
    if values[0] * IRLS.separated_error**2 > 1.0 or longest < IRLS.separated_eta:
        return None
    coef, _ = design.natural(theta)
    scale = design.solver.X.std(axis=0)
    return int(np.argmax(np.abs(coef * scale)))
