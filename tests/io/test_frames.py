"""Frames of three libraries in, the same library out, the same numbers throughout."""

import numpy as np
import pytest

from unshuffle import ShuffledRegressor, fit_formula
from unshuffle.datasets import make_shuffled_regression
from unshuffle.datasets.simulated import shuffle_inside
from unshuffle.io.frames import NamedMatrix, library_of, plain_column

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")
pa = pytest.importorskip("pyarrow")

MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


@pytest.fixture(scope="module")
def data():
    made = make_shuffled_regression(
        200, 2, noise=0.2, shuffle="fraction", fraction=0.15, random_state=0
    )
    return {
        "a": made.X[:, 0],
        "b": made.X[:, 1],
        "y": made.y,
        "zone": [f"z{k % 4}" for k in range(200)],
        "sure": np.arange(200) % 10 == 0,
        "p": np.linspace(0.6, 0.9, 200),
    }


@pytest.fixture(scope="module")
def plain(data):
    """The oracle: the same fit from arrays."""
    X = np.stack([data["a"], data["b"]], axis=1)
    model = ShuffledRegressor(random_state=0)
    return model.fit(X, data["y"], groups=data["zone"], known=data["sure"])


@pytest.mark.parametrize("library", MAKERS)
def test_every_library_gives_the_same_fit_and_gets_its_own_back(library, data, plain):
    frame = MAKERS[library](data)
    X = frame.select(["a", "b"]) if library != "pandas" else frame[["a", "b"]]
    model = ShuffledRegressor(random_state=0)
    model.fit(X, frame["y"], groups=frame["zone"], known=frame["sure"])
    assert list(model.feature_names_in_) == ["a", "b"]
    np.testing.assert_array_equal(model.coef_, plain.coef_)
    np.testing.assert_array_equal(model.match_proba_, plain.match_proba_)
    np.testing.assert_allclose(
        model.predict(X), plain.intercept_ + plain.coef_ @ [data["a"], data["b"]]
    )
    np.testing.assert_array_equal(model.repair(frame["y"]), plain.repair(data["y"]))
    assert library_of(model.suspects()) == library_of(model.summary().to_frame()) == library
    rows = plain_column(model.suspects()["row"])
    np.testing.assert_array_equal(rows, plain.suspects()["row"])


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_summaries_are_flat_where_there_is_no_index(library, data, plain):
    frame = MAKERS[library](data)
    model = ShuffledRegressor(random_state=0)
    model.fit(frame.select(["a", "b"]), frame["y"], groups=frame["zone"], known=frame["sure"])
    table = model.summary().to_frame()
    assert plain_column(table["coefficient"]).tolist() == ["(intercept)", "a", "b"]
    expected = plain.summary().to_frame()
    for name in ("coef", "std err"):
        np.testing.assert_array_equal(plain_column(table[name]), expected["unshuffle", name])
        np.testing.assert_array_equal(
            plain_column(table[f"as given {name}"]), expected["as given", name]
        )


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_two_tables_of_frames(library, data):
    frame = MAKERS[library](data)
    X = frame.select(["a", "b"])
    model = ShuffledRegressor(random_state=0, search="none")
    model.fit_unpaired(X, frame["y"], frame["zone"], frame["zone"])
    assert library_of(model.summary().to_frame()) == library


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
@pytest.mark.parametrize(
    ("column", "values", "message"),
    [
        ("a", [None, *range(9)], "contains NaN.*row 0, column 'a'"),
        ("a", list("abcdefghij"), "column 'a' of X holds another name in every row"),
        ("zone", [None, *"abcdefghi"], "groups has 1 missing value"),
        ("y", [None, *range(9)], "y contains NaN"),
        ("sure", [None, *[True] * 9], "known"),
    ],
)
def test_what_is_missing_is_named(library, column, values, message):
    columns = {
        "a": list(range(10)), "y": [1.0, 3, 2, 5, 4, 7, 6, 9, 8, 0], "zone": ["z"] * 10,
        "sure": [False] * 10,
    }  # fmt: skip
    frame = MAKERS[library](columns | {column: values})
    with pytest.raises(ValueError, match=message):
        ShuffledRegressor().fit(
            frame.select(["a"]), frame["y"], groups=frame["zone"], known=frame["sure"]
        )


def test_frames_with_several_columns_are_no_labels(data):
    frame = pl.DataFrame(data)
    with pytest.raises(ValueError, match="one column, got a frame of 2"):
        ShuffledRegressor().fit(frame.select(["a", "b"]), frame.select(["y", "p"]))


def test_a_named_matrix_keeps_its_names(data, plain):
    X = NamedMatrix(np.stack([data["a"], data["b"]], axis=1), ("first", "second"))
    model = ShuffledRegressor(random_state=0)
    model.fit(X, data["y"], groups=data["zone"], known=data["sure"])
    assert model.summary().names == ["(intercept)", "first", "second"]
    np.testing.assert_array_equal(model.predict(X), plain.predict(X.values))
    with pytest.raises(ValueError, match=r"'second'\]"):
        model.predict(NamedMatrix(X.values, ("first", "other")))


@pytest.fixture(scope="module")
def with_kinds():
    rng = np.random.RandomState(0)
    a, kind, zone = rng.normal(size=180), rng.choice(["n", "s", "w"], 180), np.arange(180) % 36
    y = 1 + 2 * a + 1.5 * (kind == "s") - (kind == "w") + 0.1 * rng.normal(size=180)
    return {"a": a, "kind": kind, "zone": zone, "y": y[shuffle_inside(rng, zone)]}


@pytest.mark.parametrize("library", MAKERS)
def test_formulas(library, with_kinds):
    pytest.importorskip("formulaic")
    frame = MAKERS[library](with_kinds)
    model = fit_formula("y ~ a + C(kind)", frame, groups="zone", random_state=0)
    assert isinstance(model, ShuffledRegressor)
    assert model.summary().names == ["(intercept)", "a", "C(kind)[T.s]", "C(kind)[T.w]"]
    np.testing.assert_allclose(model.coef_, [2, 1.5, -1], atol=0.1)
    assert library_of(model.summary().to_frame()) == library
    by_hand = model.intercept_ + np.stack(
        [with_kinds["a"], with_kinds["kind"] == "s", with_kinds["kind"] == "w"], axis=1
    ) @ model.coef_  # fmt: skip
    np.testing.assert_allclose(model.predict(frame), by_hand)


@pytest.mark.parametrize(
    ("formula", "settings", "message"),
    [
        ("y ~ a + q", {}, "`q`.*the columns are"),
        ("a + kind", {}, "no label"),
        ("y ~ 1", {}, "no features"),
        ("y ~ (a", {}, "cannot be read"),
        ("y + a ~ kind", {}, "one column of numbers"),
        ("kind ~ a", {}, "one column of numbers"),
        ("y ~ a", {"groups": "zon"}, "no column 'zon'"),
        ("y ~ a", {"fit_intercept": False}, "write '- 1'"),
    ],
)
def test_wrong_formulas(with_kinds, formula, settings, message):
    pytest.importorskip("formulaic")
    with pytest.raises(ValueError, match=message):
        fit_formula(formula, pd.DataFrame(with_kinds), **settings)


@pytest.mark.filterwarnings("ignore::unshuffle.UnidentifiableWarning")
def test_formulas_refuse_missing_rows_and_unknown_categories(with_kinds):
    """Dropping a row would keep a label that belongs to no row."""
    pytest.importorskip("formulaic")
    frame = pd.DataFrame(with_kinds)
    with pytest.raises(ValueError, match="its own label"):
        fit_formula("y ~ a", frame.assign(a=[np.nan, *with_kinds["a"][1:]]))
    model = fit_formula("y ~ kind - 1", frame, groups="zone", random_state=0, search="none")
    assert model.intercept_ == 0
    with pytest.raises(ValueError, match="q"):
        model.predict(pd.DataFrame({"kind": ["q"]}))


def test_formulas_need_a_frame():
    pytest.importorskip("formulaic")
    with pytest.raises(ValueError, match="data frame of pandas, polars or pyarrow, got dict"):
        fit_formula("y ~ a", {"a": [1], "y": [1]})
