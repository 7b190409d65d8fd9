"""Starts that are not drawn at random, and what is known without any search."""

import numpy as np

from ..kernels.types import FloatArray
from .landscape import Landscape
from .mostly_right import share_inside
from .settings import DEFAULT

MUCH_INSIDE = DEFAULT.anchor.much_inside


def deterministic_starts(landscape: Landscape) -> FloatArray:
    """Least squares on the labels as given, and on group means; shape (2, rank)."""
    return np.stack([landscape.theta_of(landscape.y), group_means(landscape)])


def group_means(landscape: Landscape) -> FloatArray:
    """Regress group means of the labels on group means of the features: free of the shuffle.

    Where there are fewer groups than directions the shortest solution is taken.
    """
    weights, rows, labels = _means(landscape)
    theta = np.linalg.lstsq(rows * weights[:, None], labels * weights, rcond=1e-10)[0]
    return np.asarray(theta, dtype=np.float64)


def free_dimensions(landscape: Landscape) -> int:
    """Number of directions about which group means say nothing."""
    weights, rows, _ = _means(landscape)
    singular = np.linalg.svd(rows * weights[:, None], compute_uv=False)
    # In an orthonormal basis these are the shares of each direction that lie between groups.
    return landscape.rank - int(np.sum(singular > landscape.settings.anchor.between_groups))


def anchor(landscape: Landscape) -> str | None:
    """What no shuffle can touch and is enough to fit the coefficients by itself.

    The rows that keep their label, or these and the means of the groups, if they say something
    about every direction. None where there is too little of both, or where the labels differ so
    little inside groups that these were surely made from them: regression to the mean would bias
    their means.
    """
    problem, settings = landscape.problem, landscape.settings.anchor
    enough = settings.rows_per_direction * (landscape.rank + 1)
    n_pinned = problem.n_rows - problem.n_movable
    if n_pinned >= enough:
        return "known rows"
    several = n_pinned + problem.n_blocks >= enough and free_dimensions(landscape) == 0
    if several and share_inside(problem) >= settings.much_inside:
        return "group means"
    return None


def _means(landscape: Landscape) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weight, mean of the basis and mean label of each group; pinned rows are groups of one."""
    basis, starts = landscape.labels.basis, landscape.labels.starts
    n = basis.shape[1]
    firsts = np.concatenate([starts[:-1], np.arange(starts[-1], n)]).astype(np.int64)
    sizes = np.diff(np.append(firsts, n)).astype(float)
    rows = np.add.reduceat(basis, firsts, axis=1).T / sizes[:, None]
    labels = np.add.reduceat(landscape.y, firsts) / sizes
    return np.sqrt(sizes), rows, labels
