"""`unshuffle fit --family` as a shell calls it."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from unshuffle import ShuffledClassifier, load_model
from unshuffle.cli.app import app

pytestmark = pytest.mark.long


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Counts with exposures, classes, and times with events; a fifth of the rows exchanged."""
    rng = np.random.default_rng(0)
    n = 500
    X = rng.normal(size=(n, 2))
    time = rng.exponential(np.exp(-X @ [1.0, -0.5]))
    exposure = rng.uniform(0.5, 2.0, size=n)
    moved = rng.choice(n, n // 5, replace=False)
    order = np.arange(n)
    order[moved] = rng.permutation(moved)
    columns = {
        "a": X[:, 0],
        "b": X[:, 1],
        "size": exposure,
        "one": np.ones(n),
        "visits": rng.poisson(exposure * np.exp(0.3 + X @ [0.8, -0.5]))[order],
        "ill": np.where(rng.random(n) < 1 / (1 + np.exp(-X @ [2.0, -1.0])), "yes", "no")[order],
        "months": np.minimum(time, 2.0)[order],
        "died": (time < 2.0).astype(int)[order],
    }
    path = tmp_path_factory.mktemp("data") / "linked.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path, columns


def test_two_classes_end_to_end(table, tmp_path):
    path, columns = table
    options = ["-x", "a,b", "--label", "ill", "--family", "bernoulli", "--out", tmp_path / "r"]
    result = call("fit", path, *options)
    assert result.exit_code == 0, result.output
    assert "family: bernoulli" in result.output
    assert {p.name for p in (tmp_path / "r").iterdir()} == {
        "matches.csv", "model.json", "model.npz", "report.html", "summary.csv",
    }  # fmt: skip
    X = np.column_stack([columns["a"], columns["b"]])
    model = ShuffledClassifier(random_state=0).fit(X, columns["ill"])
    np.testing.assert_allclose(load_model(tmp_path / "r").coef_, model.coef_, rtol=1e-6)
    predicted = call("predict", tmp_path / "r", path)
    assert predicted.output.splitlines()[0] == "row,ill"
    assert predicted.output.splitlines()[1] == f"1,{model.predict(X[:1])[0]}"


def test_counts_with_exposure_and_weight(table):
    path, _ = table
    options = ["-x", "a,b", "-y", "visits", "--family", "poisson", "--exposure", "size", "--json"]
    found = json.loads(call("fit", path, *options).output)
    weighted = json.loads(call("fit", path, *options, "--weight", "one").output)
    a, b = (document["coefficients"]["a"]["unshuffle"]["coef"] for document in (found, weighted))
    assert a == pytest.approx(0.8, abs=0.15)
    assert b == pytest.approx(a, rel=1e-6)
    assert found["family"] == "poisson"
    assert found["mismatch_rate"] == pytest.approx(0.2, abs=0.1)


def test_times(table):
    path, _ = table
    result = call("fit", path, "-x", "a,b", "-y", "months", "--event", "died", "--family", "cox")
    assert result.exit_code == 0
    assert "events per coefficient" in result.output


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["-y", "months", "--family", "cox"], "--event and --family cox belong together"),
        (["-y", "visits", "--event", "died"], "--event and --family cox belong together"),
        (["-y", "visits", "--family", "gamma"], "positive labels"),
        (["-y", "a", "--family", "poisson"], "counts 0, 1, 2"),
        (["-y", "ill", "--family", "poisson"], "not a number"),
        (["-y", "visits", "--family", "poisson", "--exposure", "a"], "exposure must be positive"),
        (["-y", "visits", "--family", "poisson", "--weight", "a"], "must not be negative"),
        (["-y", "months", "--event", "visits", "--family", "cox"], "neither true nor false"),
        (["-y", "visits", "--family", "poisson", "--by", "size"], "in memory"),
    ],
)
def test_bad_options_are_one_line(table, options, said):
    path, _ = table
    result = call("fit", path, "-x", "b", *options)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
