"""`posterior()` of the estimators: known order, shapes, threads, warnings, bad input."""

import pickle
import sys

import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from unshuffle import (
    MixingWarning,
    Posterior,
    ShuffledRegressor,
    StochasticEMRegressor,
    UnshuffleWarning,
)
from unshuffle.datasets import make_shuffled_regression

QUICK = {"n_chains": 2, "n_draws": 40, "n_warmup": 20}


def quick(model, **more):
    with pytest.warns(MixingWarning):
        return model.posterior(**QUICK | more)


@pytest.fixture(scope="module")
def linked():
    data = make_shuffled_regression(
        120, 2, noise=0.3, shuffle="fraction", fraction=0.2, random_state=0
    )
    model = StochasticEMRegressor(mismatch_rate="estimate", max_iter=100, random_state=0)
    return data, model.fit(data.X, data.y)


@pytest.mark.parametrize("fit_intercept", [True, False])
def test_known_order_is_classical_least_squares(fit_intercept):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)) @ np.diag([1.0, 100.0, 0.01]) + 5.0
    y = X @ [1.0, 0.02, -50.0] + 2.0 * fit_intercept + 0.7 * rng.normal(size=40)
    model = ShuffledRegressor(pairing="known", fit_intercept=fit_intercept, random_state=0)
    posterior = model.fit(X, y).posterior(n_draws=2000, n_warmup=50)
    design = np.column_stack([np.ones(40), X]) if fit_intercept else X
    estimate, (rss,), *_ = np.linalg.lstsq(design, y)
    freedom = 40 - design.shape[1]
    scale = rss / freedom
    errors = np.sqrt(scale * np.diag(np.linalg.inv(design.T @ design)))
    draws = posterior.coef.reshape(-1, 3)
    if fit_intercept:
        draws = np.column_stack([posterior.intercept.ravel(), draws])
    # Draws are independent here. A half-t prior instead of a scale-free one changes the degrees of
    # freedom by about one, hence the widths by about one part in 2 * 36.
    widths = errors * np.sqrt(freedom / (freedom - 2))
    assert np.all(np.abs(draws.mean(axis=0) - estimate) < 4.5 * widths / np.sqrt(8000))
    np.testing.assert_allclose(draws.std(axis=0), widths, rtol=0.03 + 4.5 / np.sqrt(2 * 8000))
    assert np.mean(posterior.noise_scale**2) == pytest.approx(
        scale * freedom / (freedom - 2), rel=0.03 + 4.5 * np.sqrt(2 / freedom / 8000)
    )
    assert posterior.interval().shape == (design.shape[1], 2)
    np.testing.assert_allclose(posterior.match_proba, 1.0)
    assert posterior.mismatch_rate is None


def test_fields_and_table(linked):
    data, model = linked
    posterior = quick(model)
    assert isinstance(posterior, Posterior)
    assert posterior.coef.shape == (2, 40, 2)
    for draws in (posterior.intercept, posterior.noise_scale, posterior.mismatch_rate):
        assert draws.shape == (2, 40)
    assert posterior.names == ["(intercept)", "x0", "x1", "noise", "mismatch rate"]
    for found in (posterior.r_hat, posterior.ess_bulk, posterior.ess_tail):
        assert list(found) == posterior.names
    assert posterior.match_proba.shape == (120,)
    own = data.permutation == np.arange(120)
    assert posterior.match_proba[own].mean() > posterior.match_proba[~own].mean() + 0.3
    narrow, wide = posterior.interval(0.5), posterior.interval(0.9)
    assert np.all(wide[:, 0] < narrow[:, 0])
    assert np.all(narrow[:, 1] < wide[:, 1])
    flat = posterior.coef.reshape(-1, 2)
    np.testing.assert_allclose(wide[1:], np.quantile(flat, [0.05, 0.95], axis=0).T)
    for name in posterior.names:
        assert name in str(posterior)
        assert name in posterior._repr_html_()


def test_threads_change_nothing_and_seeds_do(linked):
    _, model = linked
    first, second = quick(model, n_jobs=1), quick(model, n_jobs=2)
    np.testing.assert_array_equal(first.coef, second.coef)
    np.testing.assert_array_equal(first.mismatch_rate, second.mismatch_rate)
    assert np.any(quick(model, random_state=5).coef != first.coef)
    # A chain does not depend on how many others there are, once it has started.
    assert not np.array_equal(first.coef[0], first.coef[1])


@pytest.mark.long
def test_interval_does_not_depend_on_the_units_of_columns(linked):
    data, model = linked
    scaled = StochasticEMRegressor(mismatch_rate="estimate", max_iter=100, random_state=0)
    scaled.fit(data.X * [1024.0, 0.125], data.y)
    np.testing.assert_allclose(
        quick(scaled).coef * [1024.0, 0.125], quick(model).coef, rtol=1e-5, atol=1e-7
    )


def test_arviz(linked):
    arviz = pytest.importorskip("arviz")
    posterior = quick(linked[1])
    data = posterior.to_arviz()
    np.testing.assert_array_equal(data["posterior"]["coef"].values, posterior.coef)
    assert list(data["posterior"]["coef"].coords["feature"].values) == ["x0", "x1"]
    ours, theirs = posterior.r_hat["noise"], float(arviz.rhat(data)["noise_scale"])
    assert ours == pytest.approx(theirs, rel=1e-6)


def test_missing_arviz_names_the_command(linked, monkeypatch):
    monkeypatch.setitem(sys.modules, "arviz", None)
    with pytest.raises(ImportError, match=r'pip install "unshuffle\[posterior\]"'):
        quick(linked[1]).to_arviz()


def test_warning_names_the_worst_quantity_and_the_remedy(linked):
    with pytest.warns(MixingWarning, match=r"effective sample size of .* is \d+ of 80 draws") as w:
        linked[1].posterior(**QUICK)
    assert "Raise n_draws (now 40)" in str(w[0].message)
    assert issubclass(MixingWarning, UnshuffleWarning)


def test_search_with_several_optima_and_unpaired_tables():
    data = make_shuffled_regression(60, 2, noise=0.1, random_state=0)
    model = ShuffledRegressor(random_state=0, search="population", n_candidates=60)
    model.fit_unpaired(data.X, data.y)
    assert len(model.solutions_) > 1
    posterior = quick(model)
    assert posterior.match_proba is None
    assert posterior.mismatch_rate is None


def test_progress_is_shown(linked, capsys):
    quick(linked[1], verbose=1)
    assert "draws" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_chains": 0}, "n_chains is a whole number of at least 1, got 0"),
        ({"n_draws": 3}, "n_draws is a whole number of at least 4, got 3"),
        ({"n_draws": 10.5}, "n_draws is a whole number"),
        ({"n_warmup": -1}, "n_warmup is a whole number of at least 0"),
        ({"thin": 0}, "thin is a whole number of at least 1"),
        ({"n_chains": True}, "n_chains is a whole number"),
    ],
)
def test_bad_counts(linked, settings, message):
    with pytest.raises(ValueError, match=message):
        linked[1].posterior(**settings)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_bad_level(linked, level):
    with pytest.raises(ValueError, match="level is a share between 0 and 1"):
        quick(linked[1]).interval(level)


@pytest.mark.long
def test_estimators_without_a_posterior(linked):
    data, model = linked
    with pytest.raises(NotFittedError):
        StochasticEMRegressor().posterior()
    published = StochasticEMRegressor(variant="published", max_iter=2, random_state=0)
    with pytest.raises(ValueError, match="variant='published'"):
        published.fit(data.X, data.y).posterior()
    with pytest.raises(ValueError, match="loaded from a file"):
        pickle.loads(pickle.dumps(model)).posterior()
    shifted = StochasticEMRegressor(mismatch_rate="estimate", max_shift=3, max_iter=100)
    shifted.set_params(tol=0, random_state=0).fit(data.X, data.y)
    with pytest.raises(ValueError, match="not available together with max_shift"):
        shifted.posterior()
