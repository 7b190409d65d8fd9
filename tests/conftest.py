"""Shared data sets, and the order in which files are tested."""

import os
import signal

import numpy as np
import pytest

from unshuffle.datasets import make_shuffled_regression

os.environ.pop("COLUMNS", None)  # workers of xdist have 80, and summaries keep to it
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in the background of a shell
    signal.signal(signal.SIGINT, signal.default_int_handler)  # tests of Ctrl-C need it
TAKES_LONG = ("browser", "dask", "doctest", "long")


def pytest_collection_modifyitems(items):
    """Files with tests that take long first: short ones then fill both workers to the end."""
    long_files = {item.path for item in items if any(map(item.get_closest_marker, TAKES_LONG))}
    items.sort(key=lambda item: item.path not in long_files)


@pytest.fixture(autouse=True)
def _seed():
    """One answer per test even where `random_state` is not given."""
    np.random.seed(0)  # noqa: NPY002  (scikit-learn reads this source)


@pytest.fixture
def grouped():
    """Labels shuffled inside 40 small random groups: recoverable."""
    return make_shuffled_regression(
        400, 4, noise=0.3, shuffle="groups", n_groups=40, group_by="random", random_state=0
    )
