"""Shares of the variance of labels that a fit explains; no order of the labels is needed."""

import numpy as np

from ..data.problem import Problem


def explained_shares(problem: Problem, noise_scale: float) -> tuple[float, float]:
    """One less the variance of the noise over that of the labels: of all, and inside groups.

    The noise counts the degrees of freedom that the coefficients take, so that in known order the
    first is the adjusted R². The second is nan where labels can move in one group only, or nowhere.
    """
    noise, y = noise_scale**2, problem.y
    inside = float("nan")
    if problem.n_blocks > 1:
        sizes, moved = np.diff(problem.starts), y[: problem.n_movable]
        means = np.add.reduceat(moved, problem.starts[:-1]) / sizes
        squares = float(np.sum((moved - np.repeat(means, sizes)) ** 2))
        variance = squares / (len(moved) - problem.n_blocks)
        inside = 1.0 - noise / variance if variance > 0.0 else float("nan")
    return 1.0 - noise / float(np.var(y, ddof=1)), inside
