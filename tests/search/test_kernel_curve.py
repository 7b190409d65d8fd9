"""A curve of any shape, fitted without each row's own label."""

import numpy as np
import pytest

from unshuffle.search.curve import MeanCurve
from unshuffle.search.kernel_curve import KernelCurve, best_curve


def stepped(seed, n=300, noise=0.3):
    """Labels that jump with one feature and interact with another; a plane explains little."""
    rng = np.random.RandomState(seed)
    X = rng.normal(size=(n, 3))
    mean = 2.0 * (X[:, 0] > 0) + np.abs(X[:, 1]) + 0.5 * X[:, 2]
    return X, mean + noise * rng.normal(size=n), mean


def in_order(y):
    return np.arange(len(y))


def refit_without(axes, y, penalty, row):
    """Residual of one label from a ridge fit to the others, by the normal equations."""
    others = np.arange(len(y)) != row
    design = np.column_stack([np.ones(len(y)), axes.scores])
    weight = np.diag(np.append(0.0, np.full(axes.scores.shape[1], penalty)))
    inner = design[others]
    coef = np.linalg.solve(inner.T @ inner + weight, inner.T @ y[others])
    return y[row] - design[row] @ coef


def test_residuals_left_out_are_those_of_refits():
    X, y, _ = stepped(0, n=40)
    curve = KernelCurve(X, y, in_order(y))
    expected = [refit_without(curve._axes, y, curve._penalty, row) for row in range(len(y))]
    np.testing.assert_allclose(curve.left_out(), expected, rtol=1e-8, atol=1e-10)


def test_simple_curve_left_out_is_that_of_a_refit():
    X, y, _ = stepped(1, n=60)
    curve = MeanCurve(X, y, np.array([0, len(y)]))
    rows = np.column_stack([np.ones(len(y)), curve._rows])
    weight = np.diag(np.append(0.0, np.full(curve._rows.shape[1], curve._ridge)))
    for row in (0, 17, 59):
        others = np.arange(len(y)) != row
        gram = rows[others].T @ rows[others] + weight
        coef = np.linalg.solve(gram, rows[others].T @ y[others])
        assert curve.left_out()[row] == pytest.approx(y[row] - rows[row] @ coef, rel=1e-8)


def test_steps_are_followed_better_than_by_products():
    X, y, mean = stepped(2)
    free = best_curve(X, y, np.array([0, len(y)]))
    assert isinstance(free, KernelCurve)
    simple = MeanCurve(X, y, np.array([0, len(y)]))
    errors = [np.mean((curve.as_given - mean) ** 2) for curve in (free, simple)]
    assert errors[0] < 0.7 * errors[1]


def test_planes_with_normal_noise_seldom_need_it():
    """Under no difference one standard error is passed in one set of sixty."""
    taken = 0
    for seed in range(20):
        rng = np.random.RandomState(seed)
        X = rng.normal(size=(200, 3))
        y = X @ [1.0, -0.5, 0.2] + 0.5 * rng.normal(size=200)
        taken += isinstance(best_curve(X, y, np.array([0, 200])), KernelCurve)
    assert taken <= 2


def test_groups_and_short_tables_take_the_simple_curve():
    X, y, _ = stepped(3)
    assert isinstance(best_curve(X, y, np.array([0, 150, 300])), MeanCurve)
    assert isinstance(best_curve(X[:40], y[:40], np.array([0, 40])), MeanCurve)


def test_columns_that_hardly_vary_take_the_simple_curve():
    X, y, _ = stepped(8)
    assert isinstance(best_curve(np.round(X) + 1e12, y, np.array([0, len(y)])), MeanCurve)


def test_units_signs_and_order_of_columns_do_not_matter():
    X, y, _ = stepped(4)
    first = best_curve(X, y, np.array([0, len(y)])).as_given
    other = (X * [10.0, -1e-3, 7.0] + [5.0, 0.0, -40.0])[:, [2, 0, 1]]
    second = best_curve(other, 3.0 - 100.0 * y, np.array([0, len(y)])).as_given
    np.testing.assert_allclose(second, 3.0 - 100.0 * first, rtol=1e-8, atol=1e-8)


def test_labels_exchanged_make_the_curve_steeper():
    X, y, _ = stepped(5)
    curve = KernelCurve(X, y, in_order(y))
    twice = curve(np.full(len(y), 0.5))
    np.testing.assert_allclose(twice - y.mean(), 2.0 * (curve.as_given - y.mean()))


def test_labels_that_do_not_vary_have_a_flat_curve():
    X, _, _ = stepped(6, n=60)
    curve = KernelCurve(X, np.full(60, 2.0), np.arange(60))
    np.testing.assert_allclose(curve.as_given, 2.0)


def test_columns_that_do_not_vary_are_left_out():
    X, y, _ = stepped(7)
    with_constant = np.column_stack([X, np.full(len(y), 3.0)])
    first, second = (best_curve(Z, y, np.array([0, len(y)])).as_given for Z in (X, with_constant))
    np.testing.assert_allclose(first, second)
