"""E-steps of every family: against sums over all permutations, and over all pairs."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

from unshuffle.alignment.sampled import NOBODY
from unshuffle.alignment.settings import TIED
from unshuffle.alignment.sweeps import Sweeps
from unshuffle.alignment.tied import nodes_of_labels, tie
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.families.catalogue import FAMILIES
from unshuffle.families.cox import Times, cox_rows
from unshuffle.fits.glm.climb import hessian_of
from unshuffle.fits.glm.cox_model import CoxModel
from unshuffle.fits.glm.data import arrange_data
from unshuffle.fits.glm.known import fit_known_times
from unshuffle.fits.glm.tied_model import TiedModel, expected_statistics, share_out
from unshuffle.kernels.conditional_bernoulli import expect_labels
from unshuffle.kernels.swap import Schedule

N, PRECISION = 6, 3.0


def small(name, n=N, seed=0, sizes=None):
    rng = np.random.default_rng(seed)
    eta = rng.normal(size=n)
    y = FAMILIES[name].simulate(eta, PRECISION, rng)
    codes = np.zeros(n, dtype=int) if sizes is None else np.repeat(np.arange(len(sizes)), sizes)
    return eta, make_problem(eta[:, None], y, codes, np.zeros(n, dtype=bool))


def enumerated(family, eta, y):
    """Expected label of each row over all permutations, from log densities alone."""
    orders = np.array(list(permutations(range(len(y)))))
    logs = np.array([family.log_density(y[order], eta, PRECISION).sum() for order in orders])
    weights = np.exp(logs - logs.max())
    return (weights / weights.sum()) @ y[orders]


def sampled(family, eta, problem, weight=1.0, n_runs=40):
    """Mean and error of independent chains."""
    rows = family.interaction(eta, PRECISION)
    rows = rows._replace(weight=weight * rows.weight)
    sweeps = Sweeps(problem, Schedule(8_000, 800, 1), 1, Workers(1))
    runs = []
    for k in range(n_runs):
        perm = np.arange(problem.n_rows)
        runs.append(sweeps.run(rows, problem.y, perm, k, np.empty(0), NOBODY)[0])
    return np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1) / n_runs**0.5


@pytest.mark.parametrize("name", FAMILIES)
def test_the_chain_equals_enumeration(name):
    eta, problem = small(name, seed=1)
    family = FAMILIES[name]
    truth = enumerated(family, eta, problem.y)
    mean, error = sampled(family, eta, problem)
    assert np.all(np.abs(mean - truth) < 4.5 * error + 1e-12)
    wrong, error = sampled(family, eta, problem, weight=2.0)  # the control
    assert np.any(np.abs(wrong - truth) > 4.5 * error)


@pytest.mark.parametrize("seed", range(4))
def test_conditional_bernoulli_equals_enumeration(seed):
    rng = np.random.default_rng(seed)
    eta = 2.0 * rng.normal(size=N)
    for count in range(N + 1):
        y = (np.arange(N) < count).astype(float)
        expected = np.empty(N)
        level = expect_labels(eta, np.array([count]), np.array([0, N]), expected)
        np.testing.assert_allclose(expected, enumerated(FAMILIES["bernoulli"], eta, y), atol=1e-12)
        p = 1.0 / (1.0 + np.exp(-eta))
        sets = np.array(np.meshgrid(*[[0, 1]] * N)).reshape(N, -1).T
        chosen = sets[sets.sum(axis=1) == count]
        assert np.exp(level) == pytest.approx(np.prod(np.where(chosen, p, 1 - p), axis=1).sum())


def test_conditional_bernoulli_of_a_large_group_far_off():
    eta = np.linspace(-30.0, -10.0, 400)  # 350 ones are next to impossible, and yet there
    expected = np.empty(400)
    level = expect_labels(eta, np.array([350]), np.array([0, 400]), expected)
    assert np.isfinite(level)
    assert expected.sum() == pytest.approx(350.0)
    assert np.all(np.diff(expected) >= -1e-12)


def pairs(rows, v, weights, codes):
    """Mean densities of redrawn labels, and of each pair, by loops."""
    density = np.exp(rows.a[None, :] + v @ rows.u.T)  # label, row
    density *= weights * (codes[:, None] == codes)
    totals = np.array([weights[codes == g].sum() for g in codes])
    return density.sum(axis=1) / totals, density / density.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", [*FAMILIES, "cox"])
def test_the_tied_e_step_equals_sums_over_pairs(name):
    eta, problem = small("gamma" if name == "cox" else name, 12, sizes=[5, 7])
    codes = np.repeat([0, 1], [5, 7])
    rng = np.random.default_rng(1)
    weights, redrawn = rng.uniform(0.5, 2.0, size=12), rng.uniform(0.1, 0.9, size=12)
    if name == "cox":
        rows_at = cox_rows
        v = np.column_stack([rng.integers(0, 2, size=12), rng.exponential(size=12)])
    else:
        family = FAMILIES[name]
        v = family.label_terms(problem.y, PRECISION).v

        def rows_at(points):
            return family.row_terms(points, PRECISION)

    data = replace(
        arrange_data(problem, fit_intercept=True, sample_weight=weights), weights=weights
    )
    nodes = nodes_of_labels(v, problem.starts, v[:, -1], np.copy, 1.0, continuous=False)
    tied = tie(rows_at, eta, weights, problem.starts, nodes)
    rows = rows_at(eta)
    mean, share = pairs(rows, v, weights, codes)
    np.testing.assert_allclose(np.exp(tied.log_mean), mean)
    own = np.exp(rows.a + (rows.u * v).sum(axis=1))
    total = (1 - redrawn) * own + redrawn * mean
    shares = share_out(data, rows, v, tied, redrawn)
    np.testing.assert_allclose(shares.own, (1 - redrawn) * own / total)
    np.testing.assert_allclose(
        shares.matched, shares.own + (1 - shares.own) * np.diag(share), atol=1e-14
    )
    mass, sums = expected_statistics(data, v, tied, shares)
    given = (weights * (1 - shares.own))[:, None] * share  # label to row
    np.testing.assert_allclose(mass, weights * shares.own + given.sum(axis=0))
    np.testing.assert_allclose(sums, (weights * shares.own)[:, None] * v + given.T @ v)


def problem_of(name, n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = FAMILIES[name].simulate(0.3 + X @ [0.8, -0.5], PRECISION, rng)
    return make_problem(X, y, np.zeros(n, dtype=int), np.zeros(n, dtype=bool))


@pytest.mark.parametrize("name", FAMILIES)
def test_gradient_and_scores(name):
    data = arrange_data(problem_of(name, 150), fit_intercept=True)
    model = TiedModel(data, FAMILIES[name], precision=PRECISION)
    at = model.pack(np.array([0.2, 0.5, -0.4]), PRECISION, 0.3)
    found = model.evaluate(at)
    numeric = [
        (model.evaluate(at + step).value - model.evaluate(at - step).value) / 2e-5
        for step in 1e-5 * np.eye(len(at))
    ]
    np.testing.assert_allclose(found.gradient, numeric, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(model.row_scores(at).sum(axis=0), found.gradient, rtol=1e-9)


@pytest.mark.parametrize("name", ["gamma", "normal", "poisson"])
def test_grids_equal_exact_sums(name):
    problem = problem_of(name, 1_500)
    v, starts = problem.y[:, None], problem.starts
    family, eta = FAMILIES[name], 0.3 + problem.X @ [0.8, -0.5]
    exact = replace(TIED, most_distinct=10**6, collects=False)
    smooth, back = (np.log, np.exp) if name == "gamma" else (np.copy, np.copy)

    def log_mean(settings):
        nodes = nodes_of_labels(
            v, starts, smooth(problem.y), back, 0.3, continuous=False, settings=settings
        )
        return tie(
            lambda at: family.row_terms(at, PRECISION),
            eta, np.ones(1_500), starts, nodes, PRECISION**-0.5, settings,
        ).log_mean  # fmt: skip

    np.testing.assert_allclose(log_mean(TIED), log_mean(exact), atol=1e-4)


def test_the_profile_of_times_has_the_gradient_it_reports():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    time = rng.exponential(np.exp(-X @ [1.0, -0.5]))
    event = (rng.random(300) < 0.8).astype(float)
    problem = make_problem(X, time, np.zeros(300, dtype=int), np.zeros(300, dtype=bool))
    data = arrange_data(problem, fit_intercept=False, event=event)
    times = Times(time, event)
    model = CoxModel(data, times, fit_known_times(data, times).jumps)
    model.sharpen()
    at = model.pack(np.array([0.8, -0.6]), 0.2)
    numeric = [
        (model.evaluate(at + step).value - model.evaluate(at - step).value) / 2e-4
        for step in 1e-4 * np.eye(3)
    ]
    np.testing.assert_allclose(model.evaluate(at).gradient, numeric, rtol=1e-3, atol=1e-3)
    # At a rate of next to zero the profile is the partial likelihood.
    known = fit_known_times(data, times)
    none = model.pack(known.theta, 1e-9)
    curvature = hessian_of(lambda x: model.evaluate(x).gradient, none, 1e-4)[:2, :2]
    np.testing.assert_allclose(np.linalg.inv(-curvature), known.covariance, rtol=1e-3)
