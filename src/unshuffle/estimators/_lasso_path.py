"""The order in which features come into a lasso path (scikit-learn does the work)."""

import numpy as np
from sklearn.linear_model import lars_path

from ..data.problem import Problem
from ..kernels.types import FloatArray, IntArray


def supports(problem: Problem, expected: FloatArray, most: int) -> list[IntArray]:
    """Features with a coefficient on the lasso path, for each number of them from none on.

    `expected` are labels in the order of the rows of X. The path may drop a feature and take up
    two at once; for a number that it skips the entry before is repeated.
    """
    X = problem.X - problem.X.mean(axis=0)
    spread = X.std(axis=0)
    moving = np.flatnonzero(spread > 0.0)
    found: dict[int, IntArray] = {0: np.empty(0, dtype=np.int64)}
    if len(moving):
        _, _, path = lars_path(
            X[:, moving] / spread[moving], expected - expected.mean(), method="lasso"
        )
        for column in path.T:
            active = moving[np.flatnonzero(column)]
            found.setdefault(len(active), active)
    listed = [found[0]]
    for size in range(1, most + 1):
        listed.append(found.get(size, listed[-1]))
    return listed
