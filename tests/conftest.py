"""Shared data sets."""

import pytest

from unshuffle.datasets import make_shuffled_regression


@pytest.fixture
def grouped():
    """Labels shuffled inside 40 small random groups: recoverable."""
    return make_shuffled_regression(
        400, 4, noise=0.3, shuffle="groups", n_groups=40, group_by="random", random_state=0
    )
