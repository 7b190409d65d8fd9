"""`unshuffle fit --match-feature`: clues from files, with values that may be missing."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from clue_data import make_linked
from unshuffle import load_model
from unshuffle.cli.app import app


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)))


def columns():
    """A number with missing values, a category with missing values, and features."""
    data = make_linked(3)
    distance = [f"{value:.6f}" for value in data.clues[:, 0]]
    distance[5], distance[9] = "", "NA"
    kind = ["odd" if value > 0 else "even" for value in data.clues[:, 1]]
    kind[7:30] = [""] * 23
    X = {name: data.X[:, j] for j, name in enumerate("abc")}
    return {**X, "y": data.y, "distance": distance, "kind": kind}


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    path = tmp_path_factory.mktemp("clues") / "linked.csv"
    found = columns()
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(found)
        writer.writerows(zip(*found.values(), strict=True))
    return path


def test_clues_are_no_features_and_reach_the_fit(table, tmp_path):
    asked = ("--label", "y", "--match-feature", "distance,kind")
    out = call("fit", table, *asked, "--json", "--out", tmp_path / "out")
    assert out.exit_code == 0, out.output
    found = json.loads(out.stdout)
    assert set(found["coefficients"]) == {"(intercept)", "a", "b", "c"}
    clues = found["match_model"]["coefficients"]
    names = ["(intercept)", "distance", "distance[missing]", "kind[T.odd]", "kind[T.(missing)]"]
    assert list(clues) == names
    assert clues["distance"]["coef"] > 0.0 > clues["kind[T.odd]"]["coef"]
    assert load_model(tmp_path / "out").match_model_.names == tuple(names)
    assert "Match model" in (tmp_path / "out" / "report.html").read_text()


def test_parquet_gives_the_same_as_text(table, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    found = columns()
    distance = [None if cell in {"", "NA"} else float(cell) for cell in found["distance"]]
    kind = [cell or None for cell in found["kind"]]
    path = tmp_path / "linked.parquet"
    pq.write_table(pa.table(found | {"distance": distance, "kind": kind}), path)
    asked = ("--label", "y", "--match-feature", "distance,kind", "--json", "-q")
    one, other = (json.loads(call("fit", data, *asked).stdout) for data in (table, path))
    for name, clue in one["match_model"]["coefficients"].items():
        other_clue = other["match_model"]["coefficients"][name]
        assert np.isclose(clue["coef"], other_clue["coef"], rtol=1e-4), name


def test_what_cannot_be_a_clue_is_refused(table):
    twice = call("fit", table, "-y", "y", "-x", "a,b,distance", "--match-feature", "distance")
    assert twice.exit_code == 2
    assert "cannot be a feature as well" in twice.output
    unknown = call("fit", table, "-y", "y", "--match-feature", "distanc")
    assert unknown.exit_code == 2
    assert "did you mean 'distance'?" in unknown.output
    missing = call("fit", table, "-y", "y")  # as features they may not be missing
    assert missing.exit_code == 2
    assert "missing" in missing.output
