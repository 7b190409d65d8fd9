import numpy as np
import pytest
import statsmodels.api as sm

from unshuffle import ShuffledRegressor, StochasticEMRegressor
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.em.information import louis_covariance
from unshuffle.em.scores import score_snapshots
from unshuffle.families.least_squares import LeastSquares


@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("as_groups", [True, False])
def test_known_order_gives_classical_inference(fit_intercept, as_groups):
    data = make_shuffled_regression(
        60, 3, intercept=2.0, shuffle="swaps", n_swaps=0, random_state=0
    )
    model = ShuffledRegressor(fit_intercept=fit_intercept, random_state=0)
    if as_groups:
        model = StochasticEMRegressor(fit_intercept=fit_intercept, random_state=0)
        model.fit(data.X, data.y, groups=np.arange(60))
    else:
        model.set_params(pairing="known").fit(data.X, data.y)
    X = sm.add_constant(data.X) if fit_intercept else data.X
    classical = sm.OLS(data.y, X).fit()
    np.testing.assert_allclose(model.standard_errors_, classical.bse, rtol=1e-8)
    np.testing.assert_allclose(model.covariance_, classical.cov_params(), rtol=1e-8, atol=1e-12)
    for level in (0.8, 0.95):
        expected = classical.conf_int(1 - level)
        np.testing.assert_allclose(model.conf_int(level), expected, rtol=1e-8)
    frame = model.summary().to_frame()["unshuffle"]
    np.testing.assert_allclose(frame["p"], classical.pvalues, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(frame["t"], classical.tvalues, rtol=1e-8)


def cover(model, data, truth):
    model.fit(data.X, data.y, groups=data.groups)
    low, high = model.conf_int().T
    values = np.append(model.intercept_, model.coef_)
    errors = (values - truth) / model.standard_errors_
    classical = LeastSquares(data.X, fit_intercept=True)
    naive = np.sqrt(np.diag(classical.to_coef @ classical.to_coef.T)) * model.noise_scale_
    return (low <= truth) & (truth <= high), errors, np.abs(values[1:] - truth[1:]) < 1.96 * naive


@pytest.mark.long
@pytest.mark.parametrize("kind", [pytest.param("mostly right", marks=pytest.mark.slow), "groups"])
def test_intervals_cover_and_those_that_ignore_the_shuffle_do_not(kind):
    covered, naive, n_sets = [], [], 60
    for seed in range(n_sets):
        if kind == "mostly right":
            data = make_shuffled_regression(
                300, 3, noise=1.0, shuffle="fraction", fraction=0.4, random_state=seed
            )
            model = StochasticEMRegressor(mismatch_rate="estimate", max_iter=200, random_state=seed)
        else:
            data = make_shuffled_regression(
                300, 3, noise=0.7, shuffle="groups", n_groups=30, group_by="random",
                random_state=seed,
            )  # fmt: skip
            # 66 proposals per row: the chain adds little to the error of the data.
            model = StochasticEMRegressor(max_iter=200, n_steps=20_000, random_state=seed)
        inside, _, ignoring = cover(model, data, np.append(0.0, data.coef))
        covered.append(inside[1:])
        naive.append(ignoring)
    # Binomial error of 180 intervals that are nearly independent, 4.5 standard errors.
    limit = 0.95 - 4.5 * np.sqrt(0.95 * 0.05 / (3 * n_sets))
    assert np.mean(covered) > limit
    assert np.mean(naive) < (limit if kind == "groups" else np.mean(covered))


def test_lost_order_can_only_take_information_away():
    data = make_shuffled_regression(
        200, 3, noise=0.5, shuffle="groups", n_groups=20, random_state=0
    )
    model = StochasticEMRegressor(max_iter=200, random_state=0)
    model.fit(data.X, data.y, groups=data.groups)
    problem = make_problem(data.X, data.y, data.groups, np.zeros(200, dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=True)
    complete = louis_covariance(problem, solver, model.noise_scale_, np.empty((0, 5)), None)
    assert np.all(model.standard_errors_ >= 0.999 * np.sqrt(np.diag(complete.coef)))
    assert 0.0 < model.information_kept_ < 1.0


def test_scores_of_two_rows_have_the_enumerated_covariance():
    from unshuffle.alignment.chain import Chain
    from unshuffle.alignment.priors import Prior
    from unshuffle.alignment.sampled import SampledAlignment
    from unshuffle.em.memory import start_from_coefficients
    from unshuffle.kernels.swap import Schedule

    X = np.array([[0.0], [1.0], [5.0], [7.0]])
    y = np.array([0.3, 0.8, 5.0, 7.2])
    problem = make_problem(X, y, np.array([0, 0, 1, 2]), np.zeros(4, dtype=bool))
    solver = LeastSquares(problem.X, fit_intercept=True)
    state = start_from_coefficients(problem, solver, np.array([1.0]), 0.0)
    state = state._replace(noise_scale=0.8)
    align = SampledAlignment(Chain(problem, Schedule(20, 0, 1), 3, Workers(1)), Prior())
    n_snapshots = 4000
    scores = score_snapshots(problem, solver, state, align, n_snapshots, 0).scores[:, 0]
    # Swapping the two labels changes the log-posterior by (mu_1 - mu_0)(y_0 - y_1) / s².
    odds = np.exp(-(1.0 * 0.5) / 0.8**2)
    p = odds / (1 + odds)
    moved = scores[:, -1] > 0
    assert abs(moved.mean() - p) < 4.5 * np.sqrt(p * (1 - p) / n_snapshots) * 2
    jump = np.ptp(scores[:, 0])
    exact = solver.coordinates(np.array([0.3, 0.8, 0, 0]))
    exact = exact - solver.coordinates(np.array([0.8, 0.3, 0, 0]))
    assert jump == pytest.approx(abs(exact[0]) / 0.8**2)
    share = moved.mean() * (1 - moved.mean())
    assert np.var(scores[:, 0]) == pytest.approx(jump**2 * share)


def test_bad_requests_are_named():
    data = make_shuffled_regression(60, 2, shuffle="groups", n_groups=20, random_state=0)
    model = StochasticEMRegressor(max_iter=200, random_state=0)
    model.fit(data.X, data.y, groups=data.groups)
    with pytest.raises(ValueError, match="level is a share"):
        model.conf_int(95)
    with pytest.raises(ValueError, match="method must be"):
        model.conf_int(method="magic")
    model.set_params(variant="published").fit(data.X, data.y, groups=data.groups)
    with pytest.raises(ValueError, match="no standard errors"):
        model.summary()


def test_covariances_of_strata_add_up_to_the_enumerated_one():
    """Groups of two rows: the covariance is a sum over groups of p (1 - p) jump²."""
    from unshuffle.alignment.chain import Chain
    from unshuffle.alignment.priors import Prior
    from unshuffle.alignment.sampled import SampledAlignment
    from unshuffle.em.memory import start_from_coefficients
    from unshuffle.em.scores import covariance_over_snapshots
    from unshuffle.kernels.swap import Schedule

    rng = np.random.default_rng(0)
    n_groups, scale, n_snapshots = 400, 0.8, 12
    X = rng.normal(size=(2 * n_groups, 1))
    y = X[:, 0] + scale * rng.normal(size=2 * n_groups)
    problem = make_problem(X, y, np.repeat(np.arange(n_groups), 2), np.zeros(len(y), dtype=bool))
    solver = LeastSquares(X, fit_intercept=True)
    state = start_from_coefficients(problem, solver, np.array([1.0]), 0.0)
    state = state._replace(noise_scale=scale)
    align = SampledAlignment(Chain(problem, Schedule(40 * len(y), 0, 1), 3, Workers(1)), Prior())
    scores = score_snapshots(problem, solver, state, align, n_snapshots, 0).scores
    assert scores.shape == (n_snapshots, n_groups, 3)
    a, b = y[::2], y[1::2]
    odds = np.exp(-(X[1::2, 0] - X[::2, 0]) * (b - a) / scale**2)
    p = odds / (1 + odds)
    jump = (X[1::2, 0] - X[::2, 0]) * (b - a) * solver.to_coef[0, 0] / scale**2
    exact = np.sum(p * (1 - p) * jump**2)
    found = covariance_over_snapshots(scores)[0, 0]
    # Kurtosis of single groups is high: the error comes from the spread of their variances.
    single = scores[:, :, 0].var(axis=0, ddof=1)
    error = np.sqrt(n_groups) * single.std()
    assert abs(found - exact) < 4.5 * error
    assert abs(2 * found - exact) > 4.5 * error


def test_few_snapshots_of_many_coefficients_are_drawn_together():
    """Ten directions that vary alike, seen 24 times: the raw covariance spreads them far apart."""
    from unshuffle.em.scores import covariance_over_snapshots

    rng = np.random.default_rng(0)
    scores = rng.normal(size=(24, 1, 12)) * np.append(np.ones(10), [3.0, 0.2])
    raw = np.linalg.eigvalsh(np.cov(scores[:, 0, :10].T))
    found = covariance_over_snapshots(scores)
    drawn = np.linalg.eigvalsh(found[:10, :10])
    assert np.ptp(drawn) < 0.35 * np.ptp(raw)
    assert np.trace(found[:10, :10]) == pytest.approx(raw.sum())
    np.testing.assert_allclose(np.diag(found)[10:], scores[:, 0, 10:].var(axis=0, ddof=1))


def test_directions_that_truly_differ_stay_apart():
    from unshuffle.em.scores import covariance_over_snapshots

    rng = np.random.default_rng(0)
    truth = np.append(np.linspace(0.2, 2.0, 4), [1.0, 1.0])
    found = covariance_over_snapshots(rng.normal(size=(4_000, 1, 6)) * truth)
    np.testing.assert_allclose(np.diag(found), truth**2, rtol=0.12, atol=0.02)
