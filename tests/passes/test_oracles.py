"""Fits in passes against enumeration, dense least squares and fits in memory."""

import numpy as np
import pytest

from oracles import dense_ols
from unshuffle import RankWarning, StochasticEMRegressor, Streaming
from unshuffle.alignment.density import kernel_density, tabulate_density
from unshuffle.alignment.exact import ExactAlignment
from unshuffle.alignment.priors import Prior
from unshuffle.alignment.state import State
from unshuffle.data import passes
from unshuffle.data.local import LocalParts, slice_array
from unshuffle.data.part import make_part
from unshuffle.data.problem import make_problem
from unshuffle.data.survey import add_up, survey
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.families.normal_equations import NormalEquations
from unshuffle.kernels.block_em import PassModel
from unshuffle.kernels.sweep_blocks import Plan


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_survey_and_least_squares(table, fit_intercept):
    X, y, groups, known = table
    codes = np.unique(groups, return_inverse=True)[1]
    with Workers(1) as workers:
        facts = survey(LocalParts(slice_array(X, y, codes, known, 500), workers), fit_intercept)
    centre = X.mean(axis=0) if fit_intercept else np.zeros(3)
    assert np.allclose(facts.centre, centre, rtol=1e-14)
    assert np.allclose(facts.gram, (X - centre).T @ (X - centre), rtol=1e-11)
    assert facts.label_ss == pytest.approx(((y - y.mean()) ** 2).sum(), rel=1e-12)
    solver = NormalEquations(
        facts.gram, facts.centre, len(y), fit_intercept=fit_intercept, ridge=0.0
    )
    coef = solver.improve(np.zeros(3), facts.moments)
    oracle = LeastSquares(X, fit_intercept=fit_intercept).solve(y)
    assert np.allclose(coef, oracle.coef, rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_groups_of_one_are_ordinary_least_squares(fit_intercept):
    data = make_shuffled_regression(300, 4, noise=0.5, random_state=0)
    model = StochasticEMRegressor(streaming=Streaming(), fit_intercept=fit_intercept, max_iter=15)
    model.fit(data.X + 3.0, data.y, groups=np.arange(300))
    coef, intercept = dense_ols(data.X + 3.0, data.y, fit_intercept)[:2]
    assert np.allclose(model.coef_, coef, rtol=1e-9)
    assert model.intercept_ == pytest.approx(intercept, abs=1e-9)
    in_memory = StochasticEMRegressor(streaming="never", fit_intercept=fit_intercept)
    in_memory.fit(data.X + 3.0, data.y, groups=np.arange(300))
    assert model.noise_scale_ == pytest.approx(in_memory.noise_scale_, rel=1e-9)
    assert np.allclose(model.covariance_, in_memory.covariance_, rtol=1e-7)


def test_dependent_columns_are_named(table):
    X, y, groups, _ = table
    X = np.column_stack([X, X[:, 0] - X[:, 2], np.full(len(X), 7.0)])
    model = StochasticEMRegressor(streaming=Streaming(), max_iter=2, tol=0, random_state=0)
    with pytest.warns(RankWarning, match=r"rank 3 of 5: columns 0, 2, 3, 4 "):
        model.fit(X, y, groups=groups)
    assert model.rank_ == 3
    assert model.coef_[4] == pytest.approx(0.0, abs=1e-12)


def setting(rate):
    """30 groups of 2 to 5 rows, and the posterior by enumeration."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(2, 6, size=30)
    codes = np.repeat(np.arange(30), sizes)
    n = len(codes)
    X, y = rng.normal(size=(n, 2)), rng.normal(size=n)
    coef, noise = np.array([0.6, -0.4]), 0.5
    density = tabulate_density(y)
    model = PassModel(
        coef, np.zeros(2), 0.2, 0.0, noise, -1.0 if rate is None else rate, Plan(40, 80),
        float(density.grid[0]), float(density.grid[1] - density.grid[0]), density.low, density.high,
        np.maximum(density.heights, density.floor),
    )  # fmt: skip
    problem = make_problem(X, y, codes, np.zeros(n, dtype=bool))
    own_rate = 0.0 if rate is None else rate
    state = State(coef, 0.2, noise, 0.0, own_rate, X @ coef + 0.2, y, np.arange(n))
    exact = ExactAlignment(problem, Prior(rate=rate))(state, 0)
    residual = exact.expected - state.fitted
    truth = np.array([*(X.T @ residual), exact.match_proba.sum()])
    part = make_part(X, y, codes, np.arange(n), np.zeros(n, dtype=bool))
    return part, model, truth


def run(part, model, n_runs=60):
    exponents = np.full(6, 10)
    values = np.array(
        [add_up([passes.align(part, model, 1, k, exponents)], exponents)[0] for k in range(n_runs)]
    )
    kept = values[:, [0, 1, 5]]
    return kept.mean(axis=0), kept.std(axis=0, ddof=1) / n_runs**0.5


@pytest.mark.parametrize("rate", [None, 0.3])
def test_expected_labels_against_enumeration(rate):
    part, model, truth = setting(rate)
    compared = slice(0, 3 if rate is not None else 2)  # lost labels have no row of their own
    mean, error = run(part, model)
    assert np.all(np.abs(mean - truth)[compared] < 4.5 * error[compared])
    wrong, error = run(part, model._replace(noise_scale=0.6))
    assert np.any(np.abs(wrong - truth)[compared] > 4.5 * error[compared])


@pytest.mark.long
@pytest.mark.parametrize("rate", [None, "estimate"])
def test_fits_agree_with_those_in_memory(rate):
    """Two chains at the same optimum: they differ by a fraction of a standard error."""
    data = make_shuffled_regression(
        4000, 3, noise=0.5, shuffle="groups", n_groups=400, group_by="random", random_state=1
    )
    y = data.y
    if rate is not None:
        rng = np.random.default_rng(0)
        y = data.X @ data.coef + 0.5 * rng.normal(size=4000)
        moved = rng.random(4000) < 0.2
        for g in np.unique(data.groups):
            rows = np.flatnonzero(moved & (data.groups == g))
            y[rows] = y[rng.permutation(rows)]
    settings = {"mismatch_rate": rate, "max_iter": 80, "random_state": 0}
    settings |= {} if rate is not None else {"init": data.coef}
    here = StochasticEMRegressor(streaming="never", **settings).fit(data.X, y, groups=data.groups)
    there = StochasticEMRegressor(streaming=Streaming(), **settings)
    there.fit(data.X, y, groups=data.groups)
    errors = here.standard_errors_
    # Both stop within `tol` = 0.2 standard errors, and chains add about as much.
    assert np.all(np.abs(there.coef_ - here.coef_) < 0.6 * errors[1:])
    assert there.noise_scale_ == pytest.approx(here.noise_scale_, rel=0.03)
    # Snapshots: 250 of the whole here, 50 of each of 400 blocks there.
    assert np.allclose(there.standard_errors_, errors, rtol=0.25)
    if rate is not None:
        assert there.mismatch_rate_ == pytest.approx(here.mismatch_rate_, abs=0.01)
        assert there.mismatch_rate_se_ == pytest.approx(here.mismatch_rate_se_, rel=0.4)


def test_density_on_a_grid_is_the_density_at_the_values():
    values = np.random.default_rng(0).standard_t(2, size=5000)
    grid, heights, floor, low, high = tabulate_density(values)
    here = np.maximum(np.interp(np.clip(values, low, high), grid, heights), floor)
    assert np.array_equal(here, kernel_density(values))
