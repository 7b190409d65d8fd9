"""What is said of pairs, strata and audits that cannot be used: found, and what to do."""

import numpy as np
import pandas as pd
import pytest

from surface.shell import call, write
from unshuffle import Audit, MixtureRegressor, MomentRegressor
from unshuffle.linkage import from_pairs

LEFT = {"unique_id": ["a", "b", "c"], "x": [1.0, 2.0, 4.0]}
RIGHT = {"unique_id": ["u", "v", "w"], "y": [2.0, 3.0, 5.0]}
PAIRS = {
    "unique_id_l": ["a", "b", "c"],
    "unique_id_r": ["u", "v", "w"],
    "match_probability": [0.9, 0.8, 0.7],
}
BAD = {
    "unknown id": (
        {"unique_id_l": ["a", "b", "z"]},
        "'z'; drop these pairs, or give the left file that the pairs were made from",
    ),
    "log odds": ({"match_probability": [0.9, 3.0, -2.0]}, "row {} the first outside 0..1: these"),
    "two probabilities": (
        {
            "unique_id_l": ["a", "b", "a"],
            "unique_id_r": ["u", "v", "u"],
        },
        "0.9 and 0.7 (rows {} and {} of the pairs)",
    ),
}
# Rows of frames count from 0 as in Python, those of files from 1.
PLACES = {"unknown id": [], "log odds": [1], "two probabilities": [0, 2]}


@pytest.mark.parametrize("case", BAD)
def test_rows_of_pairs_are_those_of_the_user(case, tmp_path):
    changed, message = BAD[case]
    with pytest.raises(ValueError) as raised:
        from_pairs(pd.DataFrame(PAIRS | changed), pd.DataFrame(LEFT), pd.DataFrame(RIGHT))
    assert message.format(*PLACES[case]) in str(raised.value)
    files = [
        write(tmp_path / f"{name}.csv", **columns)
        for name, columns in (("left", LEFT), ("right", RIGHT), ("pairs", PAIRS | changed))
    ]
    done = call("fit", files[0], files[1], "--pairs", files[2])
    assert done.exit_code == 2
    assert message.format(*(place + 1 for place in PLACES[case])) in done.stderr


def test_an_audit_that_found_no_right_link_asks_for_more():
    X = np.arange(8.0)[:, None]
    with pytest.raises(ValueError, match="all 20 checked links were wrong: check more"):
        MomentRegressor(mismatch_rate=Audit(20, 20)).fit(X, X[:, 0])


def test_missing_strata_are_called_strata():
    X = np.arange(4.0)[:, None]
    model = MomentRegressor(mismatch_rate={"a": 0.1})
    with pytest.raises(ValueError, match="every row needs a stratum: drop those rows"):
        model.fit(X, X[:, 0], strata=np.array(["a", "a", None, "a"], dtype=object))


def test_clues_of_many_names_are_not_all_listed():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 1))
    names = pd.DataFrame({"name": [f"n{k}" for k in range(60)]})
    with pytest.warns(UserWarning, match=r"'name\[T.n12\]' and \d+ more finite"):
        MixtureRegressor().fit(X, X[:, 0] + 0.1 * rng.normal(size=60), match_features=names)


def test_the_command_line_names_its_own_option(tmp_path):
    x = np.arange(20.0)
    path = write(tmp_path / "t.csv", x=x, y=x + np.sin(x), c=np.ones(20))
    done = call("fit", path, "-y", "y", "--match-feature", "c")
    assert done.exit_code == 2
    assert "--match-feature: 'c' is the same for all rows" in done.stderr
    assert "match_features" not in done.stderr
