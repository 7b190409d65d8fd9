"""Sinkhorn scaling of one large block in O(n) a step: in one dimension K is a convolution.

The bonus for the own label adds a diagonal, ``K = G + diag(e)``, and costs nothing.
"""

from typing import NamedTuple

import numpy as np

from ..kernels.grid import put_on_grid, read_off, smooth
from ..kernels.types import FloatArray, IntArray
from .settings import GridSettings


class Scaled(NamedTuple):
    """Expected label of each row, probability of its own, logarithm of the columns' factors."""

    expected: FloatArray
    matched: FloatArray
    columns: FloatArray


class Places(NamedTuple):
    """Where values lie on the grid."""

    cell: IntArray
    part: FloatArray


class GridKernel:
    """``G_ij = exp(-(mu_i - y_j)² / 2 s²)`` for the products of a Sinkhorn iteration."""

    def __init__(self, mu: FloatArray, y: FloatArray, scale: float, settings: GridSettings) -> None:
        far = settings.farthest * scale
        mu = np.clip(mu, y.min() - far, y.max() + far)
        y = np.clip(y, mu.min() - far, mu.max() + far)
        low, high = min(mu.min(), y.min()), max(mu.max(), y.max())
        step = scale / settings.nodes_per_noise
        self.n_nodes = int((high - low) / step) + 3
        self.affordable = self.n_nodes <= settings.most_nodes
        if not self.affordable:
            return
        self._rows, self._labels = _places(mu, low, step), _places(y, low, step)
        variance = scale**2 - step**2 / 3.0
        reach = min(self.n_nodes, int((settings.farthest + 7.0) * settings.nodes_per_noise))
        distance = np.arange(reach) * step
        # Its height makes up for the narrowing, so that the sum over the nodes stays the same.
        height = scale / np.sqrt(variance)
        self._weights = height * np.exp(-0.5 * distance**2 / variance)
        self._grid, self._smooth = np.empty(self.n_nodes), np.empty(self.n_nodes)

    def rows(self, values: FloatArray) -> FloatArray:
        """``G values``: one sum per row."""
        return self._product(self._labels, values, self._rows)

    def labels(self, values: FloatArray) -> FloatArray:
        """``Gᵀ values``: one sum per label."""
        return self._product(self._rows, values, self._labels)

    def _product(self, origin: Places, values: FloatArray, end: Places) -> FloatArray:
        put_on_grid(origin.cell, origin.part, values, self._grid)
        smooth(self._grid, self._weights, self._smooth)
        out = np.empty(len(values))
        read_off(end.cell, end.part, self._smooth, out)
        return out


def _places(values: FloatArray, low: float, step: float) -> Places:
    place = (values - low) / step
    cell = place.astype(np.int64)
    return Places(cell, place - cell)


def scale_on_grid(
    mu: FloatArray,
    y: FloatArray,
    scale: float,
    costs: FloatArray,
    columns: FloatArray,
    tolerance: float,
    settings: GridSettings,
) -> Scaled | None:
    """Make the likelihoods of all pairs doubly stochastic, starting from `columns`.

    None where that is out of the grid's reach: noise too small beside the range or the gaps.
    """
    kernel = GridKernel(mu, y, scale, settings)
    if not kernel.affordable:
        return None
    own = np.exp(-0.5 * ((mu - y) / scale) ** 2)
    bonus = own * np.expm1(costs) if len(costs) else np.zeros(len(y))
    right = np.exp(columns - columns.mean())
    left: FloatArray = np.zeros(len(y))
    for step in range(settings.steps):
        sums = kernel.rows(right) + bonus * right
        if not float(sums.min()) > settings.smallest:
            return None
        if step % settings.steps_per_check == 0 and np.abs(left * sums - 1.0).max() < tolerance:
            break
        left = 1.0 / sums
        sums = kernel.labels(left) + bonus * left
        if not (
            float(sums.min()) > settings.smallest and float(sums.max()) < 1.0 / settings.smallest
        ):
            return None
        right = 1.0 / sums
    centre = float(y.mean())
    weighted = right * (y - centre)
    expected = centre + left * (_signed(kernel, weighted) + bonus * weighted)
    matched = left * right * (own + bonus)
    return Scaled(expected, np.minimum(matched, 1.0), np.log(right))


def _signed(kernel: GridKernel, values: FloatArray) -> FloatArray:
    """Products with values of both signs, each sign by itself to lose no digits."""
    return kernel.rows(np.maximum(values, 0.0)) - kernel.rows(np.maximum(-values, 0.0))
