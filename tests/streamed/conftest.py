"""Small tables that are fitted as if they were large."""

import numpy as np
import pytest

from unshuffle.datasets import make_shuffled_regression

SHORT = {"max_iter": 6, "tol": 0, "random_state": 0}


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


def same_fit(one, other):
    """Whether two fits agree to the last bit."""
    names = [n for n in vars(one) if n.endswith("_") and n != "feature_names_in_"]
    assert {"coef_", "noise_scale_", "covariance_", "coef_path_"} <= set(names)
    return all(
        np.array_equal(getattr(one, name), getattr(other, name), equal_nan=True) for name in names
    )
