import pickle
from itertools import pairwise

import numpy as np
import pytest
import statsmodels.api as sm

from oracles import enumerated_posterior, group_permutations
from unshuffle import ShuffledRegressor, StochasticEMRegressor
from unshuffle.alignment.chain import Chain
from unshuffle.alignment.priors import Prior
from unshuffle.alignment.sampled import SampledAlignment
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.em.memory import start_from_coefficients, start_from_labels
from unshuffle.families.least_squares import LeastSquares
from unshuffle.inference import sandwich
from unshuffle.inference.sampling_settings import SANDWICH
from unshuffle.kernels.swap import Schedule


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("as_groups", [True, False])
def test_known_order_gives_hc1(fit_intercept, as_groups):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 3)) + 1.0
    y = 2.0 + X @ [1.0, -2.0, 0.5] + np.abs(X[:, 0]) * rng.normal(size=80)
    if as_groups:
        model = StochasticEMRegressor(fit_intercept=fit_intercept, random_state=0)
        model.fit(X, y, groups=rng.permutation(80))
    else:
        model = ShuffledRegressor(pairing="known", fit_intercept=fit_intercept).fit(X, y)
    robust = sm.OLS(y, sm.add_constant(X) if fit_intercept else X).fit(cov_type="HC1", use_t=True)
    np.testing.assert_allclose(model.covariance("sandwich"), robust.cov_params(), rtol=1e-8)
    for level in (0.8, 0.95):
        found = model.conf_int(level, method="sandwich")
        np.testing.assert_allclose(found, robust.conf_int(1 - level), rtol=1e-8)


def test_units_of_several_rows_give_the_clustered_covariance():
    data = make_shuffled_regression(
        90, 2, intercept=1.0, shuffle="swaps", n_swaps=0, random_state=1
    )
    codes = np.repeat(np.arange(30), 3)
    order = np.random.default_rng(0).permutation(90)
    problem = make_problem(data.X[order], data.y[order], codes[order], np.zeros(90, dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=True)
    state = start_from_labels(problem, solver, problem.y)
    found = sandwich.sandwich(
        problem, solver, state, sandwich.nothing_lost(problem, solver),
        sandwich.unit_codes(problem, by_group=True), None,
    )  # fmt: skip
    clustered = sm.OLS(data.y, sm.add_constant(data.X)).fit(
        cov_type="cluster", cov_kwds={"groups": codes}
    )
    np.testing.assert_allclose(found.covariance.coef, clustered.cov_params(), rtol=1e-8)
    assert found.freedom == 29


def small_problem():
    rng = np.random.default_rng(3)
    X = rng.normal(size=(9, 2)) + 1.0
    y = X @ [1.0, 0.5] + 0.6 * rng.normal(size=9)
    groups = np.array([0, 1, 0, 1, 2, 0, 1, 2, 3])  # the last one has nobody to exchange with
    problem = make_problem(X, y, groups, np.zeros(9, dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=True)
    state = start_from_coefficients(problem, solver, np.array([0.9, 0.6]), 0.1)
    return problem, solver, state._replace(noise_scale=0.7)


def enumerated(problem, solver, state):
    """Expectations and covariance of scores, by brute force."""
    perms, probability = enumerated_posterior(
        state.fitted, problem.y, state.noise_scale, problem.starts
    )
    held = np.array([problem.y[perm] for perm in perms])
    moved = np.array([perm != np.arange(len(perm)) for perm in perms])
    theta = np.array([solver.coordinates(problem.restore(v)) for v in held]) / state.noise_scale**2
    squares = ((held - state.fitted) ** 2).sum(axis=1) / state.noise_scale**2
    scores = np.column_stack([theta, squares, moved.sum(axis=1)])
    missing = np.cov(scores, rowvar=False, aweights=probability, bias=True)
    return sandwich.Expected(
        probability @ held, probability @ held**2, probability @ moved, missing
    )


def block_log_likelihoods(problem, fitted, scale):
    """Logarithm of the sum over permutations, for each group and each pinned row."""
    edges = [*problem.starts, *range(problem.n_movable + 1, problem.n_rows + 1)]
    levels = []
    for first, last in pairwise(edges):
        y, mu = problem.y[first:last], fitted[first:last]
        perms = group_permutations([0, last - first], last - first)
        terms = [-np.sum((y[p] - mu) ** 2) / (2 * scale**2) for p in perms]
        levels.append(np.logaddexp.reduce(terms) - (last - first) * np.log(scale))
    return np.array(levels)


def test_scores_are_gradients_of_the_enumerated_likelihood():
    problem, solver, state = small_problem()
    rows = sandwich.row_scores(problem, solver, state, enumerated(problem, solver, state), None)
    codes = sandwich.unit_codes(problem, by_group=True)
    units = np.zeros((4, 4))
    np.add.at(units, codes, rows)
    step, gradient = 1e-5, np.empty((4, 4))
    basis = problem.arrange(
        np.column_stack([np.full(9, 1 / 3.0), (problem.X - solver.centre) @ solver.to_coef])
    )
    for k in range(3):
        up, down = (state.fitted + sign * step * basis[:, k] for sign in (1, -1))
        difference = block_log_likelihoods(problem, up, 0.7)
        difference -= block_log_likelihoods(problem, down, 0.7)
        gradient[:, k] = difference / (2 * step)
    up, down = (
        block_log_likelihoods(problem, state.fitted, 0.7 * np.exp(s)) for s in (step, -step)
    )
    gradient[:, 3] = (up - down) / (2 * step)
    np.testing.assert_allclose(units[:, :3], gradient[:, :3], atol=1e-7)
    # Scores of the noise are taken around their mean over rows.
    sizes = np.bincount(codes)
    np.testing.assert_allclose(
        units[:, 3], gradient[:, 3] - sizes * gradient[:, 3].sum() / 9, atol=1e-7
    )


def test_chain_expects_what_enumeration_does():
    problem, solver, state = small_problem()
    align = SampledAlignment(Chain(problem, Schedule(200, 0, 1), 5, Workers(1)), Prior())
    found, exact = (
        sandwich.expect(problem, solver, state, align, 0),
        enumerated(problem, solver, state),
    )
    n_snapshots = SANDWICH.more_snapshots * 250
    spread = np.sqrt(np.maximum(exact.squares - exact.labels**2, 0.0))
    # Snapshots some twenty sweeps apart are nearly independent, averages in between are better.
    limit = 4.5 / np.sqrt(n_snapshots)
    assert np.all(np.abs(found.labels - exact.labels) <= limit * spread + 1e-12)
    assert np.all(np.abs(found.away - exact.away) <= limit * 0.5)
    assert found.squares.sum() == pytest.approx(np.sum(problem.y**2))
    size = np.sqrt(np.outer(np.diag(exact.missing), np.diag(exact.missing)))
    error = np.abs(found.missing - exact.missing)[:3, :3] / size[:3, :3]
    # Fourth moments of a score with few values are below three times those of a normal one.
    assert np.all(error < limit * np.sqrt(3 * 2.0))
    assert np.all(
        np.abs(2.0 * found.missing - exact.missing).diagonal()[:3] / np.diag(size)[:3] > limit
    )


def uneven(seed, n_groups=50, size=3):
    """Noise that grows with the first feature, order lost inside groups."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_groups * size, 2))
    y = X @ [1.0, 1.0] + 0.5 * np.abs(X[:, 0]) * rng.normal(size=len(X))
    groups = np.repeat(np.arange(n_groups), size)
    return X, y[np.lexsort((rng.random(len(X)), groups))], groups


@pytest.mark.long
def test_sandwich_covers_where_noise_is_uneven_and_information_does_not():
    n_sets, inside = 70, {"sandwich": 0, "information": 0}
    for seed in range(n_sets):
        X, y, groups = uneven(seed)
        model = StochasticEMRegressor(n_steps=3_000, max_iter=60, tol=1.0, random_state=seed)
        model.fit(X, y, groups=groups)
        for method in inside:
            low, high = model.conf_int(method=method)[1]
            inside[method] += low <= 1.0 <= high
    # Three times the variance that even noise would give: 1.96 / sqrt(3) covers 74 %.
    limit = 0.95 - 4.5 * np.sqrt(0.95 * 0.05 / n_sets)
    assert inside["sandwich"] / n_sets > limit
    assert inside["information"] / n_sets < limit


@pytest.fixture(scope="module")
def two_groups():
    data = make_shuffled_regression(80, 2, noise=0.2, shuffle="groups", n_groups=2, random_state=0)
    return data, StochasticEMRegressor(max_iter=200, random_state=0).fit(
        data.X, data.y, groups=data.groups
    )


def test_too_few_groups_are_refused(two_groups):
    data, model = two_groups
    with pytest.raises(ValueError, match=r"amount to 2 independent groups.*method='bootstrap'"):
        model.conf_int(method="sandwich")
    # Known rows beside one large group are many units, but say little of the group's rows.
    known = np.arange(80) < 30
    model = StochasticEMRegressor(max_iter=200, random_state=0).fit(data.X, data.y, known=known)
    with pytest.raises(ValueError, match=r"needs at least 14"):
        model.covariance("sandwich")


def test_what_does_not_follow_the_model_is_refused(grouped):
    model = StochasticEMRegressor(ridge=0.1, max_iter=200, random_state=0)
    model.fit(grouped.X, grouped.y, groups=grouped.groups)
    with pytest.raises(ValueError, match=r"does not maximise the likelihood.*bootstrap"):
        model.conf_int(method="sandwich")


def test_a_loaded_model_has_no_data_to_make_a_sandwich_from(grouped):
    model = StochasticEMRegressor(max_iter=200, random_state=0)
    model.fit(grouped.X, grouped.y, groups=grouped.groups)
    before = model.conf_int(method="sandwich")
    np.testing.assert_array_equal(model.conf_int(method="sandwich"), before)
    loaded = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(loaded.covariance(), model.covariance_)
    with pytest.raises(ValueError, match="loaded from a file"):
        loaded.conf_int(method="sandwich")


def test_bad_requests_are_named(grouped):
    model = StochasticEMRegressor(max_iter=200, random_state=0)
    model.fit(grouped.X, grouped.y, groups=grouped.groups)
    with pytest.raises(ValueError, match=r"takes no further options, got n_boot"):
        model.conf_int(method="sandwich", n_boot=10)
    with pytest.raises(ValueError, match="method must be 'information' or 'sandwich'"):
        model.covariance("bootstrap")
    with pytest.raises(ValueError, match="method must be one of 'information'"):
        model.noise_scale_interval(method="posterior")
    with pytest.raises(ValueError, match="no rate of mismatches was estimated"):
        model.mismatch_rate_interval()
