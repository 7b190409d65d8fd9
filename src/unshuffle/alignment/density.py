"""A smooth density of labels: Gaussian kernels on a grid, in O(n)."""

from typing import NamedTuple

import numpy as np

from ..kernels.types import FloatArray
from .settings import DENSITY_NODES


class Density(NamedTuple):
    """A density on an even grid, to be interpolated; never below `floor`.

    Values beyond `low` and `high` count as if they lay there.
    """

    grid: FloatArray
    heights: FloatArray
    floor: float
    low: float
    high: float


def kernel_density(values: FloatArray, weights: FloatArray | None = None) -> FloatArray:
    """Density of `values` at each of them, by Gaussian kernels of Silverman's bandwidth."""
    grid, heights, floor, low, high = tabulate_density(values, weights)
    return np.asarray(np.maximum(np.interp(np.clip(values, low, high), grid, heights), floor))


def tabulate_density(values: FloatArray, weights: FloatArray | None = None) -> Density:
    """Density of `values` on a grid.

    Values are counted on a grid much finer than the kernel, and the counts are smoothed once.
    With `weights` they count by these; the kernel is that of all values.
    """
    n = len(values)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    spread = min(float(values.std()), float(high - low) / 1.34) or float(values.std())
    # At least so wide that the nodes of the grid are different numbers.
    finest = DENSITY_NODES * float(np.spacing(max(abs(low), abs(high))))
    bandwidth = max(0.9 * spread * n**-0.2, finest)
    # Far outliers must not coarsen the grid: beyond a wide frame they count at its edge.
    frame = 20.0 * float(values.std() if high == low else high - low)
    inside = np.clip(values, middle - frame, middle + frame)
    edge = 4.0 * bandwidth
    grid = np.linspace(inside.min() - edge, inside.max() + edge, DENSITY_NODES)
    step = grid[1] - grid[0]
    place = (inside - grid[0]) / step
    cell = np.minimum(place.astype(np.int64), DENSITY_NODES - 2)
    part = place - cell
    if weights is not None:
        scale = n / float(weights.sum())
        left, part = scale * weights * (1.0 - part), scale * weights * part
    else:
        left = 1.0 - part
    counts = np.bincount(cell, left, DENSITY_NODES) + np.bincount(cell + 1, part, DENSITY_NODES)
    reach = min(max(1, int(np.ceil(edge / step))), DENSITY_NODES // 2 - 1)
    kernel = np.exp(-0.5 * (np.arange(-reach, reach + 1) * step / bandwidth) ** 2)
    smooth = np.convolve(counts, kernel / (kernel.sum() * step * n), mode="same")
    return Density(grid, smooth, 1e-3 / (n * bandwidth), middle - frame, middle + frame)
