"""A law of the noise as tables over residuals: its log density, and what an M-step needs of it."""

import math
from typing import NamedTuple

import numpy as np

from ..kernels.law_sweep import ResidualTable
from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray
from .noise import FREEDOMS, NoiseShape, component_shares, t_factors, t_law

NODES_PER_SCALE = 12  # linear interpolation is then off by a thousandth of a log density
FEWEST_NODES, MOST_NODES = 1 << 10, 1 << 15
MARGIN = 0.01  # of the range of the labels, at both ends


class LawTables(NamedTuple):
    """One law at even nodes.

    Attributes
    ----------
    nodes : array of shape (n_nodes,)
    log_density : ResidualTable
    pull : ResidualTable
        Derivative of the log density by the fitted value, ``Σ_k p_k (u - t_k) / c_k²``.
    weight : ResidualTable
        ``Σ_k p_k / c_k²``: the weight of a row in the M-step.
    shares : array of shape (n_nodes, n_components)
        Posterior probability p of each normal of the law.
    """

    nodes: FloatArray
    log_density: ResidualTable
    pull: ResidualTable
    weight: ResidualTable
    shares: FloatArray


def nodes_for(labels: FloatArray, fitted: FloatArray, narrowest: float) -> FloatArray:
    """Even nodes over all residuals that labels and fitted values can have."""
    margin = MARGIN * float(np.ptp(labels))
    low, high = float(labels.min() - fitted.max()), float(labels.max() - fitted.min())
    wanted = NODES_PER_SCALE * (high - low) / narrowest
    n_nodes = int(min(max(wanted, FEWEST_NODES), MOST_NODES))
    return np.linspace(low - margin, high + margin, n_nodes)


def tables_of(law: NoiseLaw, nodes: FloatArray) -> LawTables:
    """Tabulate a law."""
    shares = component_shares(nodes, law)
    weight = shares @ law.scales**-2.0
    pull = weight * nodes - shares @ (law.means / law.scales**2)
    density = log_density_at(law, nodes)
    low, per_unit = float(nodes[0]), 1.0 / float(nodes[1] - nodes[0])

    def table(values: FloatArray) -> ResidualTable:
        return ResidualTable(low, per_unit, np.ascontiguousarray(values))

    return LawTables(nodes, table(density), table(pull), table(weight), shares)


def read_at(table: ResidualTable, residual: FloatArray) -> FloatArray:
    """Values at residuals, interpolated; beyond the ends those at the ends."""
    nodes = table.low + np.arange(len(table.values)) / table.per_unit
    return np.asarray(np.interp(residual, nodes, table.values))


def log_density_at(law: NoiseLaw, residual: FloatArray) -> FloatArray:
    """Log density of the noise."""
    z = (residual[:, None] - law.means) / law.scales
    logs = np.log(law.weights / law.scales) - 0.5 * z**2
    return np.asarray(np.logaddexp.reduce(logs, axis=1) - 0.5 * math.log(2.0 * math.pi))


def standard_deviation(law: NoiseLaw) -> float:
    """Standard deviation of a law with mean zero."""
    return math.sqrt(float(law.weights @ (law.scales**2 + law.means**2)))


def typical_precision(law: NoiseLaw) -> float:
    """Inverse variance of the component at the weighted median: where most labels lie."""
    order = np.argsort(law.scales)
    middle = int(np.searchsorted(np.cumsum(law.weights[order]), 0.5))
    return float(law.scales[order[min(middle, len(order) - 1)]] ** -2.0)


def scaled(law: NoiseLaw, factor: float) -> NoiseLaw:
    """The same law in other units."""
    return NoiseLaw(law.weights, law.means * factor, law.scales * factor)


def centred(law: NoiseLaw) -> tuple[NoiseLaw, float]:
    """The law with mean zero, and the mean that was taken off."""
    mean = float(law.weights @ law.means)
    return NoiseLaw(law.weights, law.means - mean, law.scales), mean


def neighbours(
    shape: NoiseShape, law: NoiseLaw, step: float = 1e-3
) -> list[tuple[NoiseLaw, NoiseLaw]]:
    """Laws a small step below and above `law` in each of its parameters, with mean zero.

    Scales and degrees of freedom step on the log scale, weights on that of log odds. The mean of
    the noise is no parameter: the intercept has it.
    """
    pairs = [(scaled(law, math.exp(-step)), scaled(law, math.exp(step)))]
    if shape.name == "t":
        return [*pairs, _other_freedoms(law, step)]
    n, unit = len(law.weights), standard_deviation(law)
    for k in range(1, n):
        away = np.zeros(n)
        away[k] = step
        pairs.append((_moved(law, scales=-away), _moved(law, scales=away)))
        pairs.append((_moved(law, weights=-away), _moved(law, weights=away)))
        if shape.free_means:
            pairs.append((_moved(law, means=-away * unit), _moved(law, means=away * unit)))
    return pairs


def _moved(
    law: NoiseLaw,
    *,
    weights: FloatArray | float = 0.0,
    means: FloatArray | float = 0.0,
    scales: FloatArray | float = 0.0,
) -> NoiseLaw:
    shares = law.weights * np.exp(weights)
    moved = NoiseLaw(shares / shares.sum(), law.means + means, law.scales * np.exp(scales))
    return centred(moved)[0]


def _other_freedoms(law: NoiseLaw, step: float) -> tuple[NoiseLaw, NoiseLaw]:
    """Student's t with fewer and with more degrees of freedom, at the same scale."""
    freedom, scale = freedom_and_scale(law)
    return t_law(freedom * math.exp(-step), scale), t_law(freedom * math.exp(step), scale)


def freedom_and_scale(law: NoiseLaw) -> tuple[float, float]:
    """Degrees of freedom and scale of a law made by `t_law`: the ratio of two scales tells."""
    ratio = law.scales[0] / law.scales[-1]
    freedom = min(FREEDOMS, key=lambda f: abs(t_factors(f)[0] / t_factors(f)[-1] - ratio))
    return freedom, float(law.scales[-1] / t_factors(freedom)[-1])
