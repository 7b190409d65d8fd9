"""Sums over permutations by subsets, against enumeration."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle.kernels.permanent import block_log_means, log_permanent


def enumerated(log_weights):
    rows = np.arange(len(log_weights))
    sums = [log_weights[rows, list(p)].sum() for p in permutations(rows)]
    return np.logaddexp.reduce(sums)


@pytest.mark.parametrize("m", range(1, 8))
def test_subsets_equal_enumeration(m):
    log_weights = 5.0 * np.random.default_rng(m).normal(size=(m, m))
    assert log_permanent(log_weights) == pytest.approx(enumerated(log_weights), abs=1e-10)


@settings(deadline=None)  # the first call may compile
@given(st.integers(2, 6), st.floats(1e-3, 1e3), st.integers(0, 2**31))
def test_blocks_equal_enumeration_whatever_the_noise(m, noise, seed):
    rng = np.random.default_rng(seed)
    labels, fitted = rng.normal(size=2 * m), rng.normal(size=2 * m)
    found = np.empty(2)
    block_log_means(labels, fitted, noise, np.array([0, m, 2 * m]), found)
    for g in range(2):
        own = slice(g * m, (g + 1) * m)
        log_weights = -0.5 * ((labels[own] - fitted[own, None]) / noise) ** 2
        n_orders = np.sum(np.log(np.arange(1, m + 1)))
        expected = enumerated(log_weights) - n_orders
        assert found[g] == pytest.approx(expected, rel=1e-10, abs=1e-10)


def test_a_sum_over_rows_alone_is_another_number():
    log_weights = np.random.default_rng(0).normal(size=(4, 4))
    by_row = np.logaddexp.reduce(log_weights, axis=1).sum()
    assert abs(by_row - enumerated(log_weights)) > 0.1
