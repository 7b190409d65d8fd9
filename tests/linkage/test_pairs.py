"""Pair tables of linkage tools: formats, calibration, records left out, messages."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import unshuffle
from unshuffle import MomentRegressor
from unshuffle.linkage import from_pairs

LEFT = pd.DataFrame(
    {"unique_id": ["a", "b", "c", "d"], "x": [1.0, 2.0, 3.0, 4.0], "z": [0, 1, 0, 1]}
)
RIGHT = pd.DataFrame({"unique_id": ["p", "q", "r"], "y": [10.0, 20.0, 30.0]})
PAIRS = pd.DataFrame(
    {
        "match_weight": [3.0, 1.0, 2.0, -1.0],
        "match_probability": [8 / 9, 2 / 3, 4 / 5, 1 / 3],
        "unique_id_l": ["b", "b", "c", "a"],
        "unique_id_r": ["q", "p", "p", "q"],
        "gamma_name": [2, 1, 2, 0],
    }
)


def check_links(linked):
    assert linked.left_rows.tolist() == [1, 2]
    assert linked.right_rows.tolist() == [1, 0]
    assert np.asarray(linked.X)[:, 0].tolist() == [2.0, 3.0]
    assert linked.y.tolist() == [20.0, 10.0]
    np.testing.assert_allclose(linked.match_prob, [8 / 9, 4 / 5])
    assert linked.unlinked_left.tolist() == [0, 3]
    assert linked.unlinked_right.tolist() == [2]


def test_splink_in_any_data_frame_library():
    assert unshuffle.linkage.from_pairs is from_pairs
    linked = from_pairs(PAIRS, LEFT, RIGHT, match_features=["gamma_name"])
    check_links(linked)
    assert linked.names == ["x", "z"]
    assert list(linked.X.index) == [0, 1]
    assert linked.match_features["gamma_name"].tolist() == [2, 2]
    assert "2 one-to-one links from 4 candidate pairs" in repr(linked)
    assert "left: 4 records, 2 without a link" in repr(linked)
    for make in (pl.DataFrame, pa.table):
        frames = [make(frame.to_dict("list")) for frame in (PAIRS, LEFT, RIGHT)]
        linked = from_pairs(*frames, match_features=["gamma_name"])
        check_links(linked)
        assert type(linked.X) is type(frames[1])
        assert type(linked.match_features) is type(frames[0])
    weights = from_pairs(PAIRS.drop(columns="match_probability"), LEFT, RIGHT)
    check_links(weights)


def test_other_names_of_ids_and_turned_pairs():
    pairs = PAIRS.rename(columns={"unique_id_l": "rec_l", "unique_id_r": "rec_r"})
    left, right = (frame.rename(columns={"unique_id": "rec"}) for frame in (LEFT, RIGHT))
    check_links(from_pairs(pairs, left, right, left_id="rec"))
    named = pairs.rename(columns={"rec_l": "one", "rec_r": "two", "match_probability": "p"})
    given = {"columns": ("one", "two"), "probability": "p", "left_id": "rec"}
    check_links(from_pairs(named, left, right, **given))
    turned = PAIRS.rename(columns={"unique_id_l": "unique_id_r", "unique_id_r": "unique_id_l"})
    linked = from_pairs(turned, LEFT, RIGHT)
    check_links(linked)
    assert "turned round" in linked.notes[0]


def test_recordlinkage_and_fastlink():
    index = pd.MultiIndex.from_arrays([PAIRS.unique_id_l, PAIRS.unique_id_r])
    left, right = LEFT.set_index("unique_id"), RIGHT.set_index("unique_id")
    scores = pd.Series(PAIRS.match_probability.to_numpy(), index=index)
    check_links(from_pairs(scores, left, right))
    compared = pd.DataFrame({"name": [1, 0, 1, 0]}, index=index)
    linked = from_pairs(
        compared, left, right, probability=scores.to_numpy(), match_features=["name"]
    )
    check_links(linked)
    check_links(from_pairs(index, left, right, probability=scores.to_numpy()))
    by_row = pd.DataFrame(
        {"inds.a": [2, 2, 3, 1], "inds.b": [2, 1, 1, 2], "posterior": PAIRS.match_probability}
    )
    linked = from_pairs(by_row, left, right)
    check_links(linked)
    by_row["inds.a"] -= 1
    with pytest.raises(ValueError, match="1 pairs name 1 ids that no left record has: 0"):
        from_pairs(by_row, left, right)


def make_scored(n=2000, seed=0):
    """Links whose raw score is far too small: right with probability (1 + score) / 2."""
    rng = np.random.default_rng(seed)
    score = rng.uniform(0.02, 0.98, size=n)
    right = rng.random(n) < 0.5 + 0.5 * score
    pairs = pd.DataFrame(
        {"unique_id_l": np.arange(n), "unique_id_r": np.arange(n), "match_probability": score}
    )
    frames = [
        pd.DataFrame({"unique_id": np.arange(n), name: rng.normal(size=n)}) for name in ("x", "y")
    ]
    return pairs, frames, right


@pytest.mark.parametrize("method", ["auto", "isotonic", "platt"])
def test_checked_links_calibrate_the_rest(method):
    pairs, frames, right = make_scored()
    checked = np.random.default_rng(1).choice(2000, 300, replace=False)
    pairs["seen"] = pd.array([pd.NA] * 2000, dtype="boolean")
    pairs.loc[checked, "seen"] = right[checked]
    linked = from_pairs(pairs, *frames, checked="seen", calibration=method)
    n_wrong = int(np.sum(~right[checked]))
    assert linked.calibration.n_checked == 300
    assert linked.calibration.n_wrong == n_wrong == linked.counts["checked and wrong"]
    losses = linked.calibration.losses
    assert min(losses["isotonic"], losses["platt"]) < losses["as given"]
    if method != "auto":
        assert linked.calibration.method == method
    else:
        assert losses[linked.calibration.method] == min(losses["isotonic"], losses["platt"])
    # Wrong links are out and right ones known; the others have probabilities near the truth.
    assert len(linked) == 2000 - n_wrong
    assert linked.known.sum() == 300 - n_wrong
    assert (linked.match_prob[linked.known] == 1.0).all()
    rest = ~linked.known
    score = pairs.match_probability.to_numpy()[linked.left_rows][rest]
    assert np.abs(linked.match_prob[rest] - (0.5 + 0.5 * score)).mean() < 0.07
    assert f"on 300 checked links, {n_wrong} wrong" in repr(linked)


def test_checked_links_as_a_table_free_their_records():
    """A link checked as wrong gives its records to the next best pairs."""
    pairs, frames, right = make_scored(60)
    pairs.loc[60] = [0, 1, 0.01]
    checked = pairs.iloc[:50][["unique_id_l", "unique_id_r"]].assign(right=right[:50])
    checked.loc[0, "right"] = checked.loc[1, "right"] = False
    linked = from_pairs(pairs, *frames, checked=checked, calibration="none")
    assert (linked.left_rows[0], linked.right_rows[0]) == (0, 1)
    assert linked.match_prob[0] == 0.01
    assert linked.calibration is None
    kept = set(linked.left_rows.tolist())
    assert all((k in kept) == right[k] for k in range(2, 50))


def test_few_or_equal_checks_are_refused():
    pairs, frames, _ = make_scored(60)
    checked = pairs.iloc[:30][["unique_id_l", "unique_id_r"]].assign(right=True)
    with pytest.raises(
        ValueError, match=r"30 links were checked, 0 of them wrong; .*Audit\(30, 0\)"
    ):
        from_pairs(pairs, *frames, checked=checked)
    with pytest.raises(ValueError, match="10 links were checked"):
        from_pairs(pairs, *frames, checked=checked.iloc[:10])
    with pytest.raises(ValueError, match="calibration='platt' needs checked links"):
        from_pairs(pairs, *frames, calibration="platt")
    with pytest.raises(ValueError, match="'auto', 'isotonic', 'platt' or 'none', got 'best'"):
        from_pairs(pairs, *frames, calibration="best")
    twice = pd.concat([pairs, pd.DataFrame([[0, 1, 0.5]], columns=pairs.columns)])
    sure = pd.DataFrame({"unique_id_l": [0, 0], "unique_id_r": [0, 1], "right": True})
    with pytest.raises(ValueError, match="1 left records are in two pairs that were checked"):
        from_pairs(twice, *frames, checked=sure)


def test_ties_and_thresholds():
    pairs = PAIRS.assign(match_probability=[0.7, 0.7, 0.7, 0.7])
    linked = from_pairs(pairs, LEFT, RIGHT)
    assert linked.counts["ties"] == len(linked) == 2
    assert linked.tied.all()
    strict = from_pairs(PAIRS, LEFT, RIGHT, threshold=0.85)
    assert strict.left_rows.tolist() == [1]
    assert strict.counts["pairs below the threshold"] == 3


def test_the_order_of_the_pairs_does_not_matter():
    rng = np.random.default_rng(0)
    n = 60
    ids = np.arange(n + 2)
    records = [pd.DataFrame({"unique_id": ids, c: 1.0 * ids}) for c in "xy"]
    left, right = np.nonzero(rng.random((n, n)) < 0.1)
    score = rng.choice([0.2, 0.5, 0.9], size=len(left))  # many ties
    left, right = np.append(left, [60, 60]), np.append(right, [60, 61])  # two that are as good
    score = np.append(score, [0.5, 0.5])
    pairs = pd.DataFrame({"unique_id_l": left, "unique_id_r": right, "match_probability": score})
    one = from_pairs(pairs, *records)
    assert one.counts["ties"] > 10
    other = from_pairs(pairs[::-1], *records)
    np.testing.assert_array_equal(one.right_rows, other.right_rows)
    np.testing.assert_array_equal(one.left_rows, other.left_rows)


def test_repeated_pairs_and_a_million_of_them():
    many = pd.concat([PAIRS] * 1000, ignore_index=True)
    linked = from_pairs(many, LEFT, RIGHT)
    check_links(linked)
    assert linked.counts["repeated pairs"] == 3996
    assert "3,996 pairs stand more than once" in linked.notes[0]
    many.loc[7, "match_probability"] = 0.5
    with pytest.raises(ValueError, match="more than once with different probabilities"):
        from_pairs(many, LEFT, RIGHT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unique_id_l": ["b", "b", "c", "nobody"]}, "1 pairs name 1 ids that no left .*'nobody'"),
        ({"match_probability": [0.1, np.nan, 0.2, 0.3]}, "1 pairs have no probability, .* row 1"),
        ({"match_probability": [12.3, -7.5, 2.0, 0.1]}, r"look like log odds w; .* 2\*\*w / \(1"),
        ({"match_probability": [90.0, 70.0, 20.0, 10.0]}, "divide percentages by 100"),
        ({"match_probability": ["high"] * 4}, "does not hold numbers"),
        ({"match_probability": [0.0] * 4}, "none of 4 pairs has a probability above 0"),
    ],
)
def test_bad_pairs_are_named(change, message):
    with pytest.raises(ValueError, match=message):
        from_pairs(PAIRS.assign(**change), LEFT, RIGHT)


def test_bad_tables_are_named():
    with pytest.raises(ValueError, match="there are no pairs"):
        from_pairs(PAIRS.iloc[:0], LEFT, RIGHT)
    with pytest.raises(ValueError, match="which two hold the ids"):
        from_pairs(PAIRS.rename(columns={"unique_id_l": "one"}), LEFT, RIGHT)
    with pytest.raises(ValueError, match="pairs has no probability"):
        from_pairs(PAIRS[["unique_id_l", "unique_id_r"]], LEFT, RIGHT)
    with pytest.raises(ValueError, match="left records have the id 'a' more than once"):
        from_pairs(PAIRS, LEFT.assign(unique_id=["a", "a", "b", "c"]), RIGHT)
    with pytest.raises(
        ValueError, match="no column 'unique_id' with their ids; name it with right"
    ):
        from_pairs(PAIRS, LEFT, RIGHT.rename(columns={"unique_id": "id"}))
    with pytest.raises(ValueError, match="needs a label; give label, one of y, w"):
        from_pairs(PAIRS, LEFT, RIGHT.assign(w=1.0))
    with pytest.raises(ValueError, match="left records have no column 'height'"):
        from_pairs(PAIRS, LEFT, RIGHT, features=["height"])
    with pytest.raises(ValueError, match="pairs must be a data frame"):
        from_pairs([("a", "p")], LEFT, RIGHT)
    with pytest.raises(ValueError, match="ids are int in one and str in the other"):
        from_pairs(
            pd.DataFrame({"unique_id_l": [1], "unique_id_r": ["p"], "match_probability": 0.5}),
            LEFT.assign(unique_id=list("1234")), RIGHT,
        )  # fmt: skip
    with pytest.raises(ValueError, match="threshold is a probability"):
        from_pairs(PAIRS, LEFT, RIGHT, threshold=2.0)


def test_linked_records_can_be_fitted():
    rng = np.random.default_rng(0)
    n = 500
    left = pd.DataFrame(
        {"unique_id": np.arange(n), "a": rng.normal(size=n), "b": rng.normal(size=n)}
    )
    right = pd.DataFrame({"unique_id": np.arange(n), "y": 2 * left.a - left.b})
    wrong = rng.permutation(n) < 100
    partner = np.arange(n)
    partner[wrong] = np.roll(np.flatnonzero(wrong), 1)
    pairs = pd.DataFrame(
        {
            "unique_id_l": np.arange(n),
            "unique_id_r": partner,
            "match_probability": np.where(wrong, 0.3, 0.92),
        }
    )
    linked = from_pairs(pairs, left, right)
    model = MomentRegressor().fit(linked.X, linked.y, match_prob=linked.match_prob)
    assert list(model.feature_names_in_) == ["a", "b"]
    assert abs(model.mismatch_rate_ - (1 - linked.match_prob.mean())) < 1e-12
