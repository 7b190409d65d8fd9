"""Dates, masks and missing names of groups are refused, and never fitted as numbers."""

import datetime
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from unshuffle import (
    MixtureRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
    Streaming,
    TableError,
    audit_release,
    check_blocks,
    fit_formula,
    fit_parquet,
)
from unshuffle.metrics import (
    coefficient_cosine,
    coefficient_error,
    matched_mse,
    permutation_accuracy,
)

N = 24
rng = np.random.default_rng(0)
X, y = rng.normal(size=(N, 2)), rng.normal(size=N)
groups = np.arange(N) // 4
days = np.datetime64("2020-01-01") + np.arange(N)
gap = days.astype("datetime64[ns]")
gap[3] = np.datetime64("NaT")
first = np.arange(N) == 3
masked, masked_rows = np.ma.masked_array(y, first), np.ma.masked_array(X, X[3, 1] == X)

LABELS = {
    "datetime64": days,
    "NaT": gap,
    "time zone": pd.Series(pd.to_datetime(days)).dt.tz_localize("UTC"),
    "datetime": [datetime.datetime(2020, 1, 1 + i) for i in range(N)],
    "date": [datetime.date(2020, 1, 1 + i) for i in range(N)],
    "NaT among numbers": [pd.NaT, *y[1:]],
    "polars": pl.Series(days.tolist()),
    "pyarrow": pa.array(days.tolist()),
    "period": pd.Series(pd.period_range("2020", periods=N, freq="D")),
}
FEATURES = {
    "datetime64": days[:, None],
    "pandas": pd.DataFrame({"a": y, "d": days}),
    "pandas with NaT": pd.DataFrame({"a": y, "d": gap}),
    "objects in pandas": pd.DataFrame({"a": y, "d": [datetime.date(2020, 1, 1)] * N}),
    "polars": pl.DataFrame({"a": y, "d": days.tolist()}),
    "pyarrow": pa.table({"a": y, "d": days}),
    "a list": [[1.0, datetime.datetime(2020, 1, 1)]] * N,
}
GROUPS = {
    "NaN of Decimal": [Decimal("NaN"), *[Decimal(1)] * (N - 1)],
    "signalling NaN of Decimal": [Decimal("sNaN"), *[Decimal(1)] * (N - 1)],
    "NaT": [np.datetime64("NaT"), *["a"] * (N - 1)],
    "NaT of pandas": [pd.NaT, *["a"] * (N - 1)],
    "single precision": [np.float32("nan"), *[1] * (N - 1)],
    "complex": np.r_[np.nan + 0j, np.ones(N - 1)],
    "tuples": [(1, float("nan")), *[(1, 2.0)] * (N - 1)],
    "tuples of tuples": [(1, (None, 2)), *[(1, (3, 2))] * (N - 1)],
    "records": np.array([(1, np.nan)] + [(1, 1.0)] * (N - 1), dtype=[("a", int), ("b", float)]),
    "a mask": np.ma.masked_array(groups, np.arange(N) == 0),
}


@pytest.mark.parametrize("name", LABELS)
def test_dates_as_labels(name):
    for model in (StochasticEMRegressor(), ShuffledRegressor(), MixtureRegressor()):
        with pytest.raises(ValueError, match=r"^y holds dates, not numbers; .*timedelta64\(1, 'D'"):
            model.fit(X, LABELS[name])
        assert not hasattr(model, "coef_")


@pytest.mark.parametrize("name", FEATURES)
def test_dates_as_features(name):
    fitted = StochasticEMRegressor(max_iter=2, tol=0).fit(X, y, groups=groups)
    for call in (StochasticEMRegressor().fit, check_blocks, audit_release):
        more = {"blocks": groups} if call is check_blocks else {}
        with pytest.raises(ValueError, match="holds dates, not numbers; turn them into numbers"):
            call(FEATURES[name], y, **more)
    if FEATURES[name] is not FEATURES["datetime64"]:
        with pytest.raises(ValueError, match="holds dates, not numbers"):
            fitted.predict(FEATURES[name])


def test_durations():
    seconds = np.arange(N).astype("timedelta64[s]")
    for labels in (seconds, [datetime.timedelta(1)] * N, pd.Series(pd.to_timedelta(seconds))):
        with pytest.raises(ValueError, match=r"y holds durations, not numbers; .* seconds"):
            StochasticEMRegressor().fit(X, labels)
    with pytest.raises(ValueError, match="column 'd' of X holds durations"):
        StochasticEMRegressor().fit(pd.DataFrame({"a": y, "d": seconds}), y)


@pytest.mark.parametrize("streaming", ["auto", Streaming()])
def test_masked_arrays(streaming):
    model = StochasticEMRegressor(streaming=streaming)
    with pytest.raises(ValueError, match=r"y has 1 masked value\(s\), the first in row 3; drop"):
        model.fit(X, masked, groups=groups)
    with pytest.raises(ValueError, match=r"X has 1 masked value\(s\), the first in row 3"):
        model.fit(masked_rows, y, groups=groups)
    with pytest.raises(ValueError, match=r"known has 1 masked value\(s\)"):
        model.fit(X, y, groups=groups, known=np.ma.masked_array(groups == 2, first))


def test_masked_arrays_elsewhere():
    with pytest.raises(ValueError, match="match_prob has 1 masked"):
        MixtureRegressor().fit(X, y, match_prob=np.ma.masked_array(np.full(N, 0.5), first))
    with pytest.raises(ValueError, match="y has 1 masked"):
        ShuffledRegressor().fit_unpaired(X, masked)
    model = StochasticEMRegressor(max_iter=2, tol=0).fit(X, y, groups=groups)
    with pytest.raises(ValueError, match="X has 1 masked"):
        model.predict(masked_rows)
    repaired = model.repair(masked)
    assert repaired.mask.sum() == 1
    assert repaired.mask[model.permutation_ == 3].all()


def test_a_mask_that_hides_nothing_changes_nothing():
    plain = StochasticEMRegressor(max_iter=2, tol=0, random_state=0).fit(X, y, groups=groups)
    wrapped = StochasticEMRegressor(max_iter=2, tol=0, random_state=0).fit(
        np.ma.masked_array(X), np.ma.masked_array(y), groups=np.ma.masked_array(groups)
    )
    assert np.array_equal(plain.coef_, wrapped.coef_)


@pytest.mark.parametrize("name", GROUPS)
def test_missing_names_of_groups(name):
    with pytest.raises(ValueError, match=r"groups has 1 missing value\(s\), in row\(s\) 0;"):
        StochasticEMRegressor().fit(X, y, groups=GROUPS[name])
    with pytest.raises(ValueError, match=r"blocks has 1 missing value\(s\)"):
        check_blocks(X, y, GROUPS[name])


def test_missing_entries_of_columns_are_named():
    frame = pd.DataFrame({"a": np.array([pd.NA, *y[1:]], dtype=object), "b": y})
    with pytest.raises(TypeError, match=r"column 'a' of X holds <NA> in row 0, .*drop those rows"):
        StochasticEMRegressor().fit(frame, y)


@pytest.mark.parametrize("measure", [coefficient_error, coefficient_cosine, matched_mse])
def test_measures(measure):
    for bad in (days, masked, np.where(first, np.nan, y), y + 1j):
        with pytest.raises(ValueError, match=r"dates|masked|NaN|complex"):
            measure(bad, y)
    with pytest.raises(ValueError, match=r"entries|predictions"):
        measure(y, y[:-1])


def test_formulas():
    frame = pd.DataFrame({"a": y, "d": days, "t": days - days[0], "z": y + 1j})
    for formula, message in (
        ("a ~ d", "column 'd' holds dates"),
        ("d ~ a", "column 'd' holds dates"),
        ("t ~ a", "the label 't' holds durations"),
        ("a ~ t", "column 't' of X holds durations"),
        ("z ~ a", "the label 'z' is complex"),
    ):
        with pytest.raises(ValueError, match=message):
            fit_formula(formula, frame)


def test_nested_groups_in_a_file(tmp_path):
    frame = pd.DataFrame({"a": y, "y": y, "g": [[1]] * N})
    frame.to_parquet(tmp_path / "table.parquet")
    with pytest.raises(TableError, match=r"column 'g': is nested .*single values"):
        fit_parquet(tmp_path, label="y", group="g")


def test_permutations_of_other_shapes():
    for other in ([], [0], [[0, 1]]):
        with pytest.raises(ValueError, match="cannot be compared"):
            permutation_accuracy([0, 1], other)
