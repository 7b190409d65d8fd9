"""Labels, times, weights and offsets that cannot be: which row, and what to do."""

import numpy as np
import pytest

from unshuffle import (
    HardEMRegressor,
    ShuffledClassifier,
    ShuffledCoxRegressor,
    ShuffledRegressor,
    UnshuffleWarning,
)

RNG = np.random.default_rng(0)
N = 200
X = RNG.normal(size=(N, 2))
COUNTS = RNG.poisson(np.exp(0.5 + X @ [0.8, -0.5])).astype(float)
POSITIVE = RNG.gamma(4.0, np.exp(X @ [0.8, -0.5]) / 4.0)
YES = (RNG.random(N) < 1 / (1 + np.exp(-X @ [2.0, -1.0]))).astype(float)
TIMES = np.column_stack([RNG.random(N) < 0.8, RNG.exponential(np.exp(-X[:, 0]))])
BACKWARDS = np.arange(N)[::-1] // 5  # arranged, the rows stand in another order


def changed(values, row, value):
    found = values.copy()
    found[row] = value
    return found


@pytest.mark.parametrize("name", ["poisson", "negative-binomial", "gamma"])
@pytest.mark.parametrize("value", [-1.0, 1.5, 0.0])
def test_a_wrong_label_is_named_by_the_row_of_the_user(name, value):
    if name == "gamma":
        labels, value = POSITIVE, -abs(value)
    else:
        labels, value = COUNTS, value or -2.0
    labels = changed(labels, 7, value)
    model = ShuffledRegressor(family=name)
    with pytest.raises(ValueError, match=rf"row 7 has {value:g}; the other 199 labels fit"):
        model.fit(X, labels, groups=BACKWARDS)
    # Rows that take no part are not looked at, and do not change the numbers of others.
    weights = changed(np.ones(N), [2, 7], 0.0)
    model.set_params(pairing="known").fit(X, labels, sample_weight=weights)
    labels[9] = value
    with pytest.raises(ValueError, match="row 9 has"):
        model.fit(X, labels, sample_weight=weights)


@pytest.mark.parametrize(
    ("name", "labels", "words"),
    [
        ("poisson", X[:, 0], "numbers of both signs, for which there is family='normal'"),
        ("poisson", POSITIVE, "positive numbers, for which there is family='gamma'"),
        ("poisson", np.abs(X[:, 0]) * (X[:, 0] > 0), "numbers from 0 on, for which"),
        ("gamma", COUNTS, "counts, for which there is family='poisson'"),
        ("gamma", YES, "yes/no labels, for which there is ShuffledClassifier"),
    ],
)
def test_the_family_that_would_fit_is_named(name, labels, words):
    with pytest.raises(ValueError, match=words):
        ShuffledRegressor(family=name).fit(X, labels)


def test_two_classes_as_counts():
    model = ShuffledRegressor(family="poisson", pairing="known")
    with pytest.warns(UnshuffleWarning, match="rather two classes than counts"):
        model.fit(X, YES)
    model.fit(X, np.minimum(COUNTS, 2.0))  # the control


@pytest.mark.parametrize(
    ("family", "other"), [("bernoulli", "ShuffledClassifier"), ("cox", "ShuffledCoxRegressor")]
)
@pytest.mark.parametrize("estimator", [ShuffledRegressor, HardEMRegressor])
def test_families_with_an_estimator_of_their_own(estimator, family, other):
    with pytest.raises(ValueError, match=f"use {other}"):
        estimator(family=family).fit(X, YES)


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        (np.array(["no"] * N), "all 200 labels are 'no'"),
        (np.array(["no"] * N, dtype=object), "all 200 labels are 'no'"),
        (np.array([False] * N), "all 200 labels are False"),
        (np.array(["a", "b", None, "a"] * 50, dtype=object), r"\(str, NoneType\)"),
        (np.array(["a", 1] * 100, dtype=object), r"\(str, int\)"),
        (np.array(["a", "b", "c", "a"] * 50), "there are 3 classes"),
        (changed(YES, 3, np.nan), "NaN"),
    ],
)
def test_classes(labels, words):
    with pytest.raises(ValueError, match=words):
        ShuffledClassifier().fit(X, labels)


@pytest.mark.parametrize(
    ("y", "words"),
    [
        (changed(TIMES, (4, 1), 0.0), "times must be positive, but row 4 has 0"),
        (changed(TIMES, (4, 1), -1.0), "times must be positive, but row 4 has -1"),
        (changed(TIMES, (4, 0), 2.0), "but row 4 has 2; the column of events comes first"),
        (TIMES[:, ::-1], "the column of events comes first"),
        (np.array([("yes", 1.0)] * N, dtype=object), "but row 0 has 'yes'"),
        (TIMES * [0.0, 1.0], "none of the 200 rows has an event"),
    ],
)
def test_times(y, words):
    with pytest.raises(ValueError, match=words):
        ShuffledCoxRegressor().fit(X, y, groups=BACKWARDS)


def test_events_as_objects():
    table = np.array([(bool(event), time) for event, time in TIMES], dtype=object)
    found = ShuffledCoxRegressor(pairing="known").fit(X, table)
    plain = ShuffledCoxRegressor(pairing="known").fit(X, TIMES)
    assert np.array_equal(found.coef_, plain.coef_)


@pytest.mark.parametrize(
    ("model", "y"),
    [
        (ShuffledRegressor(family="poisson"), COUNTS),
        (ShuffledClassifier(), YES),
        (ShuffledCoxRegressor(), TIMES),
    ],
)
def test_what_stands_beside_rows(model, y):
    ones = np.ones(N)
    for beside, words in (
        ({"sample_weight": changed(ones, 3, -1.0)}, "must not be negative, but row 3 has -1"),
        ({"sample_weight": 0 * ones}, "zero in all rows"),
        ({"offset": changed(ones, 3, 1e4)}, "within 50 of 0, but row 3 has 10000"),
        ({"offset": changed(ones, 3, np.inf)}, "missing or infinite in row 3"),
    ):
        with pytest.raises(ValueError, match=words):
            model.fit(X, y, **beside)


@pytest.mark.parametrize("value", [0.0, -1.0])
def test_exposure_must_be_positive(value):
    with pytest.raises(ValueError, match=f"exposure must be positive, but row 3 has {value:g}"):
        ShuffledRegressor(family="poisson").fit(X, COUNTS, exposure=changed(np.ones(N), 3, value))
    tiny = changed(np.ones(N), 3, 1e-30)
    with pytest.raises(ValueError, match="row 3 has -69"):
        ShuffledRegressor(family="poisson").fit(X, COUNTS, exposure=tiny)
    # Offsets of normal labels have the units of the labels.
    wide = ShuffledRegressor(random_state=0).fit(X, X[:, 0] + POSITIVE, offset=np.full(N, 1e4))
    assert np.isfinite(wide.coef_).all()
