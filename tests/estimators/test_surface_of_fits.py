"""What users meet around a fit: frames with text, row names, intervals, comparisons, notebooks."""

import sys
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy.stats import t as student
from sklearn.linear_model import LinearRegression

from unshuffle import (
    HardEMRegressor,
    MixtureRegressor,
    Progress,
    ShuffledRegressor,
    StochasticEMRegressor,
    UnshuffleWarning,
    compare,
    fit_formula,
    load_model,
    save_model,
)
from unshuffle.estimators._progress import in_notebook, reporting


def table(n=120, seed=0):
    rng = np.random.default_rng(seed)
    X = pd.DataFrame({"dose": rng.normal(size=n), "arm": rng.choice(["a", "b", "c"], n)})
    y = pd.Series(2.0 * X["dose"] + 1.5 * (X["arm"] == "b") + 0.3 * rng.normal(size=n))
    return X, y, np.arange(n) // 4


def indicators(X):
    """The design matrix by hand."""
    return np.column_stack([X["dose"], X["arm"] == "b", X["arm"] == "c"]).astype(float)


@pytest.fixture(scope="module")
def fitted():
    X, y, groups = table()
    model = ShuffledRegressor(pairing="known").fit(X, y, groups=groups)
    return model, X, y


def test_text_columns_become_indicators(fitted, tmp_path):
    model, X, y = fitted
    by_hand = LinearRegression().fit(indicators(X), y)
    assert list(model.feature_names_in_) == ["dose", "arm[T.b]", "arm[T.c]"]
    assert np.allclose(model.coef_, by_hand.coef_)
    assert np.allclose(model.predict(X.head(7)), by_hand.predict(indicators(X))[:7])
    save_model(model, tmp_path / "model")
    again = load_model(tmp_path / "model")
    assert np.allclose(again.predict(X.head(7)), model.predict(X.head(7)))


def test_text_of_polars_and_categories_of_numbers():
    X, y, _ = table()
    coded = X.assign(arm=pd.Categorical(X["arm"].map({"a": 1, "b": 2, "c": 3})))
    other = HardEMRegressor(random_state=0).fit(pl.from_pandas(X), y.to_numpy())
    same = HardEMRegressor(random_state=0).fit(coded, y)
    assert list(same.feature_names_in_) == ["dose", "arm[T.2]", "arm[T.3]"]
    assert np.array_equal(other.coef_, same.coef_)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda X: X.assign(arm="a"), "column 'arm' of X holds only 'a'"),
        (lambda X: X.assign(arm=[f"n{i}" for i in range(len(X))]), "another name in every row"),
        (lambda X: X.assign(arm=[None, *X["arm"][1:]]), "no value in row 0"),
        (lambda X: X.assign(dose=["n/a", *["1.5"] * 119]), "column 'dose' of X holds 'n/a' in row"),
    ],
)
def test_columns_that_cannot_be_categories_are_named(change, message):
    X, y, _ = table()
    with pytest.raises(ValueError, match=message):
        HardEMRegressor().fit(change(X), y)


def test_predict_names_what_the_fit_did_not_see(fitted):
    model, X, _ = fitted
    with pytest.raises(ValueError, match=r"holds 'new' in row 0.*not in the fit"):
        model.predict(X.head(2).assign(arm="new"))
    with pytest.raises(ValueError, match="X has no column 'arm'"):
        model.predict(X[["dose"]])


def test_row_names_that_differ_are_refused():
    X, y, groups = table()
    numbers = X[["dose"]]
    with pytest.raises(ValueError, match=r"same rows in another order: align them with y\.loc"):
        HardEMRegressor().fit(numbers, y.sample(frac=1, random_state=0))
    with pytest.raises(ValueError, match=r"0 and 5 in row 0.*select the same rows of both"):
        HardEMRegressor().fit(numbers, y.set_axis(np.arange(5, 125)))
    with pytest.raises(ValueError, match="X and groups have different"):
        HardEMRegressor().fit(
            numbers, y, groups=pd.Series(groups[::-1], index=np.arange(120)[::-1])
        )
    HardEMRegressor().fit(numbers, y.to_numpy())
    HardEMRegressor().fit(numbers, y, groups=pd.Series(groups))


def test_prediction_intervals_are_those_of_least_squares():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(40, 2))
    y = X @ [1.0, -2.0] + rng.normal(size=40)
    model = ShuffledRegressor(pairing="known", covariance_type="model").fit(X, y)
    new = rng.normal(size=(5, 2))
    predicted, ends = model.predict(new, interval=0.9)
    design, rows = np.column_stack([np.ones(40), X]), np.column_stack([np.ones(5), new])
    residual = y - design @ np.linalg.lstsq(design, y, rcond=None)[0]
    variance = residual @ residual / 37
    spread = variance * (1.0 + np.sum(rows @ np.linalg.inv(design.T @ design) * rows, axis=1))
    half = student.ppf(0.95, 37) * np.sqrt(spread)
    assert np.allclose(ends, np.stack([predicted - half, predicted + half], axis=1))
    assert np.array_equal(predicted, model.predict(new))


def test_prediction_intervals_need_standard_errors_and_a_share():
    X, y, _ = table()
    model = HardEMRegressor().fit(X[["dose"]], y)
    with pytest.raises(ValueError, match="no standard errors, so its predictions have no inter"):
        model.predict(X[["dose"]], interval=0.9)
    known = ShuffledRegressor(pairing="known").fit(X[["dose"]], y)
    with pytest.raises(ValueError, match="between 0 and 1"):
        known.predict(X[["dose"]], interval=95)


def test_prediction_intervals_warn_of_other_noise():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 1))
    y = 3.0 * X[:, 0] + rng.standard_t(2, 400)
    model = ShuffledRegressor(pairing="mostly-right", noise="t", random_state=0).fit(X, y)
    assert model.noise_ == "t"
    with pytest.warns(UnshuffleWarning, match="not normal"):
        model.predict(X[:2], interval=0.9)


def test_shares_of_variance_are_those_of_known_order():
    X, y, groups = table(n=400)
    rng = np.random.default_rng(0)
    shuffled = y.to_numpy()[np.lexsort((rng.random(400), groups))]
    model = ShuffledRegressor(random_state=0).fit(X, shuffled, groups=groups)
    known = LinearRegression().fit(indicators(X), y)
    residual = y - known.predict(indicators(X))
    adjusted = 1.0 - (residual @ residual / 396) / y.var()
    inside = y - y.groupby(groups).transform("mean")
    within = 1.0 - (residual @ residual / 396) / (inside @ inside / 300)
    assert model.r2_ == pytest.approx(adjusted, abs=0.01)
    assert model.r2_within_ == pytest.approx(within, abs=0.01)
    assert f"R squared: {model.r2_:.3f} (inside groups {model.r2_within_:.3f})" in str(
        model.summary()
    )


def test_summary_with_other_standard_errors(fitted):
    model, *_ = fitted
    for name, method in (("model", "information"), ("robust", "sandwich")):
        summary = model.summary(covariance=name)
        ends = summary.ours.interval(0.95)
        assert np.array_equal(ends, model.conf_int(method=method))
    with pytest.raises(ValueError, match="'auto', 'model' or 'robust'"):
        model.summary(covariance="HC3")


def test_a_constant_column_has_no_interval():
    X, y, _ = table()
    numbers = X[["dose"]].assign(one=1.0)
    with pytest.warns(UserWarning, match="rank"):
        model = ShuffledRegressor(pairing="known").fit(numbers, y)
    assert model.coef_[1] == 0.0
    assert np.isnan(model.conf_int()[2]).all()
    assert not np.isnan(model.conf_int()[:2]).any()


def test_a_narrow_terminal_gets_a_narrow_summary(fitted, monkeypatch):
    summary = fitted[0].summary()
    wide = str(summary)
    monkeypatch.setenv("COLUMNS", "60")
    narrow = str(summary)
    assert max(map(len, narrow.splitlines())) <= 60
    assert max(map(len, wide.splitlines())) > 60
    for cell in wide.split():
        assert cell.strip("=-") == "" or cell in narrow


def test_fits_side_by_side(fitted):
    model, X, y = fitted
    plain = StochasticEMRegressor(random_state=0, max_iter=3, tol=0.0).fit(X[["dose"]], y)
    known = LinearRegression().fit(X[["dose"]], y)
    found = compare(model, plain, known, titles=["a", "b <i>", "c"])
    assert found.names == ["(intercept)", "dose", "arm[T.b]", "arm[T.c]"]
    assert np.array_equal(found.coefficients[:, 0], [model.intercept_, *model.coef_])
    assert np.isnan(found.coefficients[2:, 1:]).all()
    assert np.isnan(found.standard_errors[:, 2]).all()
    assert found.facts["verdict"] == ["trust", "", ""]
    assert f"{model.coef_[0]:.4g} ({model.standard_errors_[1]:.2g})" in str(found)
    assert r"arm[T.b] & " in found.to_latex()
    assert "<i>" not in found._repr_html_()
    assert found.to_frame().shape == (4, 6)


def test_what_cannot_be_compared_is_named(fitted):
    with pytest.raises(ValueError, match="LinearRegression has no coefficients"):
        compare(fitted[0], LinearRegression())
    with pytest.raises(ValueError, match="1 models but 2 titles"):
        compare(fitted[0], titles=["a", "b"])
    assert compare(fitted[0], fitted[0]).titles == ["ShuffledRegressor 1", "ShuffledRegressor 2"]


def test_a_verdict_shows_in_notebooks(fitted):
    shown = fitted[0].verdict_._repr_html_()
    assert ">trust</b>" in shown
    assert fitted[0].summary()._repr_html_().startswith(shown)


def test_fixed_effects_in_formulas_are_refused_with_the_cure():
    X, y, _ = table()
    data = X.assign(y=y, zone="z")
    with pytest.raises(ValueError, match=r"write 'y ~ dose \+ C\(zone\)' for .* groups='zone'"):
        fit_formula("y ~ dose | zone", data)


def test_progress_in_a_notebook_needs_no_widgets(monkeypatch):
    lines = []
    shown = SimpleNamespace(update=lines.append)
    display = SimpleNamespace(
        Pretty=str, display=lambda text, display_id: lines.append(text) or shown
    )
    shell = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=object()), display=display)
    assert not in_notebook()
    monkeypatch.setitem(sys.modules, "IPython", shell)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    assert in_notebook()
    with reporting(1, None)(3, "iterations") as report:
        for done in (1, 2, 3):
            report(Progress(done, 3, 1.5))
    assert lines[0] == "iterations 0/3"
    assert lines[-1].startswith("iterations 3/3  objective 1.5")


def test_a_mixture_lists_its_suspects():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 1))
    y = 3.0 * X[:, 0] + 0.1 * rng.normal(size=200)
    y[[4, 7]] = y[[7, 4]]
    model = MixtureRegressor().fit(X, y)
    table = model.suspects(id=np.arange(200) + 1000)
    assert sorted(table["row"]) == [4, 7]
    assert sorted(table["id"]) == [1004, 1007]
    with pytest.raises(ValueError, match="between 0 and 1"):
        model.suspects(2.0)
