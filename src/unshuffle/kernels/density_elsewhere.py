"""The density of another row's label: the mean over the rows of a block.

Rows are taken a few at a time, in the order of their fitted values. Noise is tabulated once, and
where a block has many labels so is the density, which is smoother than the noise.
"""

import math
from typing import NamedTuple

import numpy as np

from .jit import inlined, kernel
from .noise import SMALLEST_DENSITY, NoiseLaw, noise_density
from .types import FloatArray, IntArray

ROOT_TWO = math.sqrt(2.0)
FEWEST_NODES, MOST_NODES = 128, 4096  # of a table of the noise
NODES_PER_SCALE = 8.0  # nodes to a standard deviation, the harmonic mean over components
NARROW = 1e-6  # share of the noise below which a stretch of fitted values is one value


class Stretches(NamedTuple):
    """Fitted values of each block in sorted order, a few rows at a time.

    Between the lowest and the highest of its rows the fitted values of a stretch are taken as
    evenly spread, so that no label of any row lies in a gap.

    Attributes
    ----------
    low, high : arrays of shape (n_stretches,)
    spread : array of shape (n_stretches,)
        Of the row in the middle.
    weight : array of shape (n_stretches,)
        Share of the rows of the block.
    starts : array of shape (n_blocks + 1,)
        First stretch of each block.
    """

    low: FloatArray
    high: FloatArray
    spread: FloatArray
    weight: FloatArray
    starts: IntArray


@kernel
def tabulate_noise(law: NoiseLaw, low: float, high: float, scale: float) -> FloatArray:
    """Standardised noise on an even grid from `low` to `high`, fine beside its `scale`.

    Rows of the table: the density, the probability below, and the probability above, which keeps
    its digits where the one below is nearly 1.
    """
    wanted = NODES_PER_SCALE * (high - low) / scale
    n_nodes = int(min(max(wanted, FEWEST_NODES), MOST_NODES))
    step = (high - low) / (n_nodes - 1)
    table = np.empty((3, n_nodes))
    for k in range(n_nodes):
        u = low + k * step
        table[0, k] = noise_density(u, law)
        table[1, k] = table[2, k] = 0.0
        for c in range(len(law.weights)):
            z = (u - law.means[c]) / (ROOT_TWO * law.scales[c])
            tail = 0.5 * law.weights[c] * math.erfc(abs(z))
            side = 1 if z < 0.0 else 2
            table[side, k] += tail
            table[3 - side, k] += law.weights[c] - tail
    return table


@inlined
def between(table: FloatArray, row: int, place: float) -> float:
    """Interpolate a row of a table; beyond its ends, the value there."""
    place = min(max(place, 0.0), table.shape[1] - 1.001)
    node = int(place)
    part = place - node
    found: float = (1.0 - part) * table[row, node] + part * table[row, node + 1]
    return found


class NoiseTable(NamedTuple):
    """Standardised noise on an even grid.

    Attributes
    ----------
    values : array of shape (3, n_nodes)
        The density, the probability below, and the probability above.
    low, per_unit : float
        Where the grid starts, and nodes to a unit.
    scale : float
        A standard deviation of the noise, the harmonic mean over its components.
    """

    values: FloatArray
    low: float
    per_unit: float
    scale: float


@kernel
def density_at(
    label: float, stretches: Stretches, first: int, last: int, noise: NoiseTable
) -> float:
    """Mean density of a label over the stretches [first, last).

    Over an even stretch of fitted values from a to b the mean of ``f((y - m) / s) / s`` is
    ``(F((y - a) / s) - F((y - b) / s)) / (b - a)``.
    """
    table, total = noise.values, 0.0
    for s in range(first, last):
        spread, width = stretches.spread[s], stretches.high[s] - stretches.low[s]
        below = (label - stretches.high[s]) / spread
        above = (label - stretches.low[s]) / spread
        near, far = (below - noise.low) * noise.per_unit, (above - noise.low) * noise.per_unit
        if width < NARROW * spread * noise.scale:
            mean = between(table, 0, near) / spread
        elif below > 0.0:
            mean = (between(table, 2, near) - between(table, 2, far)) / width
        else:
            mean = (between(table, 1, far) - between(table, 1, near)) / width
        total += stretches.weight[s] * mean
    return total


@kernel
def density_elsewhere(
    labels: FloatArray,
    stretches: Stretches,
    starts: IntArray,
    law: NoiseLaw,
    low: float,
    high: float,
) -> FloatArray:
    """Mean density of each label over the rows of its block; shape (n_movable,).

    Noise is interpolated in a table from `low` to `high`, the range of standardised noise. In a
    block with more labels than nodes are needed, the log density is interpolated too.
    """
    sharpness = 0.0
    for c in range(len(law.weights)):
        sharpness += law.weights[c] / law.scales[c]
    values = tabulate_noise(law, low, high, 1.0 / sharpness)
    per_unit = (values.shape[1] - 1) / max(high - low, SMALLEST_DENSITY)
    noise = NoiseTable(values, low, per_unit, 1.0 / sharpness)
    found = np.empty(starts[-1])
    for block in range(len(starts) - 1):
        first, last = stretches.starts[block], stretches.starts[block + 1]
        lowest, highest, narrowest = np.inf, -np.inf, np.inf
        for i in range(starts[block], starts[block + 1]):
            lowest, highest = min(lowest, labels[i]), max(highest, labels[i])
        for s in range(first, last):
            narrowest = min(narrowest, stretches.spread[s])
        wanted = 2.0 + NODES_PER_SCALE * (highest - lowest) * sharpness / narrowest
        if wanted < starts[block + 1] - starts[block]:
            n_nodes = int(wanted)
            step = (highest - lowest) / (n_nodes - 1)
            nodes = np.empty((1, n_nodes))
            for k in range(n_nodes):
                density = density_at(lowest + k * step, stretches, first, last, noise)
                nodes[0, k] = math.log(max(density, SMALLEST_DENSITY))
            for i in range(starts[block], starts[block + 1]):
                found[i] = math.exp(between(nodes, 0, (labels[i] - lowest) / step))
        else:
            for i in range(starts[block], starts[block + 1]):
                found[i] = density_at(labels[i], stretches, first, last, noise)
    return found
