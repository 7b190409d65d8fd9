"""`check_blocks` as a user calls it: findings, tables, bad input, and what must not change it."""

import dataclasses

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from unshuffle import check_blocks
from unshuffle.inference.settings import BlockSettings

QUICK = BlockSettings(draws=199)
# Each test rejects one clean set in twenty, that of seed 0 among them; how often they do is tested
# below and in tests/inference.
rng = np.random.default_rng(1)
CLINIC = np.arange(320) // 8
X = rng.normal(size=(320, 2)) + rng.normal(size=(40, 2))[CLINIC]
Y = X @ [1.0, -1.0] + rng.normal(size=320)
PERMUTED = rng.permuted(Y.reshape(40, 8), axis=1).ravel()
FRAME = pd.DataFrame(X, columns=["age", "dose"])


def test_labels_as_they_belong_show_no_sign():
    result = check_blocks(X, Y, CLINIC)
    assert result.finding == "no sign"
    assert result.factor.low < 1.0 < result.factor.high
    assert result.p_value > 0.05
    assert result.text.startswith(
        "blocks: no sign of labels exchanged inside blocks: slopes within"
    )
    assert result.checks[0].advice == ""


@pytest.mark.long
def test_clean_sets_are_flagged_as_often_as_documented():
    """An exchange in 5 %; anything in at most 10 %, since two tests are made at 5 % each."""
    n_sets = 300
    findings = findings_of((*draw(seed), CLINIC) for seed in range(n_sets))
    for kinds, most in (({"exchange"}, 0.05), ({"exchange", "other difference"}, 0.1)):
        error = (most * (1 - most) / n_sets) ** 0.5
        assert np.mean([finding in kinds for finding in findings]) <= most + 3.5 * error


def test_labels_permuted_inside_blocks_are_a_sign_of_an_exchange():
    """The control of the test above."""
    result = check_blocks(FRAME, PERMUTED, pd.Series(CLINIC, name="clinic"))
    assert result.finding == "exchange"
    assert result.factor.low < 0.0 < result.factor.high < 0.3
    assert "labels may have been exchanged inside blocks" in result.text
    assert "groups=clinic" in str(result)
    assert "errors of measurement" in result["clinic"].advice


def draw(seed, n_levels=40):
    """Features with means of their own in `n_levels` stretches of rows, and labels with noise 1."""
    fresh = np.random.default_rng(seed)
    stretch = np.arange(320) * n_levels // 320
    features = fresh.normal(size=(320, 2)) + fresh.normal(size=(n_levels, 2))[stretch]
    return features, features @ [1.0, -1.0] + fresh.normal(size=320)


def findings_of(sets):
    return [check_blocks(*one, settings=QUICK).finding for one in sets]


def test_pairs_that_are_all_swapped_are_an_exchange():
    """No row keeps its label: the factor is -1, not between 0 and 1.

    Expected of 20: 18, since one common factor is rejected in 5 %, and -1 is the lowest possible.
    """
    sets = []
    for seed in range(20):
        features, labels = draw(seed, 80)
        sets.append((features, labels.reshape(160, 2)[:, ::-1].ravel(), np.arange(320) // 2))
    assert findings_of(sets).count("exchange") >= 14
    assert check_blocks(*sets[0]).factor.value == pytest.approx(-1.0, abs=0.5)


def test_other_differences_are_not_called_an_exchange():
    mean = np.repeat(X.reshape(40, 8, 2).mean(axis=1), 8, axis=0)
    for labels in (Y + 2.0 * mean[:, 0], Y - 0.7 * mean @ [1.0, -1.0]):
        check = check_blocks(X, labels, CLINIC).checks[0]
        assert check.finding == "other difference"
        assert "does not explain" in check.text
        assert "effect of their own" in check.advice


def test_blocks_that_say_little_are_called_unclear():
    """Labels permuted inside clinics, and thirteen other blocks: hardly any slope is left to compare.

    Expected of 20: 17.
    """
    sets = []
    for seed in range(20):
        features, labels = draw(seed)
        permuted = np.random.default_rng(seed).permuted(labels.reshape(40, 8), axis=1).ravel()
        sets.append((features, permuted, np.arange(320) % 13))
    found = findings_of(sets)
    assert found.count("unclear") >= 13
    check = check_blocks(*sets[found.index("unclear")], settings=QUICK).checks[0]
    assert "could hardly show one" in check.text


def test_several_columns_are_adjusted_and_sorted():
    columns = pd.DataFrame({"day": np.arange(320) % 40, "clinic": CLINIC})
    result = check_blocks(FRAME, PERMUTED, columns)
    assert [check.column for check in result.checks] == ["clinic", "day"]
    alone = check_blocks(FRAME, PERMUTED, columns["clinic"]).checks[0]
    assert result["clinic"].adjusted_p_weaker == pytest.approx(2 * alone.p_weaker)
    assert result["clinic"].p_weaker == alone.p_weaker == alone.adjusted_p_weaker
    table = result.to_frame()
    assert table["column"].tolist() == ["clinic", "day"]
    assert table["finding"][0] == "exchange"
    with pytest.raises(KeyError, match="'plate' was not checked"):
        result["plate"]


def test_every_way_to_give_columns_is_the_same():
    names = [f"c{k}" for k in CLINIC]
    expected = check_blocks(FRAME, PERMUTED, {"clinic": names}).to_dict()
    for blocks in (
        pd.DataFrame({"clinic": names}),
        pl.DataFrame({"clinic": names}),
        pa.table({"clinic": names}),
        pd.Series(names, name="clinic"),
        pl.Series("clinic", names),
        pd.DataFrame({"clinic": pd.Categorical(names)}),
    ):
        assert check_blocks(FRAME, PERMUTED, blocks).to_dict() == expected
    polars = check_blocks(pl.from_pandas(FRAME), pl.Series(PERMUTED), {"clinic": names})
    assert polars.to_dict() == expected


def test_result_is_frozen_and_shows_itself():
    result = check_blocks(FRAME, PERMUTED, {"<clinic>": CLINIC})
    with pytest.raises(dataclasses.FrozenInstanceError):
        result.checks = ()
    assert "&lt;clinic&gt;" in result._repr_html_()
    slopes = result.checks[0].to_frame()
    assert slopes["feature"].tolist() == ["age", "dose"]
    np.testing.assert_allclose(slopes["within"], result.checks[0].within.values)
    assert "between  std err" in str(result)


def test_an_array_without_blocks_of_its_own_is_refused_with_its_name():
    with pytest.raises(ValueError, match="blocks of 'id': every block has one row only"):
        check_blocks(X, Y, {"id": np.arange(320)})


MISSING = [None if k == 3 else "a" for k in CLINIC]
BAD = {
    "missing": ((X, Y, MISSING), r"blocks has 8 missing value\(s\), in row\(s\) 24.*drop those rows"),
    "missing, named": (
        (X, Y, {"clinic": MISSING}), "the column 'clinic' of blocks has 8 missing",
    ),
    "one block": ((X, Y, np.zeros(320)), "all rows are in one block"),
    "blocks of one row": ((X, Y, np.arange(320)), "every block has one row only"),
    "few blocks": ((X, Y, np.arange(320) % 11), "there are 11 blocks, .* need at least 12"),
    "too short": ((X, Y, CLINIC[:-1]), "blocks has 319 entries but there are 320 rows"),
    "a word": ((X, Y, "clinic"), "blocks must hold one group label per row"),
    "two columns without names": ((X, Y, np.stack([CLINIC, CLINIC], 1)), "one-dimensional"),
    "no columns": ((X, Y, {}), "blocks has no columns"),
    "constant features": (
        (X.reshape(40, 8, 2)[:, 0].repeat(8, axis=0), Y, CLINIC), "no feature varies both",
    ),
    "the same feature twice": (
        (np.column_stack([X, X[:, 0]]), Y, CLINIC), "'x2' is a linear combination",
    ),
    "a feature in one block": (
        (np.column_stack([X, (CLINIC == 4) * rng.normal(size=320)]), Y, CLINIC),
        "block 4 alone determines a slope between blocks",
    ),
    "no noise": ((X, X @ [1.0, 2.0], CLINIC), "exact linear function"),
    "NaN": ((np.where(X > 3, np.nan, X), Y, CLINIC), "Input X contains NaN"),
    "constant labels": ((X, np.ones(320), CLINIC), "all 320 labels equal 1"),
    "fewer labels": ((X, Y[:-2], CLINIC), "X has 320 rows but y has 318 labels"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_bad_input(name):
    arguments, message = BAD[name]
    with pytest.raises(ValueError, match=message):
        check_blocks(*arguments)


@pytest.mark.parametrize("level", [0.0, 1.0, 95])
def test_bad_level(level):
    with pytest.raises(ValueError, match="level must lie between 0 and 1"):
        check_blocks(X, Y, CLINIC, level=level)


@settings(max_examples=20, deadline=None)
@given(
    seed=st.integers(0, 1000),
    scale=st.floats(1e-3, 1e3),
    shift=st.floats(-100, 100),
    units=st.tuples(st.floats(1e-3, 1e3), st.floats(1e-3, 1e3)),
    flip=st.booleans(),
)
def test_order_names_and_units_change_nothing(seed, scale, shift, units, flip):
    labels = (Y, PERMUTED)[seed % 2]
    before = check_blocks(X, labels, CLINIC, settings=QUICK).checks[0]
    order = np.random.default_rng(seed).permutation(320)
    names = np.random.default_rng(seed).permutation(1000)[CLINIC[order]].astype(str)
    changed = (-scale if flip else scale) * labels[order] + shift
    after = check_blocks(X[order] * units + shift, changed, names, settings=QUICK).checks[0]
    assert after.finding == before.finding
    np.testing.assert_allclose(after.factor, before.factor, rtol=1e-5)
    # A draw that ties with the data but for rounding may count or not.
    assert after.p_weaker == pytest.approx(before.p_weaker, abs=2 / 200)
    assert after.p_equal == pytest.approx(before.p_equal, rel=1e-5, abs=1e-12)
    rescaled = after.within.values * units / (-scale if flip else scale)
    np.testing.assert_allclose(rescaled, before.within.values, rtol=1e-6)
