"""Labels in lost order whose noise is not normal: chain, likelihood, M-step and the whole fit."""

from itertools import permutations

import numpy as np
import pytest

from unshuffle import ShuffledRegressor, ShuffledRegressorCV, plots
from unshuffle.alignment.law_chain import LawChain
from unshuffle.alignment.law_sinkhorn import LawSinkhorn
from unshuffle.alignment.priors import Prior
from unshuffle.alignment.settings import SinkhornSettings
from unshuffle.alignment.sinkhorn import SinkhornAlignment
from unshuffle.alignment.state import State
from unshuffle.data.problem import Problem
from unshuffle.em.law import LawTable
from unshuffle.families.law_tables import (
    centred,
    freedom_and_scale,
    log_density_at,
    neighbours,
    standard_deviation,
    tables_of,
)
from unshuffle.families.least_squares import LeastSquares
from unshuffle.families.noise import NoiseShape, component_shares, t_law
from unshuffle.inference.law_likelihood import log_likelihood_gains
from unshuffle.kernels.noise import NoiseLaw

THREE = NoiseShape("mixture", 3, free_means=True)
SKEWED = centred(
    NoiseLaw(np.array([0.6, 0.3, 0.1]), np.array([-0.5, 0.2, 2.0]), np.array([0.2, 0.5, 1.0]))
)[0]


def normal(scale):
    return NoiseLaw(np.ones(1), np.zeros(1), np.array([scale]))


def small_problem(seed=0, n=6, n_blocks=1):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 1))
    y = X[:, 0] + rng.normal(size=n)
    starts = np.arange(n_blocks + 1) * (n // n_blocks)
    return Problem(X, y, starts, None, n_blocks)


def state_of(problem, law):
    fitted = 0.2 + 0.8 * problem.X[:, 0]
    own = np.arange(problem.n_rows)
    return State(
        np.array([0.8]), 0.2, standard_deviation(law), 0.0, fitted=fitted, labels=problem.y,
        perm=own, law=law,
    )  # fmt: skip


def enumerate_blocks(problem, fitted, law):
    """Log of the sum over permutations of each block, and the expected labels."""
    totals, expected = [], problem.y.copy()
    for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
        rows = np.arange(first, last)
        ways = np.array(list(permutations(rows)))
        logs = np.array([
            log_density_at(law, problem.y[way] - fitted[rows]).sum() for way in ways
        ])  # fmt: skip
        weight = np.exp(logs - logs.max())
        totals.append(logs.max() + np.log(weight.sum()))
        expected[rows] = weight @ problem.y[ways] / weight.sum()
    return np.array(totals), expected


def chain_means(problem, state, n_runs=40):
    """Expected labels from runs of the chain, and their standard errors over the runs."""
    chain, runs = LawChain(problem, 3, 20, 200), []
    for number in range(n_runs):
        found = chain(state, number)
        state = state._replace(perm=found.perm)
        runs.append(found.sums.expected)
    return np.mean(runs, axis=0), np.std(runs, axis=0, ddof=1) / np.sqrt(n_runs)


@pytest.mark.parametrize("law", [SKEWED, t_law(3.0, 0.5)], ids=["three normals", "t"])
def test_the_chain_visits_permutations_as_often_as_enumeration_says(law):
    problem = small_problem()
    state = state_of(problem, law)
    _, expected = enumerate_blocks(problem, state.fitted, law)
    means, errors = chain_means(problem, state)
    assert np.all(np.abs(means - expected) < 4.5 * errors + 2e-3)
    # Control: normal noise of the same standard deviation gives other expectations.
    _, other = enumerate_blocks(problem, state.fitted, normal(standard_deviation(law)))
    assert np.any(np.abs(means - other) > 4.5 * errors + 2e-3)


def test_likelihoods_differ_by_what_enumeration_says():
    problem = small_problem(seed=1, n=12, n_blocks=2)
    before = state_of(problem, normal(0.9))
    after = state_of(problem, SKEWED)._replace(fitted=0.1 + 1.1 * problem.X[:, 0])
    exact = (
        enumerate_blocks(problem, after.fitted, SKEWED)[0]
        - enumerate_blocks(problem, before.fitted, before.law)[0]
    )
    runs = np.array([log_likelihood_gains(problem, seed, before, after) for seed in range(400)])
    error = runs.std(axis=0, ddof=1) / np.sqrt(len(runs))
    assert np.all(np.abs(runs.mean(axis=0) - np.append(exact, 0.0)) < 4.5 * error + 5e-3)
    assert np.all(np.abs(exact) > 10 * error[:-1])  # zero would not pass


def test_the_pull_is_the_derivative_of_the_log_density():
    nodes = np.linspace(-4, 9, 2601)
    tables = tables_of(SKEWED, nodes)
    slope = np.gradient(tables.log_density.values, nodes)
    assert np.abs(slope + tables.pull.values)[1:-1].max() < 1e-3
    assert np.exp(tables.log_density.values).sum() * (nodes[1] - nodes[0]) == pytest.approx(1.0)


def test_one_normal_makes_the_step_least_squares_on_expected_labels():
    problem = small_problem(seed=2, n=40, n_blocks=5)
    solver = LeastSquares(problem.X, fit_intercept=True)
    table = LawTable(problem, solver, NoiseShape("normal"), LawChain(problem, 0, 2, 30))
    found = table.align(state_of(problem, normal(0.7)), 0)
    solved, wanted = table.solve(found), solver.solve(found.sums.expected)
    np.testing.assert_allclose(solved.coef, wanted.coef, rtol=1e-9)
    assert solved.intercept == pytest.approx(wanted.intercept, abs=1e-9)


@pytest.mark.parametrize("law", [SKEWED, t_law(4.0, 0.5)])
def test_neighbours_have_mean_zero_and_lie_on_both_sides(law):
    shape = NoiseShape("t") if len(law.weights) > 3 else THREE
    pairs = neighbours(shape, law)
    assert len(pairs) == shape.n_parameters
    for below, above in pairs:
        for one in (below, above):
            assert one.weights @ one.means == pytest.approx(0.0, abs=1e-12)
        halfway = 0.5 * (np.array(below) + np.array(above))
        np.testing.assert_allclose(halfway, np.array(law), atol=1e-5)
        assert not np.allclose(np.array(below), np.array(above), atol=1e-6)


def test_freedom_and_scale_are_read_from_a_law():
    assert freedom_and_scale(t_law(7.0, 0.3)) == (7.0, pytest.approx(0.3))


def grouped(noise, n=400, size=5, seed=0):
    """Labels of two features, shuffled inside groups, and the slopes."""
    rng = np.random.default_rng(seed)
    X, slopes = rng.normal(size=(n, 2)), np.array([1.0, -0.5])
    groups = np.arange(n) // size
    y = X @ slopes + noise(rng, X)
    return X, y[np.lexsort((rng.random(n), groups))], groups, slopes


def lognormal(rng, X):
    return 0.4 * (np.exp(rng.normal(size=len(X))) - np.exp(0.5))


def error(model, slopes):
    return float(np.linalg.norm(model.coef_ - slopes))


@pytest.mark.long
def test_skewed_noise_is_fitted_better_by_a_mixture_than_by_a_normal():
    errors = {"normal": [], "mixture": []}
    for seed in range(5):
        X, y, groups, slopes = grouped(lognormal, seed=seed)
        for noise, found in errors.items():
            model = ShuffledRegressor(noise=noise, pairing="lost", random_state=0)
            found.append(error(model.fit(X, y, groups=groups), slopes))
    assert np.mean(errors["mixture"]) < 0.7 * np.mean(errors["normal"])


def test_normal_noise_is_fitted_alike_and_gains_nothing():
    X, y, groups, _ = grouped(lambda rng, X: 0.5 * rng.normal(size=len(X)))
    usual = ShuffledRegressor(pairing="lost", random_state=0).fit(X, y, groups=groups)
    for noise in ("t", "mixture"):
        model = ShuffledRegressor(noise=noise, pairing="lost", random_state=0)
        model.fit(X, y, groups=groups)
        assert np.all(np.abs(model.coef_ - usual.coef_) < 0.5 * usual.standard_errors_[1:])
        np.testing.assert_allclose(model.standard_errors_, usual.standard_errors_, rtol=0.25)
        assert model.noise_gain_ < 2.0
        assert model.noise_ == noise
        assert model.verdict_.level == usual.verdict_.level


def test_noise_that_grows_with_a_feature_is_noticed():
    def grows(rng, X):
        return 0.9 * np.exp(1.2 * X[:, 0]) * (np.exp(rng.normal(size=len(X))) - np.exp(0.5))

    X, y, groups, _ = grouped(grows, n=1000)
    model = ShuffledRegressor(noise="mixture", pairing="lost", random_state=0)
    model.fit(X, y, groups=groups)
    reasons = {reason.check: reason for reason in model.verdict_.reasons}
    assert reasons["agreement with normal noise"].level == "caution"


@pytest.fixture(scope="module")
def fitted():
    X, y, groups, _ = grouped(lognormal)
    model = ShuffledRegressor(noise="mixture", pairing="lost", random_state=0)
    return model.fit(X, y, groups=groups), X, y, groups


def test_the_law_is_kept_and_scored(fitted):
    model, X, y, groups = fitted
    assert model.noise_law_.weights.sum() == pytest.approx(1.0)
    assert model.noise_law_.weights @ model.noise_law_.means == pytest.approx(0.0, abs=1e-9)
    assert "mixture of normals, log likelihood +" in str(model.summary())
    usual = ShuffledRegressor(pairing="lost", random_state=0).fit(X, y, groups=groups)
    assert not hasattr(usual, "noise_law_")
    assert model.score(X, y, groups=groups) > usual.score(X, y, groups=groups)


def test_refits_are_the_same_and_threads_change_nothing(fitted):
    model, X, y, groups = fitted
    again = ShuffledRegressor(noise="mixture", pairing="lost", random_state=0, n_jobs=2)
    np.testing.assert_array_equal(again.fit(X, y, groups=groups).coef_, model.coef_)


def test_what_simulates_normal_noise_is_refused(fitted):
    model = fitted[0]
    for method in (model.bootstrap, model.posterior):
        with pytest.raises(ValueError, match="assumes normal noise"):
            method()


def test_robust_errors_are_there_for_the_asking(fitted):
    model, X, y, groups = fitted
    robust = ShuffledRegressor(
        noise="mixture", pairing="lost", random_state=0, covariance_type="robust"
    ).fit(X, y, groups=groups)
    np.testing.assert_array_equal(robust.coef_, model.coef_)
    assert robust.covariance_type_ == "robust"
    ratio = robust.standard_errors_[1:] / model.standard_errors_[1:]
    assert np.all((ratio > 0.6) & (ratio < 1.7))


@pytest.mark.long
def test_held_out_groups_choose_the_law():
    X, y, groups, _ = grouped(lognormal, n=300)
    model = ShuffledRegressorCV(
        noises=("normal", "mixture"), tempers=(1.0,), ridges=(0.0,), cv=3, random_state=0
    ).fit(X, y, groups=groups)
    assert model.noise_ == "mixture"
    assert list(model.cv_results_["noise"]).count("mixture") == 1
    assert ", noise mixture;" in str(model.summary())
    pytest.importorskip("matplotlib")
    names = plots.ChoiceDisplay.from_estimator(model).ax_.get_yticklabels()
    assert [name.get_text().endswith("noise mixture") for name in names] == [False, False, True]


def test_laws_without_a_name_are_refused():
    X, y, groups, _ = grouped(lognormal, n=60)
    with pytest.raises(ValueError, match="noises must hold one or more of 'mixture', 'normal'"):
        ShuffledRegressorCV(noises=("cauchy",)).fit(X, y, groups=groups)


def test_sinkhorn_sums_equal_those_of_its_matrix():
    problem = small_problem(n=12, n_blocks=3)
    state = state_of(problem, SKEWED)
    found = LawSinkhorn(problem)(state, 0)
    residual = problem.y - state.fitted[:, None]
    inside = np.kron(np.eye(3), np.ones((4, 4)))
    plan = inside * np.exp(log_density_at(SKEWED, residual.ravel())).reshape(12, 12)
    for _ in range(5000):
        plan /= plan.sum(axis=1, keepdims=True)
        plan /= plan.sum(axis=0)
    np.testing.assert_allclose(found.sums.expected, plan @ problem.y, atol=2e-3)
    np.testing.assert_allclose(found.sums.matched, np.diagonal(plan), atol=2e-3)
    shares = component_shares(residual.ravel(), SKEWED).reshape(12, 12, 3)
    weight = (plan[:, :, None] * shares / SKEWED.scales**2).sum(axis=(1, 2))
    pull = plan[:, :, None] * shares * (residual[:, :, None] - SKEWED.means) / SKEWED.scales**2
    np.testing.assert_allclose(found.sums.weight, weight, rtol=0.01)
    np.testing.assert_allclose(found.sums.pull, pull.sum(axis=(1, 2)), atol=0.02)
    assert found.sums.histogram.sum() == pytest.approx(12.0)


def test_sinkhorn_is_close_to_the_chain_under_a_law_of_the_noise():
    rng = np.random.default_rng(5)
    groups = np.repeat(np.arange(60), 8)
    X = rng.normal(size=(480, 2)) + rng.normal(size=(60, 2))[groups]
    y = X @ [1.0, -0.5] + 0.4 * rng.standard_t(3, 480)
    y = np.concatenate([rng.permutation(y[groups == g]) for g in range(60)])
    fits = {
        how: ShuffledRegressor(noise="t", alignment=how, random_state=0).fit(X, y, groups=groups)
        for how in ("chain", "sinkhorn", "auto")
    }
    errors = fits["chain"].standard_errors_[1:]
    np.testing.assert_array_equal(fits["auto"].coef_, fits["chain"].coef_)
    # The other E-step was used. Its noise is too large in small groups, as with normal noise, where
    # slopes differ from the chain's by up to three standard errors.
    away = np.abs(fits["sinkhorn"].coef_ - fits["chain"].coef_) / errors
    assert 0.0 < away.max() < 4.0
    assert fits["sinkhorn"].noise_ == "t"


def test_sinkhorn_under_one_normal_is_that_of_normal_noise():
    problem = small_problem(n=12, n_blocks=3)
    state = state_of(problem, normal(0.7))
    plain = SinkhornAlignment(problem, Prior())(state, 0)
    found = LawSinkhorn(problem)(state, 0)
    np.testing.assert_allclose(found.sums.expected, plain.expected, atol=2e-3)


def test_sinkhorn_refuses_groups_that_are_too_large():
    problem = small_problem(n=12, n_blocks=1)
    with pytest.raises(ValueError, match="takes groups of up to 10 rows, but one has 12"):
        LawSinkhorn(problem, SinkhornSettings(largest_dense_block=10))
