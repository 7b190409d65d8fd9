"""Laws of the noise: a normal, two or three normals, or Student's t as a mixture of normals.

All are finite mixtures of normals with mean zero, so that one E-step serves them all, and so that
fitted values stay conditional means.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.stats import gamma

from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray

STANDARD_NORMAL = NoiseLaw(np.ones(1), np.zeros(1), np.ones(1))
FREEDOMS = (2.5, 3.0, 4.0, 5.0, 7.0, 10.0, 15.0, 30.0)
# Shares of the normals that stand for Student's t, widest first: most of its range needs few, its
# far tail needs one for every factor of about four, or single labels there look exchanged.
T_WEIGHTS = np.array([0.001, 0.004, 0.015, 0.04, 0.08, 0.16, 0.2, 0.2, 0.2, 0.1])
# A component is one of gross errors if it is so many times as wide as the rest, and so rare.
TIMES_WIDER = 4.0
MOST_OFF = 0.2


@dataclass(frozen=True)
class NoiseShape:
    """Which laws are allowed.

    Attributes
    ----------
    name : {"normal", "t", "mixture"}
    n_components : int
    free_means : bool
        Whether the components may lie off zero, for skewed noise.
    by_fit : bool
        Whether the spread may depend on the fitted value.
    """

    name: str
    n_components: int = 1
    free_means: bool = False
    by_fit: bool = False

    @property
    def n_parameters(self) -> int:
        """Numbers that are estimated."""
        if self.name == "t":
            count = 2
        else:
            count = 2 * self.n_components - 1 + (self.n_components - 1) * self.free_means
        return count + 2 * self.by_fit


@cache
def t_factors(freedom: float) -> FloatArray:
    """Scales of the normals whose mixture is close to Student's t."""
    middle = np.cumsum(T_WEIGHTS) - 0.5 * T_WEIGHTS
    return np.asarray(1.0 / np.sqrt(gamma.ppf(middle, freedom / 2.0, scale=2.0 / freedom)))


def first_law(shape: NoiseShape, scale: float) -> NoiseLaw:
    """Where the estimate of a law starts, from a robust scale of the residuals."""
    if shape.name == "t":
        return t_law(5.0, scale)
    n = shape.n_components
    if n == 1:
        return NoiseLaw(np.ones(1), np.zeros(1), np.array([scale]))
    if n == 2:
        return NoiseLaw(np.array([0.9, 0.1]), np.zeros(2), scale * np.array([0.9, 3.0]))
    means = scale * np.array([0.0, 0.6, -0.6])
    return NoiseLaw(np.array([0.6, 0.2, 0.2]), means, scale * np.array([0.7, 1.6, 1.6]))


def t_law(freedom: float, scale: float) -> NoiseLaw:
    """Student's t of a given scale."""
    return NoiseLaw(T_WEIGHTS, np.zeros(len(T_WEIGHTS)), scale * t_factors(freedom))


def next_law(
    shape: NoiseShape, sums: FloatArray, floor: float, smallest: float, *, centred: bool = True
) -> NoiseLaw:
    """M-step: weights, means and scales from the sums of posterior weights times 1, u, u².

    `floor` is the smallest scale, as a share of the largest: a component must not shrink to ties.
    `smallest` is the smallest scale of all, in the units of u, for labels without noise. Where the
    law is not `centred`, its mean is part of the intercept.
    """
    count = np.maximum(sums[0], 1e-9)
    if shape.name == "t":
        return _next_t(sums, count, smallest)
    weights = count / count.sum()
    means = np.zeros(len(count))
    if shape.free_means and len(count) > 1:
        means = sums[1] / count
        means = means - centred * float(weights @ means)
    variances = sums[2] / count - 2.0 * means * sums[1] / count + means**2
    scales = np.sqrt(np.maximum(variances, smallest**2))
    return NoiseLaw(weights, means, np.maximum(scales, floor * scales.max()))


def _next_t(sums: FloatArray, count: FloatArray, smallest: float) -> NoiseLaw:
    """The scale by weighted squares, the degrees of freedom by the shares of the components.

    Each number of degrees of freedom is compared at its best scale, by the expected log likelihood
    of the components.
    """
    squares, logs = _t_tables()
    total = float(count.sum())
    variances = np.maximum(squares @ sums[2] / total, smallest**2)
    best = int(np.argmax(-0.5 * total * np.log(variances) - logs @ count))
    return t_law(FREEDOMS[best], float(np.sqrt(variances[best])))


@cache
def _t_tables() -> tuple[FloatArray, FloatArray]:
    """Inverse squares and logarithms of the factors, one line for each of `FREEDOMS`."""
    factors = np.array([t_factors(freedom) for freedom in FREEDOMS])
    return factors**-2.0, np.log(factors)


def off_components(law: NoiseLaw) -> FloatArray:
    """1 for components of gross errors, else 0: few labels, far wider than the others."""
    off, reach = np.zeros(len(law.weights)), np.hypot(law.means, law.scales)
    order = np.argsort(reach)
    for k in range(1, len(off)):
        core, wide = order[:k], order[k:]
        usual = float(np.sqrt(np.average(reach[core] ** 2, weights=law.weights[core])))
        if law.weights[wide].sum() <= MOST_OFF and reach[wide].min() >= TIMES_WIDER * usual:
            off[wide] = 1.0
            break
    return off


def component_shares(u: FloatArray, law: NoiseLaw) -> FloatArray:
    """Posterior probability of each component for standardised noise; shape (n, n_components)."""
    z = (u[:, None] - law.means) / law.scales
    log_weight = np.log(law.weights / law.scales) - 0.5 * z**2
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    return np.asarray(weight / weight.sum(axis=1, keepdims=True))


def noise_density(u: FloatArray, law: NoiseLaw) -> FloatArray:
    """Density of standardised noise."""
    z = (u[:, None] - law.means) / law.scales
    return np.asarray(np.exp(-0.5 * z**2) @ (law.weights / law.scales / np.sqrt(2.0 * np.pi)))


def noise_slopes(u: FloatArray, law: NoiseLaw) -> tuple[FloatArray, FloatArray]:
    """First and second derivative of ``-log f(u)``: u and 1 for standard normal noise."""
    shares = component_shares(u, law)
    steep = (u[:, None] - law.means) / law.scales**2
    slope = (shares * steep).sum(axis=1)
    bend = slope**2 - (shares * (steep**2 - law.scales**-2.0)).sum(axis=1)
    return np.asarray(slope), np.asarray(bend)


def noise_pull(u: FloatArray, law: NoiseLaw) -> FloatArray:
    """``-u d log f(u) / du`` of a mixture of normals: u² for standard normal noise."""
    return np.asarray(u * noise_slopes(u, law)[0])
