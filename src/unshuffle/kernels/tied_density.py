"""Density of a label that belongs to none of the rows given, tied to the model.

Its row is missing, and is taken to be like the rows of its group: the density is a mean of normal
ones around the fitted values of these, as wide as the noise and a smoothing bandwidth together. It
is smooth, so that in large groups it is computed on a grid and interpolated.
"""

import math

import numpy as np

from .jit import kernel
from .types import FloatArray, IntArray

BEYOND = 2.0  # widths beyond the outermost fitted values that the grid covers
NODES_PER_WIDTH = 2.5  # the logarithm is interpolated within 0.02
UNDERFLOW = 1e-250
MOST_NODES = 512


@kernel
def log_density_at(value: float, mu: FloatArray, width: float) -> float:
    """Log of the mean normal density around `mu`, finite for any value."""
    per_width, total, least = 1.0 / width, 0.0, 0.0
    for i in range(len(mu)):
        z = (value - mu[i]) * per_width
        total += math.exp(-0.5 * z * z)
    if total < UNDERFLOW:
        nearest, total = math.inf, 0.0
        for i in range(len(mu)):
            nearest = min(nearest, abs(value - mu[i]))
        least = 0.5 * (nearest * per_width) ** 2
        for i in range(len(mu)):
            z = (value - mu[i]) * per_width
            total += math.exp(least - 0.5 * z * z)
    return math.log(total / (len(mu) * width * math.sqrt(2.0 * math.pi))) - least


@kernel
def log_tied_densities(
    mu: FloatArray,
    y: FloatArray,
    row_starts: IntArray,
    label_starts: IntArray,
    noise_scale: float,
    spread: float,
    out: FloatArray,
) -> None:
    """Write the log density of every label under its group; `spread` is that of fitted values.

    The bandwidth is Silverman's, from the number of rows of the group.
    """
    for g in range(len(row_starts) - 1):
        around = mu[row_starts[g] : row_starts[g + 1]]
        first, last = label_starts[g], label_starts[g + 1]
        bandwidth = 0.9 * spread * len(around) ** -0.2
        width = math.sqrt(noise_scale * noise_scale + bandwidth * bandwidth)
        low, high = around.min() - BEYOND * width, around.max() + BEYOND * width
        n_nodes = 2 + int(NODES_PER_WIDTH * min((high - low) / width, MOST_NODES))
        gridded = n_nodes < last - first and n_nodes < MOST_NODES
        step = (high - low) / (n_nodes - 1)
        nodes = np.empty(n_nodes if gridded else 0)
        for k in range(len(nodes)):
            nodes[k] = log_density_at(low + k * step, around, width)
        for j in range(first, last):
            if gridded and low <= y[j] < high:
                place = (y[j] - low) / step
                k = min(int(place), n_nodes - 2)
                part = place - k
                out[j] = (1.0 - part) * nodes[k] + part * nodes[k + 1]
            else:
                out[j] = log_density_at(y[j], around, width)
