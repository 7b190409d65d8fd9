"""Columns of a curve: squares and products, without what the plane explains of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from unshuffle.families.least_squares import LeastSquares
from unshuffle.search.curve_columns import curve_columns, n_products


def features(seed=0, n=200, d=3):
    return np.random.default_rng(seed).normal(size=(n, d))


def columns_of(X, fit_intercept=True):
    return curve_columns(X, LeastSquares(X, fit_intercept=fit_intercept))


def same_space(one, other):
    """Whether two sets of columns span the same space."""
    base = [np.linalg.qr(columns)[0] for columns in (one, other)]
    return one.shape == other.shape and np.allclose(*(q @ q.T for q in base), atol=1e-8)


@given(st.integers(0, 10_000), st.integers(1, 4), st.booleans())
def test_columns_leave_the_plane_alone(seed, d, fit_intercept):
    X = features(seed, 60, d)
    y = np.random.default_rng(seed + 1).normal(size=60)
    columns = columns_of(X, fit_intercept)
    assert columns.shape == (60, n_products(d))
    np.testing.assert_allclose(columns.T @ columns / 60, np.eye(columns.shape[1]), atol=1e-9)
    straight = LeastSquares(X, fit_intercept=fit_intercept).solve(y)
    curved = LeastSquares(np.hstack([X, columns]), fit_intercept=fit_intercept).solve(y)
    np.testing.assert_allclose(curved.coef[:d], straight.coef, atol=1e-9)
    np.testing.assert_allclose(curved.intercept, straight.intercept, atol=1e-9)


def test_columns_hold_squares_and_products():
    X = features(d=2)
    products = np.column_stack([X[:, 0] ** 2, X[:, 0] * X[:, 1], X[:, 1] ** 2])
    plane = np.column_stack([np.ones(len(X)), X])
    left = products - plane @ np.linalg.lstsq(plane, products, rcond=None)[0]
    assert same_space(columns_of(X), left)


def test_units_and_zero_of_the_features_change_nothing():
    X = features()
    assert same_space(columns_of(X), columns_of(X * [1e-3, 1.0, 1e4] + [5.0, -2.0, 0.1]))


def test_what_the_plane_explains_is_left_out():
    X = features(d=2)
    X[:, 1] = X[:, 1] > 0.0  # the square of two values is a line through them
    assert columns_of(X).shape[1] == n_products(2) - 1


@pytest.mark.parametrize("X", [np.ones((50, 2)), np.tile([0.0, 1.0], 25)[:, None]])
def test_features_without_a_curve_have_no_columns(X):
    assert columns_of(X).shape == (50, 0)
