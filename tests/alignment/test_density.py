"""Densities of labels."""

import warnings

import numpy as np
import pytest

from unshuffle.alignment.density import kernel_density


@pytest.mark.parametrize("shift", [0.0, 1e9, 1e15])
def test_labels_that_differ_by_rounding(shift):
    """Far from zero, nodes of a grid fine enough for the labels would be one number."""
    values = shift + np.spacing(shift + 1.0) * np.array([0, 0, 1, 1, 1, 2, 2, 2, 3, 40.0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        heights = kernel_density(values)
    assert np.isfinite(heights).all()
    assert (heights > 0.0).all()
