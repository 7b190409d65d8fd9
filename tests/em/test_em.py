import numpy as np
import pytest

from oracles import enumerated_mean
from unshuffle.alignment.hard import HardAlignment
from unshuffle.alignment.state import Alignment
from unshuffle.data.problem import make_problem
from unshuffle.em.loop import Step, run_em
from unshuffle.em.memory import (
    MemoryTable,
    solve,
    start_from_coefficients,
    start_from_labels,
)
from unshuffle.em.stopping import StopWhenStable, never, stop_without_gain
from unshuffle.families.least_squares import LeastSquares


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = X @ [1.0, -2.0] + 0.3 * rng.normal(size=60)
    codes = np.arange(60) // 6
    return make_problem(X, y, codes, np.zeros(60, dtype=bool))


def test_noise_keeps_the_spread_that_averaging_hides(problem):
    """The update equals (‖y‖² - 2 ŷ·μ + ‖μ‖²) / (n - p), the identity for permuted labels."""
    solver = LeastSquares(problem.X, fit_intercept=True)
    y = problem.y
    expected = 0.5 * y + 0.5 * y[::-1]  # the average of two permutations
    spread = float(y @ y - expected @ expected)
    state = solve(problem, solver, Alignment(expected, spread, y, np.arange(60), 0.0))
    by_identity = (y @ y - 2 * expected @ state.fitted + state.fitted @ state.fitted) / 57
    assert state.noise_scale**2 == pytest.approx(by_identity)
    both = [y - state.fitted, y[::-1] - state.fitted]
    assert state.objective == pytest.approx(np.mean([r @ r for r in both]))


def test_hard_em_descends_and_settles(problem):
    solver = LeastSquares(problem.X, fit_intercept=True)
    start = start_from_coefficients(problem, solver, np.array([0.2, -0.1]), 0.0)
    table = MemoryTable(problem, solver, HardAlignment(problem))
    result = run_em(table, start, max_iter=50, stop=stop_without_gain)
    path = [step.objective for step in result.steps]
    assert result.converged
    assert np.all(np.diff(path) <= 1e-9)
    assert np.array_equal(result.alignment.expected, problem.y[result.alignment.perm])


@pytest.mark.long
def test_em_with_exact_alignment_raises_the_marginal_likelihood():
    """With enumerated alignment this is EM proper, so log Σ_π p(y, π | w, s) cannot fall."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(12, 1))
    y = 1.5 * X[:, 0] + 0.4 * rng.normal(size=12)
    problem = make_problem(X, y, np.arange(12) // 4, np.zeros(12, dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=False)
    y = problem.y

    def align(state, iteration):
        mean = enumerated_mean(state.fitted, y, state.noise_scale, problem.starts)
        return Alignment(mean, float(y @ y - mean @ mean), y, state.perm, np.nan)

    def log_marginal(step):
        mu, s = X @ step.coef, step.noise_scale * np.sqrt(11 / 12)  # maximum likelihood
        from oracles import group_permutations

        terms = [
            -np.sum((y[p] - mu) ** 2) / (2 * s**2) for p in group_permutations(problem.starts, 12)
        ]
        return np.logaddexp.reduce(terms) - 12 * np.log(s)

    start = start_from_coefficients(problem, solver, np.array([0.1]), 0.0)

    # EM's noise is the maximum-likelihood one; ours is unbiased, so the chain gets the former.
    def align_ml(state, iteration):
        return align(state._replace(noise_scale=state.noise_scale * np.sqrt(11 / 12)), iteration)

    result = run_em(MemoryTable(problem, solver, align_ml), start, max_iter=15, stop=never)
    values = [log_marginal(step) for step in result.steps]
    assert np.all(np.diff(values) >= -1e-9)
    assert values[-1] - values[0] > 1e-3


def test_stability_sees_trends_in_coefficients_and_noise(problem):
    solver = LeastSquares(problem.X, fit_intercept=True)
    stop = StopWhenStable(MemoryTable(problem, solver), tol=0.2, window=5)

    def steps(slope, noise_slope):
        return [
            Step(np.array([1.0 + slope * k, 0.0]), 0.0, 1.0 + noise_slope * k, 0.0, 0.0)
            for k in range(10)
        ]

    assert stop(steps(0.0, 0.0))
    assert not stop(steps(0.1, 0.0))
    assert not stop(steps(0.0, 0.1))
    assert not stop(steps(0.0, 0.0)[:9])


def test_start_from_labels_is_ols(problem):
    solver = LeastSquares(problem.X, fit_intercept=True)
    state = start_from_labels(problem, solver, problem.y)
    design = np.column_stack([np.ones(60), problem.X])
    expected = np.linalg.lstsq(design, problem.y, rcond=None)[0]
    np.testing.assert_allclose([state.intercept, *state.coef], expected)
