"""Proof that no matching is better, for up to three directions: branch and bound on the sphere.

``g(θ) = max <θ, B v>`` is convex, and ``g(cθ) = c g(θ)`` for c > 0. Hence on the cone of vectors
u_1, ..., u_r a combination ``θ = Σ c_k u_k`` with ``c_k >= 0`` has
``g(θ) <= Σ c_k g(u_k) = <p, θ>``, where p solves ``<p, u_k> = g(u_k)``. The largest ``<p, θ>`` over
unit vectors of the cone bounds ``‖B v‖`` over all matchings attained there: it is ``‖p‖`` when p
lies in the cone, and lies on a face otherwise. Cones are halved along their longest edge until none
can hold a better matching. Inside a cone whose directions all sort the labels alike the bound is
exact, so that the search ends.

With one direction there are two matchings to compare: sorted and reverse-sorted.
"""

from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .landscape import Landscape


class Certificate(NamedTuple):
    """The best matching known, in coordinates of the landscape, and what none can undercut."""

    theta: FloatArray
    lower_bound: float
    certified: bool


def certify(landscape: Landscape, theta: FloatArray) -> Certificate | None:
    """Prove that `theta` is optimal, or find what is; None where there are too many directions."""
    settings, rank, total = landscape.settings.certificate, landscape.rank, landscape.total
    if not 1 <= rank <= settings.most_directions:
        return None
    corners = np.vstack([np.eye(rank), -np.eye(rank)])
    best = _Best(landscape, theta)
    heights = landscape.support(corners)
    best.improve(corners, heights)
    signs = np.array(np.meshgrid(*[[0, rank]] * rank)).reshape(rank, -1).T
    cones, values = corners[signs + np.arange(rank)], heights[signs + np.arange(rank)]
    bounds = upper_bounds(cones, values)
    most = min(settings.most_evaluations, int(settings.most_work / landscape.work_per_step))
    n_evaluated = 2 * rank
    while rank > 1 and n_evaluated < most:
        alive = bounds**2 - best.explained > best.tolerance
        if not alive.any():
            break
        # The open cones with the highest bounds first: they decide the lower bound.
        chosen = np.flatnonzero(alive)
        chosen = chosen[np.argsort(-bounds[chosen], kind="stable")[: settings.splits_per_round]]
        edge = _longest_edges(cones[chosen])
        middle = cones[chosen, edge[0]] + cones[chosen, edge[1]]
        middle /= np.linalg.norm(middle, axis=1, keepdims=True)
        heights = landscape.support(middle)
        n_evaluated += len(middle)
        best.improve(middle, heights)
        halves = _halves(cones[chosen], edge, middle)
        half_values = _halves(values[chosen], edge, heights)
        keep = alive.copy()
        keep[chosen] = False
        cones = np.concatenate([cones[keep], halves])
        values = np.concatenate([values[keep], half_values])
        bounds = np.concatenate([bounds[keep], upper_bounds(halves, half_values)])
    open_above = float(max(bounds.max(initial=0.0) ** 2, best.explained))
    certified = open_above - best.explained <= best.tolerance
    return Certificate(best.theta, max(total - open_above, 0.0), bool(certified))


class _Best:
    """The best matching seen so far; hard EM follows every direction that beats it."""

    def __init__(self, landscape: Landscape, theta: FloatArray) -> None:
        self.landscape = landscape
        self.theta = theta
        self.explained = float(theta @ theta)

    @property
    def tolerance(self) -> float:
        """How much more may remain open in a complete proof."""
        settings, total = self.landscape.settings.certificate, self.landscape.total
        return max(settings.gap * (total - self.explained), settings.smallest_gap * total)

    def improve(self, directions: FloatArray, heights: FloatArray) -> None:
        """Take over what is better than the best."""
        promising = directions[heights > 0.0][heights[heights > 0.0] ** 2 > self.explained]
        if len(promising):
            ends = promising.copy()
            explained = self.landscape.descend(ends, self.landscape.settings.descent.most_steps)
            k = int(np.argmax(explained))
            self.theta, self.explained = ends[k], float(explained[k])


def upper_bounds(cones: FloatArray, values: FloatArray) -> FloatArray:
    """Largest ``<p, θ>`` over the unit vectors of each cone; shapes (m, r, r) and (m, r)."""
    rank = values.shape[1]
    bounds: FloatArray = values.max(axis=1)
    for size in range(2, rank + 1):
        for face in combinations(range(rank), size):
            u, g = cones[:, face], values[:, face]
            # p restricted to the face: p = u' c with (u u') c = g, inside the cone where c >= 0.
            share = np.linalg.solve(u @ u.transpose(0, 2, 1), g[:, :, None])[:, :, 0]
            squared = (share * g).sum(axis=1)
            inside = (share >= 0.0).all(axis=1)
            reached = np.sqrt(np.maximum(squared, 0.0))
            bounds[inside] = np.maximum(bounds, reached)[inside]
    return bounds


def _longest_edges(cones: FloatArray) -> tuple[IntArray, IntArray]:
    """The two corners of each cone that lie farthest apart."""
    pairs = np.array(list(combinations(range(cones.shape[1]), 2)))
    lengths = ((cones[:, pairs[:, 0]] - cones[:, pairs[:, 1]]) ** 2).sum(axis=2)
    longest = pairs[np.argmax(lengths, axis=1)]
    return longest[:, 0], longest[:, 1]


def _halves(corners: FloatArray, edge: tuple[IntArray, IntArray], middle: FloatArray) -> FloatArray:
    """Cut cones (or values at their corners) in two: the middle replaces either end of the edge."""
    each = np.arange(len(corners))
    left, right = corners.copy(), corners.copy()
    left[each, edge[0]], right[each, edge[1]] = middle, middle
    return np.concatenate([left, right])
