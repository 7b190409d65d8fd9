import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracles import dense_ols
from unshuffle.families.least_squares import LeastSquares


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([1.0, 1e4, 1e-4]))
@settings(deadline=None)
def test_agrees_with_numpy(seed, fit_intercept, unit):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(30, 4)) * [1.0, unit, 1.0, 10.0] + 5.0
    y = rng.normal(size=30)
    solution = LeastSquares(X, fit_intercept=fit_intercept).solve(y)
    coef, intercept = dense_ols(X, y, fit_intercept)
    # A column of spread 1e-4 around 5 is known to 1e-11 of its spread, and so is every coefficient
    # in units of the largest effect.
    effect = X.std(axis=0)
    largest = np.abs(coef * effect).max()
    np.testing.assert_allclose(solution.coef * effect, coef * effect, atol=1e-9 * largest)
    assert solution.intercept == pytest.approx(intercept, rel=1e-9, abs=1e-10)
    np.testing.assert_allclose(solution.fitted, X @ coef + intercept, atol=1e-10)
    residual = y - X @ coef - intercept
    assert solution.residual_ss == pytest.approx(residual @ residual, rel=1e-10)


def test_blocks_of_rows_change_nothing():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(100, 5)), rng.normal(size=100)
    whole = LeastSquares(X, fit_intercept=True).solve(y)
    blocks = LeastSquares(X, fit_intercept=True, rows_per_block=7).solve(y)
    np.testing.assert_allclose(blocks.coef, whole.coef)


def test_ill_conditioned_and_far_from_zero():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3)) + 1e6
    X[:, 2] = X[:, 1] + 1e-4 * rng.normal(size=200)
    y = rng.normal(size=200)
    coef, _ = dense_ols(X, y, True)
    solution = LeastSquares(X, fit_intercept=True).solve(y)
    # At condition 1e4 and offset 1e6 even numpy keeps about ten digits of the centred data.
    np.testing.assert_allclose(solution.coef, coef, rtol=1e-6)


def test_dependent_columns_give_the_minimum_norm_solution_and_are_named():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(50, 5))
    X[:, 3] = 2 * X[:, 0] - X[:, 1]
    y = rng.normal(size=50)
    solver = LeastSquares(X, fit_intercept=True)
    assert solver.rank == 4
    assert list(solver.dependent) == [0, 1, 3]
    coef, _ = dense_ols(X, y, True)
    np.testing.assert_allclose(solver.solve(y).coef, coef, atol=1e-10)


def test_constant_column_is_dependent_only_with_an_intercept():
    X = np.column_stack([np.full(20, 3.7), np.arange(20.0)])
    assert list(LeastSquares(X, fit_intercept=True).dependent) == [0]
    assert list(LeastSquares(X, fit_intercept=False).dependent) == []


def test_basis_is_orthonormal_and_spans_the_columns():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(40, 4)) * [1, 1e5, 1e-5, 1] + 10
    X = np.column_stack([X, X[:, 0]])
    solver = LeastSquares(X, fit_intercept=True)
    B = solver.basis().T
    np.testing.assert_allclose(B @ B.T, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(B.sum(axis=1), 0, atol=1e-8)
    y = rng.normal(size=40)
    solution = solver.solve(y)
    np.testing.assert_allclose(B.T @ (B @ y) + y.mean(), solution.fitted, atol=1e-8)


@pytest.mark.parametrize("ridge", [0.0, 0.1])
@pytest.mark.parametrize("degree", [3, 12, 20])
def test_basis_is_orthonormal_however_ill_conditioned(degree, ridge):
    X = np.vander(np.linspace(1, 2, 300), degree)
    solver = LeastSquares(X, fit_intercept=True, ridge=ridge)
    B = solver.basis()
    np.testing.assert_allclose(B.T @ B, np.eye(solver.rank), atol=1e-13)
    centred = X - X.mean(axis=0)
    np.testing.assert_allclose(B @ (B.T @ centred), centred, atol=1e-9 * np.abs(X).max())


def test_length_is_the_norm_of_the_centred_fitted_values():
    rng = np.random.default_rng(4)
    X, w = rng.normal(size=(30, 3)) + 2, rng.normal(size=3)
    fitted = X @ w
    assert LeastSquares(X, fit_intercept=True).length(w) == pytest.approx(
        np.linalg.norm(fitted - fitted.mean())
    )
