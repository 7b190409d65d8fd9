"""Which standard errors a fit reports: the model's, or those of the sandwich."""

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import f as f_distribution

from unshuffle import ShuffledRegressor, StochasticEMRegressor, load_model, save_model
from unshuffle.data.problem import make_problem
from unshuffle.datasets import make_shuffled_regression
from unshuffle.em.memory import start_from_labels
from unshuffle.families.least_squares import LeastSquares
from unshuffle.inference.sandwich import influences, nothing_lost, unit_codes
from unshuffle.inference.variance_test import _noise_parts, model_p_value, noise_p_value


def ordered(seed, growing, n=120):
    """Rows that hold their own labels, noise that grows with the fitted values or not."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    signal = X @ [1.0, 0.5]
    scale = np.exp(0.6 * signal) if growing else 1.0
    return X, 2.0 + signal + scale * rng.normal(size=n)


def setting(X, y):
    problem = make_problem(X, y, np.arange(len(y)), np.zeros(len(y), dtype=bool))
    solver = LeastSquares(X, fit_intercept=True)
    state = start_from_labels(problem, solver, problem.y)
    expected = nothing_lost(problem, solver)
    return problem, solver, state, expected, unit_codes(problem, by_group=False)


def p_value(X, y):
    return model_p_value(*setting(X, y), None)


def test_noise_test_is_that_of_an_artificial_regression():
    X, y = ordered(5, growing=False)
    problem, solver, state, expected, codes = setting(X, y)
    found = influences(problem, solver, state, expected, codes, None)
    # Regress ones on the terms tested and the scores of what was estimated: n times R squared.
    residual = y - state.fitted
    f = (state.fitted - state.fitted.mean()) / state.fitted.std()
    terms = np.stack([f, f**2 - np.mean(f**2)], axis=1)
    terms *= (residual**2 / state.noise_scale**2 - 1.0)[:, None]
    centred = residual**2 - np.mean(residual**2)
    scores = np.column_stack([residual, X * residual[:, None], centred])
    explained = sm.OLS(np.ones(120), np.column_stack([terms, scores])).fit()
    statistic = float(np.sum(explained.fittedvalues**2))
    # The terms add up to what least squares finds in them only; 4 parameters were estimated.
    left = terms - scores @ np.linalg.lstsq(scores, terms, rcond=None)[0]
    total = terms.sum(axis=0)
    assert statistic == pytest.approx(total @ np.linalg.solve(left.T @ left, total))
    p_value = f_distribution.sf(statistic * (115 - 1) / (120 * 2), 2, 115 - 1)
    ours = noise_p_value(_noise_parts(state, expected), codes, found)
    assert ours == pytest.approx(p_value)


def test_p_values_reject_growing_noise_and_rarely_anything_else():
    n_sets = 300
    heavy = []
    for seed in range(n_sets):
        rng = np.random.default_rng(10_000 + seed)
        X = rng.normal(size=(120, 2))
        heavy.append(p_value(X, X @ [1.0, 0.5] + rng.standard_t(5, size=120)))
    even = [p_value(*ordered(seed, growing=False)) for seed in range(n_sets)]
    growing = [p_value(*ordered(seed, growing=True)) for seed in range(50)]
    limit = 0.1 + 4.5 * np.sqrt(0.1 * 0.9 / n_sets)
    assert np.mean(np.array(even) < 0.1) < limit
    assert np.mean(np.array(heavy) < 0.1) < limit + 0.05
    assert np.mean(np.array(growing) < 0.1) > 0.8


@pytest.mark.parametrize("growing", [True, False])
def test_known_order_reports_hc1_or_least_squares(growing, tmp_path):
    X, y = ordered(3, growing, n=300)
    model = ShuffledRegressor(pairing="known").fit(X, y)
    kind = {"cov_type": "HC1", "use_t": True} if growing else {}
    oracle = sm.OLS(y, sm.add_constant(X)).fit(**kind)
    assert model.covariance_type_ == ("robust" if growing else "model")
    np.testing.assert_allclose(model.standard_errors_, oracle.bse, rtol=1e-8)
    np.testing.assert_allclose(model.covariance(), model.covariance_)
    np.testing.assert_allclose(model.conf_int(), oracle.conf_int(), rtol=1e-8)
    plain = sm.OLS(y, sm.add_constant(X)).fit()
    np.testing.assert_allclose(model.conf_int(method="information"), plain.conf_int(), rtol=1e-8)
    text = str(model.summary())
    assert ("standard errors: robust (noise differs between rows, p " in text) == growing
    save_model(model, tmp_path / "m")
    again = load_model(tmp_path / "m")
    assert again.covariance_type_ == model.covariance_type_
    assert str(again.summary()) == text


def test_either_kind_can_be_asked_for():
    X, y = ordered(3, growing=True, n=300)
    fits = {
        kind: ShuffledRegressor(pairing="known", covariance_type=kind).fit(X, y)
        for kind in ("auto", "model", "robust")
    }
    assert [fit.covariance_type_ for fit in fits.values()] == ["robust", "model", "robust"]
    np.testing.assert_array_equal(fits["auto"].covariance_, fits["robust"].covariance_)
    assert np.isnan(fits["robust"].covariance_pvalue_) and fits["auto"].covariance_pvalue_ < 0.1
    np.testing.assert_array_equal(
        fits["model"].conf_int(method="sandwich"), fits["robust"].conf_int()
    )
    assert "standard errors: robust\n" in str(fits["robust"].summary())
    low, high = fits["robust"].noise_scale_interval()
    assert low < fits["robust"].noise_scale_ < high


def test_few_groups_keep_the_model_and_are_refused_if_asked_for():
    data = make_shuffled_regression(80, 2, noise=0.2, shuffle="groups", n_groups=4, random_state=0)
    model = StochasticEMRegressor(max_iter=200, random_state=0)
    assert model.fit(data.X, data.y, groups=data.groups).covariance_type_ == "model"
    model = StochasticEMRegressor(max_iter=200, random_state=0, covariance_type="robust")
    with pytest.raises(ValueError, match=r"amount to 4 independent groups"):
        model.fit(data.X, data.y, groups=data.groups)


def test_the_walk_of_a_fit_gives_the_sandwich_of_a_longer_chain():
    data = make_shuffled_regression(
        600, 3, noise=0.5, shuffle="groups", n_groups=60, group_by="random", random_state=0
    )
    kinds = {
        kind: StochasticEMRegressor(max_iter=200, random_state=0, covariance_type=kind).fit(
            data.X, data.y, groups=data.groups
        )
        for kind in ("model", "robust")
    }
    quick = kinds["robust"].standard_errors_
    long = np.sqrt(np.diag(kinds["model"].covariance("sandwich")))
    np.testing.assert_allclose(quick, long, rtol=0.1)
    np.testing.assert_array_equal(kinds["robust"].coef_, kinds["model"].coef_)


def growing_in_groups(seed, n_groups=40, size=6):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_groups * size, 2))
    signal = X @ [1.0, 1.0]
    y = signal + 0.3 * np.exp(0.5 * signal) * rng.normal(size=len(X))
    groups = np.repeat(np.arange(n_groups), size)
    return X, y[np.lexsort((rng.random(len(X)), groups))], groups


def test_noise_that_grows_with_the_fit_is_noticed_where_the_order_is_lost():
    X, y, groups = growing_in_groups(0)
    model = StochasticEMRegressor(max_iter=200, random_state=0).fit(X, y, groups=groups)
    assert model.covariance_type_ == "robust" and model.covariance_pvalue_ < 0.05


@pytest.mark.long
def test_model_errors_cover_too_little_where_noise_grows():
    n_sets, inside = 400, {"information": 0, "sandwich": 0, "auto": 0}
    for seed in range(n_sets):
        X, y = ordered(seed, growing=True)
        model = ShuffledRegressor(pairing="known").fit(X, y)
        for method in inside:
            low, high = model.conf_int(method=method)[1]
            inside[method] += low <= 1.0 <= high
    limit = 0.95 - 4.5 * np.sqrt(0.95 * 0.05 / n_sets)
    assert inside["information"] / n_sets < limit
    assert inside["sandwich"] / n_sets > limit and inside["auto"] / n_sets > limit
