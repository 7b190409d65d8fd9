"""The moment estimator in passes: the answer of the fit in memory, however the rows are cut."""

import numpy as np
import pandas as pd
import pytest

from unshuffle import Audit, MomentRegressor, Streaming

METHODS = ["lahiri-larsen", "chambers", "ratio"]


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(0)
    groups = rng.permutation(np.append(np.arange(590) // 6, [200, 201]))  # two are alone
    X = rng.normal(size=(592, 3)) + 4.0 + rng.normal(size=(202, 3))[groups]
    y = 1.0 + X @ [1.0, -0.5, 0.2] + rng.exponential(size=592)
    return X, y, groups


def same(one, other):
    for name in ("coef_", "intercept_", "covariance_", "noise_scale_", "mismatch_rate_",
                 "mismatch_rate_se_", "attenuation_"):  # fmt: skip
        np.testing.assert_allclose(
            getattr(one, name), getattr(other, name), rtol=1e-8, err_msg=name
        )
    assert one.summary().facts == other.summary().facts
    given, again = one.summary().as_given, other.summary().as_given
    np.testing.assert_allclose(given.values, again.values, rtol=1e-9)
    np.testing.assert_allclose(given.standard_errors, again.standard_errors, rtol=1e-9)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fit_intercept", [True, False])
@pytest.mark.parametrize("grouped", [True, False])
def test_passes_give_the_answer_of_memory(table, method, fit_intercept, grouped):
    X, y, groups = table
    groups = groups if grouped else None
    settings = {"method": method, "fit_intercept": fit_intercept, "mismatch_rate": Audit(90, 20)}
    memory = MomentRegressor(**settings).fit(X, y, groups=groups)
    for rows in (100, 10_000):
        streaming = Streaming(rows_per_part=rows)
        model = MomentRegressor(**settings, streaming=streaming).fit(X, y, groups=groups)
        same(model, memory)


def test_passes_have_one_rate(table):
    X, y, groups = table
    streaming = Streaming(rows_per_part=100)
    for rate, more in (
        (None, {"match_prob": np.full(592, 0.9)}),
        (dict.fromkeys(range(202), 0.1), {"groups": groups}),
    ):
        with pytest.raises(ValueError, match="have one rate of mismatches"):
            MomentRegressor(mismatch_rate=rate, streaming=streaming).fit(X, y, **more)


@pytest.mark.dask
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("grouped", [True, False])
def test_dask_gives_the_answer_of_memory(table, grouped):
    dd = pytest.importorskip("dask.dataframe")
    da = pytest.importorskip("dask.array")
    pytest.importorskip("distributed")
    X, y, groups = table
    frame = pd.DataFrame(X, columns=list("abc")).assign(y=y, zone=groups)
    more = {"groups": groups} if grouped else {}
    memory = MomentRegressor(mismatch_rate=0.2).fit(frame[list("abc")], y, **more)
    settings = {"mismatch_rate": 0.2, "streaming": Streaming()}
    lazy = dd.from_pandas(frame, npartitions=4)
    model = MomentRegressor(**settings)
    model.fit(lazy[list("abc")], lazy["y"], groups=lazy["zone"] if grouped else None)
    same(model, memory)
    arrays = [da.from_array(values, chunks=200) for values in (X, y)]
    arrays[0] = arrays[0].rechunk((200, 3))
    model.fit(*arrays, groups=da.from_array(groups, chunks=200) if grouped else None)
    same(model, memory)
