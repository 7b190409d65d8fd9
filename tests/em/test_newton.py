"""Newton's path: straight to the end of a linear map, damped by averaging, left on divergence."""

import numpy as np
import pytest

from fitting import in_memory
from unshuffle.alignment.carry import carry_over, draw_permutation
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.em.loop import Step
from unshuffle.em.memory import MemoryTable
from unshuffle.em.newton import Newton, StopOnAverage, values_of
from unshuffle.em.settings import EMSettings, NewtonSettings, SampleSettings
from unshuffle.em.stopping import never
from unshuffle.families.least_squares import LeastSquares

NUMBERS = NewtonSettings()
RATES = np.array([0.9, 0.7, 0.8])  # of a made-up EM: two coefficients and the log noise
END = np.array([1.0, -2.0, np.log(0.5)])


def grouped(n=1_200, size=20, noise=0.5, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = X @ END[:2] + noise * rng.normal(size=n)
    return (
        X,
        rng.permuted(y.reshape(-1, size), axis=1).ravel(),
        np.repeat(np.arange(n // size), size),
    )


@pytest.fixture
def table():
    X, y, groups = grouped()
    problem = make_problem(X, y, groups, np.zeros(len(y), dtype=bool))
    return MemoryTable(problem, LeastSquares(X, fit_intercept=True))


def make_newton(table, gain=None, offset=0.05):
    start = table.start_at(END[:2] + offset, 0.0)
    start = start._replace(noise_scale=float(np.exp(END[2] + offset)))
    gain = np.diag(1.0 / (1.0 - RATES)) if gain is None else gain
    return Newton(start, gain, 1.0, table)


def iterate(method, n, error=0.0, rates=RATES):
    """EM's answers along the path: towards the end by `rates`, with a Monte Carlo error."""
    rng, steps = np.random.default_rng(1), []
    for _ in range(n):
        here = method.follow(steps).here
        after = END + rates * (here - END) + error * rng.normal(size=3)
        steps.append(Step(after[:2], 0.0, float(np.exp(after[2])), 1.0, 0.5))
    return steps


def test_one_full_step_ends_a_linear_map(table):
    method = make_newton(table)
    steps = iterate(method, NUMBERS.waiting_steps)
    assert np.array_equal(method.follow(steps).here, values_of(method.start))  # stays at first
    steps = iterate(method, NUMBERS.waiting_steps + 1)
    np.testing.assert_allclose(method.follow(steps).here, END, atol=1e-12)


@pytest.mark.long
def test_points_are_averaged_and_their_error_is_estimated(table):
    method = make_newton(table)
    few, many = (method.follow(iterate(method, n, error=1e-3)) for n in (60, 300))
    assert not many.diverged
    # The path is the mean of the points, the last full step included once.
    np.testing.assert_allclose(many.here, many.points.mean(axis=0), atol=2e-3)
    ratio = method.added(few.points) / method.added(many.points)
    expected = len(many.points) / len(few.points)
    assert np.all((ratio > 0.3 * expected) & (ratio < 3.0 * expected))


def test_what_is_added_is_the_variance_of_independent_points(table):
    method, rng = make_newton(table), np.random.default_rng(0)
    spread = 0.01
    points = END + spread * rng.normal(size=(4_000, 3))
    noise = NUMBERS.correlation * spread**2 / 4_000 / method.variances[1]
    assert method.added(points)[1] == pytest.approx(noise, rel=4.5 * np.sqrt(2 / 4_000))


def test_stops_when_the_error_is_small_and_not_before(table):
    quiet, loud = make_newton(table), make_newton(table)
    n = NUMBERS.waiting_steps + NUMBERS.full_steps + NUMBERS.fewest_points
    stop = StopOnAverage(quiet, 0.2, never)
    assert not stop(iterate(quiet, n - 1, error=1e-4))
    assert stop(iterate(quiet, n, error=1e-4))
    assert not StopOnAverage(loud, 0.2, never)(iterate(loud, n, error=0.02))


def test_a_gain_far_too_large_is_noticed(table):
    method = make_newton(table, gain=30.0 * np.eye(3), offset=1.0)
    path = method.follow(iterate(method, 12))
    assert path.diverged
    plain = END + RATES**12 * 1.0
    assert np.linalg.norm(path.here - END) < 100 * np.linalg.norm(plain - END)


def test_carrying_over_changes_nothing_where_nothing_has_changed(table):
    state = table.start_at(END[:2], 0.0)._replace(noise_scale=0.5)
    state = state._replace(perm=draw_permutation(table.problem, state.fitted, 0.5, 3))
    for n_jobs in (1, 2):
        with Workers(n_jobs) as workers:
            carried = carry_over(table.problem, state, state, workers)
        assert np.array_equal(carried.perm, state.perm)


def test_carried_labels_follow_the_fitted_values(table):
    before = table.start_at(END[:2], 0.0)._replace(noise_scale=0.5)
    before = before._replace(perm=draw_permutation(table.problem, before.fitted, 0.5, 3))
    after = table.start_at(-END[:2], 0.0)
    after = after._replace(noise_scale=0.5, perm=before.perm)
    with Workers(1) as workers:
        carried = carry_over(table.problem, before, after, workers)
    stale = np.mean((table.problem.y[before.perm] - after.fitted) ** 2)
    fresh = np.mean((table.problem.y[carried.perm] - after.fitted) ** 2)
    assert fresh < 0.2 * stale
    groups = np.repeat(np.arange(table.problem.n_blocks), np.diff(table.problem.starts))
    assert np.array_equal(groups[carried.perm], groups)


def test_a_drawn_permutation_has_about_the_energy_of_the_posterior(table):
    state = table.start_at(END[:2], 0.0)
    drawn = draw_permutation(table.problem, state.fitted, 0.5, 0)
    energy = np.mean((table.problem.y[drawn] - state.fitted) ** 2)
    assert 0.8 * 0.25 < energy < 1.5 * 0.25
    sorted_alike = draw_permutation(
        table.problem, state.fitted, 0.0, 0
    )  # the control: no noise at all
    assert np.mean((table.problem.y[sorted_alike] - state.fitted) ** 2) < 0.5 * 0.25


@pytest.mark.long
def test_newton_ends_where_em_ends_in_fewer_iterations():
    X, y, groups = grouped(n=12_000, size=30)
    plain = in_memory(X, y, groups, max_iter=300)
    em = EMSettings(sample=SampleSettings(rows=4_000, fewest_rows=5_000, fewest_groups=100))
    fits = [in_memory(X, y, groups, max_iter=300, n_jobs=n, em=em) for n in (1, 2)]
    fast = fits[0]
    assert fast.iterations.n_iter < plain.iterations.n_iter
    errors = plain.uncertainty.standard_errors[1:]
    assert np.abs((fast.coef - plain.coef) / errors).max() < 1.5  # both have Monte Carlo error
    assert np.abs(fast.coef - END[:2]).max() < 4.5 * errors.max()
    found = fast.uncertainty.standard_errors
    np.testing.assert_allclose(found, plain.uncertainty.standard_errors, rtol=0.3)
    assert np.array_equal(fits[1].coef, fast.coef)
