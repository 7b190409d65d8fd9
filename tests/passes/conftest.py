"""Small tables that are fitted in passes."""

import numpy as np
import pytest

from unshuffle.datasets import make_shuffled_regression


@pytest.fixture(scope="session")
def table():
    """3,000 rows in 200 groups, some rows known, and a column far from zero."""
    data = make_shuffled_regression(
        3000, 3, noise=0.3, shuffle="groups", n_groups=200, group_by="random", random_state=0
    )
    X = data.X.copy()
    X[:, 1] += 2000.0
    known = np.random.default_rng(0).random(len(X)) < 0.05
    return X, data.y, data.groups, known
