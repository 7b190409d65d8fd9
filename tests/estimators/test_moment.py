"""Linked labels with a given or audited rate: closed forms, standard errors, messages."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.linear_model import LinearRegression
from sklearn.utils.estimator_checks import check_estimator

from unshuffle import Audit, MomentRegressor, RankWarning, load_model, save_model

METHODS = ["lahiri-larsen", "chambers", "ratio"]
COEF = np.array([1.0, -0.5, 0.25])


def linked(n=300, rate=0.2, seed=0, size=None, noise=1.0):
    """Features, labels of which a share is another row's of the block, blocks."""
    rng = np.random.default_rng(seed)
    blocks = np.zeros(n, dtype=int) if size is None else np.arange(n) // size
    X = rng.normal(size=(n, 3)) + rng.normal(size=(blocks.max() + 1, 3))[blocks] + 5.0
    y = 2.0 + X @ COEF + noise * (rng.exponential(size=n) - 1.0)
    perm, chosen = np.arange(n), rng.permutation(n) < rate * n
    for block in range(blocks.max() + 1):
        rows = np.flatnonzero(chosen & (blocks == block))
        perm[rows] = np.roll(rows, 1)
    return X, y[perm], blocks, perm != np.arange(n)


def exchange_matrix(blocks, lost):
    """E[A], row by row, as the docstring defines it."""
    n = len(blocks)
    A = np.zeros((n, n))
    for i in range(n):
        others = [j for j in range(n) if j != i and blocks[j] == blocks[i]]
        weights = np.array([lost[j] for j in others])
        A[i, others] = lost[i] * weights / weights.sum()
        A[i, i] = 1.0 - lost[i]
    return A


def solve_dense(X, y, blocks, lost, method, fit_intercept):
    """The estimating equations with n x n matrices."""
    A = exchange_matrix(blocks, lost)
    Z = X if method != "ratio" else X - np.array([X[blocks == b].mean(axis=0) for b in blocks])
    if fit_intercept:
        X = np.column_stack([np.ones(len(X)), X])
        Z = np.column_stack([np.ones(len(Z)), Z])
    Z = A @ X if method == "lahiri-larsen" else Z
    return np.linalg.solve(Z.T @ A @ X, Z.T @ y)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fit_intercept", [True, False])
def test_equals_the_closed_form_in_blocks_and_with_probabilities(method, fit_intercept):
    X, y, blocks, _ = linked(120, size=6)
    rng = np.random.default_rng(1)
    rates = {block: rng.uniform(0.05, 0.4) for block in range(20)}
    lost = rng.uniform(0.01, 0.5, size=120)
    model = MomentRegressor(method=method, fit_intercept=fit_intercept)
    cases = (
        (0.2, np.full(120, 0.2), {}),
        (rates, np.array([rates[b] for b in blocks]), {}),
        (None, lost, {"match_prob": 1.0 - lost}),
    )
    for rate, lost_by_row, more in cases:
        model.set_params(mismatch_rate=rate).fit(X, y, groups=blocks, **more)
        expected = solve_dense(X, y, blocks, lost_by_row, method, fit_intercept)
        found = np.append(model.intercept_, model.coef_) if fit_intercept else model.coef_
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", METHODS)
def test_one_rate_divides_least_squares(method):
    X, y, _, _ = linked()
    ols = LinearRegression().fit(X, y)
    model = MomentRegressor(method=method, mismatch_rate=0.2).fit(X, y)
    np.testing.assert_allclose(model.coef_, ols.coef_ / (1 - 0.2 * 300 / 299), rtol=1e-10)
    assert abs(model.attenuation_ - (1 - 0.2 * 300 / 299)) < 1e-10
    nothing_wrong = MomentRegressor(method=method, mismatch_rate=0.0).fit(X, y)
    np.testing.assert_allclose(nothing_wrong.coef_, ols.coef_, rtol=1e-10)
    np.testing.assert_allclose(nothing_wrong.predict(X), ols.predict(X))


def test_noise_is_that_of_the_labels_in_order():
    X, y, _, _ = linked(5000, rate=0.3)
    model = MomentRegressor(mismatch_rate=0.3).fit(X, y)
    assert abs(model.noise_scale_ - 1.0) < 0.1


def test_rates_of_strata_enter_the_equations_by_their_derivatives():
    """The delta method's slope agrees with refits at other rates, across blocks and strata.

    Exactly so for instruments that do not depend on the rate.
    """
    X, y, blocks, _ = linked(200, size=10)
    strata = np.random.default_rng(2).choice(["a", "b"], size=200)
    audits = {"a": Audit(100, 10), "b": Audit(50, 15)}
    rates = {name: audit.rate for name, audit in audits.items()}

    def fit(**changed):
        return MomentRegressor(method="chambers", mismatch_rate={**rates, **changed}).fit(
            X, y, groups=blocks, strata=strata
        )

    known, audited = fit(), fit(**audits)
    added = audited.covariance_ - known.covariance_
    expected = np.zeros_like(added)
    for name, audit in audits.items():
        low, high = (fit(**{name: audit.rate + step}) for step in (-1e-5, 1e-5))
        slope = np.append(high.intercept_ - low.intercept_, high.coef_ - low.coef_) / 2e-5
        expected += audit.variance * np.outer(slope, slope)
    np.testing.assert_allclose(added, expected, rtol=2e-3, atol=1e-8)
    shares = {name: np.mean(strata == name) for name in audits}
    variance = sum(shares[name] ** 2 * audits[name].variance for name in audits)
    assert abs(audited.mismatch_rate_se_ - variance**0.5) < 1e-12


@pytest.mark.parametrize("size", [None, 5])
def test_standard_errors_describe_the_spread(size):
    """Known rate: errors in units of standard errors have the spread one, and no bias."""
    errors = []
    for seed in range(150):
        X, y, blocks, wrong = linked(400, 0.3, seed=seed, size=size)
        model = MomentRegressor(mismatch_rate=wrong.mean()).fit(X, y, groups=blocks)
        errors.append((model.coef_ - COEF) / model.stderr()[1:])
    spread = np.sqrt(np.mean(np.square(errors)))
    assert 0.88 < spread < 1.12, spread
    assert np.abs(np.mean(errors, axis=0)).max() < 0.3


def test_an_audit_widens_intervals_by_its_size():
    X, y, _, _ = linked()
    widths = [
        np.ptp(MomentRegressor(mismatch_rate=rate).fit(X, y).conf_int(), axis=1)[1]
        for rate in (0.2, Audit(2000, 400), Audit(100, 20))
    ]
    assert widths[0] < widths[1] < widths[2]
    sure = Audit(100, 0)
    model = MomentRegressor(mismatch_rate=sure).fit(X, y)
    assert model.mismatch_rate_ == 0.0
    assert model.mismatch_rate_se_ == sure.standard_error > 0.0


def test_frames_summary_model_file_and_pickle(tmp_path):
    X, y, blocks, _ = linked(size=10)
    frame = pd.DataFrame(X, columns=list("abc"))
    model = MomentRegressor(mismatch_rate=Audit(200, 40)).fit(frame, pd.Series(y), groups=blocks)
    text = str(model.summary())
    assert "mismatched: 20.0% (se 0.028)" in text
    assert "MomentRegressor (lahiri-larsen)" in text
    assert list(model.summary().to_frame().index) == ["(intercept)", "a", "b", "c"]
    assert "<table" in model._repr_html_()
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    np.testing.assert_allclose(again.predict(frame), model.predict(frame), rtol=1e-13)
    assert str(again.summary()) == text
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(copy.conf_int(), model.conf_int())
    polars = clone(model).fit(pl.DataFrame(frame.to_dict("list")), pl.Series(y), pl.Series(blocks))
    np.testing.assert_array_equal(polars.coef_, model.coef_)
    assert type(polars.summary().to_frame()).__module__.startswith("polars")


def test_units_of_the_data_are_units_of_the_answer():
    X, y, blocks, _ = linked(size=10)
    plain = MomentRegressor(mismatch_rate=0.2).fit(X, y, groups=blocks)
    scaled = MomentRegressor(mismatch_rate=0.2).fit(1e-6 * X + 3.0, 1e5 * y, groups=blocks)
    np.testing.assert_allclose(scaled.coef_, 1e11 * plain.coef_, rtol=1e-6)
    np.testing.assert_allclose(scaled.stderr()[1:], 1e11 * plain.stderr()[1:], rtol=1e-6)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("method", METHODS)
def test_every_check_of_sklearn_passes(method):
    results = check_estimator(MomentRegressor(method=method, mismatch_rate=0.1), on_skip=None)
    assert {r["status"] for r in results} <= {"passed", "skipped"}
    assert len([r for r in results if r["status"] == "passed"]) > 40


def test_what_cannot_be_fitted_is_named():
    X, y, blocks, _ = linked(60, size=6)
    fit = MomentRegressor().fit
    with pytest.raises(ValueError, match="there is no rate of mismatches: give mismatch_rate"):
        fit(X, y)
    with pytest.raises(ValueError, match=r"no rate for 8 of 10 groups: 2, 3, 4, 5, 6, \.\.\.;"):
        MomentRegressor(mismatch_rate={0: 0.1, 1: Audit(10, 1)}).fit(X, y, groups=blocks)
    with pytest.raises(ValueError, match="give groups or strata"):
        MomentRegressor(mismatch_rate={0: 0.1}).fit(X, y)
    with pytest.raises(ValueError, match=r"mismatch_rate\['a'\] must be at least 0 and below 1"):
        MomentRegressor(mismatch_rate={"a": 1.5}).fit(X, y, strata=["a"] * 60)
    with pytest.raises(ValueError, match="must be a number or an Audit, got 'many'"):
        MomentRegressor(mismatch_rate={"a": "many"}).fit(X, y, strata=["a"] * 60)
    with pytest.raises(ValueError, match="strata are for a mismatch_rate per stratum"):
        MomentRegressor(mismatch_rate=0.1).fit(X, y, strata=["a"] * 60)
    with pytest.raises(ValueError, match="match_prob must lie between 0 and 1"):
        fit(X, y, match_prob=np.full(60, 3.0))
    constant = np.column_stack([X, blocks])
    with pytest.raises(ValueError, match="do not vary inside groups"):
        MomentRegressor(method="ratio", mismatch_rate=0.1).fit(constant, y, groups=blocks)
    with pytest.raises(ValueError, match="the labels given say nothing"):
        MomentRegressor(mismatch_rate=59 / 60).fit(X, y)
    with pytest.raises(ValueError, match="mismatch_rate must be at least 0 and below 1, got 1"):
        MomentRegressor(mismatch_rate=Audit(5, 5)).fit(X, y)
    with pytest.warns(RankWarning, match="rank 3 of 4"):
        MomentRegressor(mismatch_rate=0.1).fit(np.column_stack([X, X[:, 0]]), y)


@pytest.mark.parametrize(
    ("counts", "message"),
    [
        ((0, 0), "at least one checked link"),
        ((-3, 0), "at least one checked link"),
        ((10, -1), "between 0 and checked=10, got -1"),
        ((10, 11), "between 0 and checked=10, got 11"),
        ((10.5, 1), "checked must be a whole number, got 10.5"),
        ((10, True), "wrong must be a whole number, got True"),
    ],
)
def test_impossible_audits_are_refused(counts, message):
    with pytest.raises(ValueError, match=message):
        Audit(*counts)
