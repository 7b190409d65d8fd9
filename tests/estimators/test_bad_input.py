"""Bad input gets a clear error, and nothing is lost."""

import os
import signal
import threading
import time

import numpy as np
import pandas as pd
import pytest

from unshuffle import HardEMRegressor, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression

rng = np.random.default_rng(0)
X, y = rng.normal(size=(20, 2)), rng.normal(size=20)


def with_value(array, value):
    changed = array.copy()
    changed.flat[3] = value
    return changed


CASES = {
    "NaN in X": (
        (with_value(X, np.nan), y), {},
        r"Input X contains NaN: 1 such value\(s\), the first in row 1, column 1; drop those rows",
    ),
    "NaN in a named column": (
        (pd.DataFrame(with_value(X, np.nan), columns=["a", "b"]), y), {}, "row 1, column 'b'",
    ),
    "infinity in X": ((with_value(X, np.inf), y), {}, "Input X contains infinity"),
    "NaN in y": ((X, with_value(y, np.nan)), {}, "Input y contains NaN: 1 such .* in row 3;"),
    "infinity in y": ((X, with_value(y, -np.inf)), {}, "Input y contains infinity"),
    "fewer labels": ((X, y[:-2]), {}, "X has 20 rows but y has 18 labels"),
    "fewer labels in a group": (
        (X, y[:-2]), {"groups": ["a"] * 15 + ["b"] * 5},
        "group 'b' has 5 rows but 3 labels; each group needs as many labels as rows",
    ),
    "more labels in a group": (
        (X[:-1], y), {"groups": ["a"] * 15 + ["b"] * 5}, "group 'b' has 4 rows but 5 labels",
    ),
    "no rows": ((np.empty((0, 2)), np.empty(0)), {}, "0 sample"),
    "one row": ((X[:1], y[:1]), {}, "minimum of 2 is required"),
    "wide": ((X[:3], y[:3]), {}, "noise cannot be estimated from 3 samples; give more rows"),
    "constant y": ((X, np.full(20, 3.5)), {}, "all 20 labels equal 3.5"),
    "y is None": ((X, None), {}, "requires y to be passed"),
    "y of two columns": ((X, np.column_stack([y, y])), {}, "y should be a 1d array"),
    "complex": ((X + 1j, y), {}, "Complex data not supported"),
    "X of one dimension": ((X[:, 0], y), {}, "Expected 2D array"),
    "text in a column": (
        (pd.DataFrame({"a": y, "town": ["x"] * 20}), y), {},
        "column 'town' of X holds only 'x': it can explain nothing; leave it out",
    ),
    "text in y": ((X, ["1.5"] * 19 + ["high"]), {}, "y holds 'high' in row 19"),
    "known too short": ((X, y), {"known": [True]}, r"known has shape \(1,\) but there are 20 rows"),
    "known of integers": ((X, y), {"known": np.arange(20)}, "known must be a boolean mask"),
    "known of text": ((X, y), {"known": ["yes"] * 20}, "known must be a boolean mask"),
    "known with a gap": ((X, y), {"known": [None] + [True] * 19}, "known must be a boolean mask"),
    "groups too short": ((X, y), {"groups": [1, 2]}, "groups has 2 entries but there are 20 rows"),
    "groups with None": (
        (X, y), {"groups": ["a"] * 18 + [None] * 2},
        r"groups has 2 missing value\(s\), in row\(s\) 18, 19; every row needs a group",
    ),
    "groups with NaN": ((X, y), {"groups": with_value(y, np.nan)}, "missing value"),
    "groups with NA": (
        (X, y), {"groups": pd.Series([1] * 19 + [None], dtype="Int64")}, "missing value",
    ),
    "groups with NaT": ((X, y), {"groups": pd.to_datetime(["2020"] * 19 + [None])}, "missing"),
    "groups is a word": ((X, y), {"groups": "zone"}, "one group label per row"),
    "groups of two columns": ((X, y), {"groups": X}, "groups must be one-dimensional"),
    "unhashable groups": ((X, y), {"groups": [{}] * 20}, "must be hashable"),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bad_data(name):
    arguments, more, message = CASES[name]
    for model in (StochasticEMRegressor(), HardEMRegressor(n_init=2)):
        with pytest.raises(ValueError, match=message):
            model.fit(*arguments, **more)
        assert not hasattr(model, "coef_")


PARAMETERS = [
    (StochasticEMRegressor, {"variant": "fast"}, "variant"),
    (StochasticEMRegressor, {"max_iter": 0}, "max_iter"),
    (StochasticEMRegressor, {"tol": -1.0}, "tol"),
    (StochasticEMRegressor, {"n_steps": -5}, "n_steps"),
    (StochasticEMRegressor, {"n_steps": 2.5}, "n_steps"),
    (StochasticEMRegressor, {"burn_in": -1}, "burn_in"),
    (StochasticEMRegressor, {"thin": 0}, "thin"),
    (StochasticEMRegressor, {"n_steps": 10, "burn_in": 10}, "leave none of n_steps=10"),
    (StochasticEMRegressor, {"init": "zero"}, "init"),
    (StochasticEMRegressor, {"init": [1.0]}, r"init has shape \(1,\) but X has 2 features"),
    (StochasticEMRegressor, {"init": [1.0, np.nan]}, "init holds NaN"),
    (StochasticEMRegressor, {"fit_intercept": "yes"}, "fit_intercept"),
    (StochasticEMRegressor, {"n_jobs": 1.5}, "n_jobs"),
    (StochasticEMRegressor, {"n_jobs": 0}, "n_jobs"),
    (StochasticEMRegressor, {"random_state": -1}, "random_state"),
    (StochasticEMRegressor, {"callback": 3}, "callback"),
    (HardEMRegressor, {"n_init": 0}, "n_init"),
    (HardEMRegressor, {"n_init": "many"}, "n_init"),
    (HardEMRegressor, {"max_iter": -3}, "max_iter"),
    (HardEMRegressor, {"init": [[1.0, 2.0]]}, "init has shape"),
]


@pytest.mark.parametrize(("kind", "parameters", "message"), PARAMETERS)
def test_bad_parameters(kind, parameters, message):
    with pytest.raises(ValueError, match=message):
        kind(**parameters).fit(X, y)


@pytest.mark.parametrize("kind", [StochasticEMRegressor, HardEMRegressor])
def test_a_callback_that_raises_passes_through_and_leaves_nothing(kind):
    def explode(progress):
        raise RuntimeError("stop here")

    model = kind(callback=explode)
    with pytest.raises(RuntimeError, match="stop here"):
        model.fit(X, y)
    assert not [name for name in vars(model) if name.endswith("_")]


@pytest.fixture
def obeyed():
    """Ctrl-C is obeyed even where the tests run in the background of a shell, which ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.long
@pytest.mark.usefixtures("obeyed")
@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("kind", [StochasticEMRegressor, HardEMRegressor])
def test_interrupting_is_quick_and_keeps_the_previous_fit(kind, n_jobs):
    big = make_shuffled_regression(60_000, 3, random_state=0)
    model = kind(n_jobs=n_jobs, random_state=0, max_iter=10_000)
    if kind is StochasticEMRegressor:
        model.set_params(tol=0)
    small = make_shuffled_regression(30, 2, shuffle="groups", n_groups=10, random_state=0)
    model.set_params(max_iter=100).fit(small.X, small.y, groups=small.groups)
    before = dict(vars(model))
    model.set_params(max_iter=10_000)
    sent = []

    def interrupt():
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    timer = threading.Timer(0.7, interrupt)  # the whole fit would take minutes
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        model.fit(big.X, big.y)
    assert time.monotonic() - sent[0] < 1.0
    after = {k: v for k, v in vars(model).items() if k.endswith("_")}
    assert after
    assert all(after[name] is before[name] for name in after)


def test_a_failed_fit_keeps_the_previous_one():
    model = StochasticEMRegressor(random_state=0).fit(X, y, groups=np.arange(20) // 2)
    coef = model.coef_
    with pytest.raises(ValueError, match="NaN"):
        model.fit(with_value(np.column_stack([X, X]), np.nan), y)
    assert model.coef_ is coef
    assert model.n_features_in_ == 2
    model.predict(X)


def test_input_is_never_changed():
    order = rng.permutation(20)
    groups = (np.arange(20) // 4)[order]
    copies = X.copy(), y.copy(), groups.copy()
    X.flags.writeable = y.flags.writeable = groups.flags.writeable = False
    StochasticEMRegressor(tol=0, max_iter=3, random_state=0).fit(X, y, groups=groups)
    HardEMRegressor(n_init=3, random_state=0).fit(X, y, groups=groups)
    assert all(np.array_equal(a, b) for a, b in zip(copies, (X, y, groups), strict=True))
