"""Functions of one variable from their values at nodes: exactly at some, cubic between others."""

from typing import NamedTuple

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .settings import TiedSettings


class Stencil(NamedTuple):
    """How values at nodes become values at points, and sums over points sums over nodes.

    Attributes
    ----------
    nodes : array of shape (n, s)
        Nodes of each point: one where the point is a node, four where it lies between some.
    weights : array of shape (n, s)
    n_nodes : int
    """

    nodes: IntArray
    weights: FloatArray
    n_nodes: int

    def interpolate(self, values: FloatArray) -> FloatArray:
        """Values at the points from values at the nodes (columns alike)."""
        found = values[self.nodes]
        if self.nodes.shape[1] == 1:
            exact: FloatArray = found[:, 0]
            return exact
        if values.ndim == 2:
            table: FloatArray = (found * self.weights[:, :, None]).sum(axis=1)
            return table
        value: FloatArray = (found * self.weights).sum(axis=1)
        return value

    def collect(self, amounts: FloatArray) -> FloatArray:
        """Amounts at the points, shared out to the nodes."""
        shared = amounts[:, None] * self.weights
        sums = np.bincount(self.nodes.ravel(), shared.ravel(), minlength=self.n_nodes)
        return np.asarray(sums, dtype=np.float64)


def exact_stencil(place: IntArray, n_nodes: int) -> Stencil:
    """Points that are nodes."""
    return Stencil(place[:, None], np.ones((len(place), 1)), n_nodes)


def cubic_stencil(points: FloatArray, low: float, high: float, n_nodes: int) -> Stencil:
    """Lagrange's polynomials through the four nearest of equidistant nodes."""
    step = (high - low) / (n_nodes - 1) if high > low else 1.0
    position = (points - low) / step
    first = np.clip(np.floor(position).astype(np.int64) - 1, 0, n_nodes - 4)
    x = position - first
    weights = np.stack(
        [
            (x - 1) * (x - 2) * (x - 3) / -6.0,
            x * (x - 2) * (x - 3) / 2.0,
            x * (x - 1) * (x - 3) / -2.0,
            x * (x - 1) * (x - 2) / 6.0,
        ],
        axis=1,
    )
    return Stencil(first[:, None] + np.arange(4), weights, n_nodes)


def nodes_between(low: float, high: float, width: float, settings: TiedSettings) -> int:
    """Number of nodes on which functions of this width are interpolated well."""
    wanted = (high - low) / (settings.step * width)
    return int(np.clip(np.ceil(wanted), settings.fewest_nodes, settings.most_nodes))


def join_stencils(stencils: list[Stencil]) -> tuple[Stencil, IntArray]:
    """Stencils of blocks, one after the other, and where the nodes of each start."""
    if len(stencils) == 1:
        return stencils[0], np.array([0, stencils[0].n_nodes], dtype=np.int64)
    starts = np.cumsum([0, *(stencil.n_nodes for stencil in stencils)])
    width = max(stencil.nodes.shape[1] for stencil in stencils)
    n = sum(len(stencil.nodes) for stencil in stencils)
    nodes, weights = np.zeros((n, width), dtype=np.int64), np.zeros((n, width))
    first = 0
    for stencil, start in zip(stencils, starts, strict=False):
        last, used = first + len(stencil.nodes), stencil.nodes.shape[1]
        nodes[first:last, :used] = stencil.nodes + start
        nodes[first:last, used:] = start  # of weight zero
        weights[first:last, :used] = stencil.weights
        first = last
    return Stencil(nodes, weights, int(starts[-1])), starts.astype(np.int64)
