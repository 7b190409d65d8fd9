"""`mismatch_sensitivity` of the estimators: names, frames, text, and what is refused."""

import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.testing import assert_allclose
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LinearRegression

from unshuffle import SensitivityResult, ShuffledRegressor, StochasticEMRegressor, Streaming
from unshuffle.datasets import make_shuffled_regression
from unshuffle.exceptions import UnidentifiableWarning


@pytest.fixture(scope="module")
def data():
    return make_shuffled_regression(
        200, 3, noise=0.3, shuffle="fraction", fraction=0.2, random_state=0
    )


@pytest.fixture(scope="module")
def model(data):
    return ShuffledRegressor(random_state=0).fit(data.X, data.y)


def test_the_default_rates_and_shapes(model, data):
    result = model.mismatch_sensitivity()
    assert isinstance(result, SensitivityResult)
    assert result.rates.tolist() == [0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3]
    assert result.coef.shape == result.standard_errors.shape == (7, 4)
    assert result.names == ["(intercept)", "x0", "x1", "x2"]
    plain = LinearRegression().fit(data.X, data.y)
    assert_allclose(result.coef[:, 1:], plain.coef_ / (1.0 - result.rates)[:, None], rtol=1e-10)
    assert_allclose(result.fitted.values, [model.intercept_, *model.coef_])
    # In a group of n rows one in n exchanged labels returns to its own row.
    assert_allclose(result.fitted_rate * (1.0 - 1.0 / 200), model.mismatch_rate_)


def test_intervals_widen_with_level_and_rate(model):
    result = model.mismatch_sensitivity([0.0, 0.3])
    assert result.interval().shape == (2, 4, 2)
    width = np.diff(result.interval(0.9))[:, :, 0]
    assert (np.diff(result.interval(0.99))[:, :, 0] > width).all()
    assert (width[1, 1:] > width[0, 1:]).all()
    with pytest.raises(ValueError, match="level is a share between 0 and 1"):
        result.interval(95)


def test_the_text_has_one_line_per_coefficient(model):
    lines = str(model.mismatch_sensitivity((0, 0.1))).splitlines()
    assert len(lines) == 2 + 4
    assert lines[1].split("  ")[-1].startswith("this fit (")
    assert "10 %" in lines[1]
    assert lines[3].split()[0] == "x0"
    assert lines[3].split()[-1] == f"{model.coef_[0]:.4g}"
    page = model.mismatch_sensitivity((0, 0.1))._repr_html_()
    assert page.count("<tr>") == 5


def test_frames_are_of_the_library_of_the_data(data):
    for library, frame in ((pd, pd.DataFrame), (pl, pl.DataFrame)):
        X = frame({"a": data.X[:, 0], "b": data.X[:, 1]})
        fit = StochasticEMRegressor(mismatch_rate=0.2, max_iter=3, tol=0.0, random_state=0)
        result = fit.fit(X, data.y).mismatch_sensitivity((0, 0.5))
        table = result.to_frame(0.9)
        assert isinstance(table, library.DataFrame)
        assert list(table["coefficient"]) == ["(intercept)"] * 2 + ["a"] * 2 + ["b"] * 2
        assert list(table["rate"]) == [0.0, 0.5] * 3
        assert_allclose(np.asarray(table["coef"]), result.coef.T.ravel())
        assert_allclose(np.asarray(table["low"])[2:4], result.interval(0.9)[:, 1, 0])


def test_rows_and_groups_in_any_order(data):
    groups, known = np.arange(200) % 40, np.arange(200) % 7 == 0
    options = {"variant": "published", "max_iter": 2, "tol": 0.0, "random_state": 0}
    order = np.random.default_rng(0).permutation(200)
    one = StochasticEMRegressor(**options).fit(data.X, data.y, groups=groups, known=known)
    other = StochasticEMRegressor(**options).fit(
        data.X[order], data.y[order], groups=groups[order], known=known[order]
    )
    assert_allclose(
        one.mismatch_sensitivity().coef, other.mismatch_sensitivity().coef, rtol=1e-9, atol=1e-12
    )
    # The published variant has neither standard errors nor a rate of mismatches.
    assert np.isnan(one.mismatch_sensitivity().fitted.standard_errors).all()
    assert "this fit" in str(one.mismatch_sensitivity())


def test_without_an_intercept(data):
    fit = StochasticEMRegressor(mismatch_rate="estimate", fit_intercept=False, random_state=0)
    result = fit.fit(data.X, data.y).mismatch_sensitivity([0.0])
    assert result.names == ["x0", "x1", "x2"]
    plain = LinearRegression(fit_intercept=False).fit(data.X, data.y)
    assert_allclose(result.coef[0], plain.coef_, rtol=1e-10)


def test_what_cannot_be_computed_says_what_to_do(data, model):
    with pytest.raises(NotFittedError):
        ShuffledRegressor().mismatch_sensitivity()
    with pytest.raises(ValueError, match=r"such as 0.05 for 5 %; got 20"):
        model.mismatch_sensitivity([10, 20][1:])
    with pytest.raises(ValueError, match="loaded from a file"):
        pickle.loads(pickle.dumps(model)).mismatch_sensitivity()
    passes = StochasticEMRegressor(
        streaming=Streaming(rows_per_part=100), max_iter=2, tol=0.0, random_state=0
    )
    with pytest.raises(ValueError, match="fit a sample of whole groups in memory"):
        passes.fit(data.X, data.y).mismatch_sensitivity()
    everything = ShuffledRegressor(random_state=0).fit(data.X, data.y, known=np.ones(200, bool))
    with pytest.raises(ValueError, match="no label can have moved"):
        everything.mismatch_sensitivity()


@pytest.mark.filterwarnings(f"ignore::{UnidentifiableWarning.__module__}.UnidentifiableWarning")
def test_labels_without_an_order_are_refused(data):
    model = ShuffledRegressor(search="none", random_state=0).fit_unpaired(data.X, data.y)
    with pytest.raises(ValueError, match="fit_unpaired takes labels without an order"):
        model.mismatch_sensitivity()
