"""Labels that are a row's own or another row's, under noise that is a mixture of normals.

Row i has the fitted value ``m_i`` and the spread ``s_i``. Its own label has the density
``f_i(y) = Σ_k w_k N((y - m_i) / s_i; t_k, c_k²) / s_i``; the label of another row has the density
``g(y)``, the mean of ``f_j(y)`` over the rows j of the same block: it is tied to the model.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import kernel
from .types import FloatArray

ROOT_TWO_PI = math.sqrt(2.0 * math.pi)
SMALLEST_DENSITY = 1e-290
FARTHEST = 37.0  # standard deviations beyond which a normal density counts as zero
LARGEST_PULL = 25.0  # of one row on the coefficients of the spread


class NoiseLaw(NamedTuple):
    """A mixture of normals, in units of the row's spread.

    Attributes
    ----------
    weights, means, scales : arrays of shape (n_components,)
    """

    weights: FloatArray
    means: FloatArray
    scales: FloatArray


class NoiseRows(NamedTuple):
    """What is known of each row.

    Attributes
    ----------
    residual : array of shape (n,)
        Label less fitted value.
    spread : array of shape (n,)
        Factor of the noise.
    position : array of shape (n,)
        Standardised fitted value, on which the spread depends.
    away : array of shape (n,)
        Prior probability that the row holds another row's label.
    elsewhere : array of shape (n,)
        Density of its label at the rows of its block.
    """

    residual: FloatArray
    spread: FloatArray
    position: FloatArray
    away: FloatArray
    elsewhere: FloatArray


class NoiseSums(NamedTuple):
    """What one pass over the rows adds up.

    Attributes
    ----------
    log_likelihood : float
    component : array of shape (3, n_components)
        Sums of the posterior weights of each component, times 1, u and u².
    slope : array of shape (2,)
        Derivative of the expected log likelihood by the two coefficients of the log spread.
    curvature : array of shape (2, 2)
        Its expected second derivative, with the sign changed.
    matched : array of shape (n,)
        Posterior probability that a row holds its own label.
    """

    log_likelihood: float
    component: FloatArray
    slope: FloatArray
    curvature: FloatArray
    matched: FloatArray


@kernel
def noise_density(u: float, law: NoiseLaw) -> float:
    """Density of standardised noise."""
    total = 0.0
    for k in range(len(law.weights)):
        z = (u - law.means[k]) / law.scales[k]
        if abs(z) < FARTHEST:
            total += law.weights[k] * math.exp(-0.5 * z * z) / law.scales[k]
    return total / ROOT_TWO_PI


@kernel
def add_up_noise(rows: NoiseRows, law: NoiseLaw) -> NoiseSums:
    """One E-step over all rows: posterior weights, and the sums that the M-step needs."""
    n, n_components = len(rows.residual), len(law.weights)
    component, slope, curvature = np.empty((3, n_components)), np.empty(2), np.empty((2, 2))
    for k in range(n_components):
        component[0, k] = component[1, k] = component[2, k] = 0.0
    for k in range(2):
        slope[k] = curvature[k, 0] = curvature[k, 1] = 0.0
    matched, weight, log_likelihood = np.empty(n), np.empty(n_components), 0.0
    for i in range(n):
        spread = rows.spread[i]
        u = rows.residual[i] / spread
        own = 0.0
        for k in range(n_components):
            z = (u - law.means[k]) / law.scales[k]
            weight[k] = 0.0
            if abs(z) < FARTHEST:
                weight[k] = law.weights[k] * math.exp(-0.5 * z * z) / law.scales[k]
            own += weight[k]
        here = (1.0 - rows.away[i]) * own / (ROOT_TWO_PI * spread)
        total = max(here + rows.away[i] * rows.elsewhere[i], SMALLEST_DENSITY)
        p = here / total if rows.away[i] > 0.0 else 1.0
        matched[i] = p
        log_likelihood += math.log(total)
        pull = 0.0
        for k in range(n_components):
            share = p * weight[k] / max(own, SMALLEST_DENSITY)
            component[0, k] += share
            component[1, k] += share * u
            component[2, k] += share * u * u
            pull += share * u * (u - law.means[k]) / law.scales[k] ** 2
        pull = min(pull, LARGEST_PULL) - p
        first, second = rows.position[i], rows.position[i] ** 2 - 1.0
        slope[0] += pull * first
        slope[1] += pull * second
        curvature[0, 0] += 2.0 * p * first * first
        curvature[0, 1] += 2.0 * p * first * second
        curvature[1, 1] += 2.0 * p * second * second
    curvature[1, 0] = curvature[0, 1]
    return NoiseSums(log_likelihood, component, slope, curvature, matched)
