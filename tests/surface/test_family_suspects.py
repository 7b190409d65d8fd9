"""`unshuffle suspects --family` as a shell calls it."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from unshuffle import ShuffledClassifier, ShuffledCoxRegressor, ShuffledRegressor
from unshuffle.cli.app import app

pytestmark = pytest.mark.long


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


@pytest.fixture(scope="module")
def table(tmp_path_factory):
    """Counts, classes and times with events; a fifth of the rows exchanged."""
    rng = np.random.default_rng(0)
    n = 300
    X = rng.normal(size=(n, 2))
    time = rng.exponential(np.exp(-X @ [2.0, -1.0]))
    order = np.arange(n)
    order[: n // 5] = rng.permutation(n // 5)
    columns = {
        "name": np.array([f"p{i}" for i in range(n)]),
        "a": X[:, 0],
        "b": X[:, 1],
        "size": rng.uniform(0.5, 2.0, size=n),
        "visits": rng.poisson(np.exp(1.0 + X @ [1.2, -0.5]))[order],
        "ill": np.where(rng.random(n) < 1 / (1 + np.exp(-X @ [4.0, -2.0])), "yes", "no")[order],
        "months": np.minimum(time, 2.0)[order],
        "died": (time < 2.0).astype(int)[order],
        "zone": np.arange(n) // 5,
    }
    path = tmp_path_factory.mktemp("data") / "linked.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path, columns


def test_counts_with_exposure_ids_and_a_file(table, tmp_path):
    path, columns = table
    options = ["-x", "a,b", "-y", "visits", "--family", "poisson", "--exposure", "size"]
    options += ["--pairing", "mostly-right", "--threshold", "0.8", "--id", "name"]
    found = json.loads(call("suspects", path, *options, "--json").output)
    X = np.column_stack([columns["a"], columns["b"]])
    model = ShuffledRegressor(family="poisson", pairing="mostly-right", random_state=0)
    direct = model.fit(X, columns["visits"], exposure=columns["size"]).suspects(0.8)
    assert [line["row"] for line in found["suspects"]] == (direct["row"] + 1).tolist()
    first = found["suspects"][0]
    assert first["partner"] == direct["partner_1"][0] + 1
    assert first["partner_id"] == f"p{first['partner'] - 1}"
    assert first["partner_probability"] == pytest.approx(direct["partner_1_proba"][0])
    assert found["pairing"] == "mostly-right"
    result = call("suspects", path, *options, "--out", tmp_path / "s.csv")
    assert "to hold their own label\n" in result.output  # no gross errors here
    written = list(csv.DictReader((tmp_path / "s.csv").read_text().splitlines()))
    assert [line["id"] for line in written] == [line["id"] for line in found["suspects"]]


def test_classes_and_times(table):
    path, columns = table
    X = np.column_stack([columns["a"], columns["b"]])
    options = ["-x", "a,b", "--pairing", "mostly-right", "--json"]
    found = json.loads(
        call("suspects", path, *options, "-y", "ill", "--family", "bernoulli").output
    )
    model = ShuffledClassifier(pairing="mostly-right").fit(X, columns["ill"])
    rows = model.suspects()["row"] + 1
    assert [line["row"] for line in found["suspects"]] == rows.tolist()
    assert {line["ill"] for line in found["suspects"]} <= {"yes", "no"}
    of_times = ["-y", "months", "--event", "died", "--family", "cox"]
    found = json.loads(call("suspects", path, *options, *of_times).output)
    y = np.column_stack([columns["died"], columns["months"]])
    rows = ShuffledCoxRegressor(pairing="mostly-right").fit(X, y).suspects()["row"] + 1
    assert [line["row"] for line in found["suspects"]] == rows.tolist()


def test_lost_order_names_rows_of_the_group(table):
    path, columns = table
    options = ["-x", "a,b", "-y", "visits", "--family", "poisson", "--pairing", "lost"]
    result = call("suspects", path, *options, "--group", "zone", "--json")
    found = json.loads(result.output)["suspects"]
    assert len(found) > 10
    for line in found:
        assert columns["zone"][line["row"] - 1] == columns["zone"][line["partner"] - 1]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["suspects", "-y", "visits", "--family", "cox"], "--event and --family cox belong"),
        (["suspects", "-y", "ill", "--family", "poisson"], "'ill'"),
        (["suspects", "-y", "visits", "--family", "poisson", "--reviewed", "r.csv"], "--known"),
        (["repair", "-y", "visits", "--family", "poisson", "--out", "o.csv"], "suspects --family"),
    ],
)
def test_refusals(table, tmp_path, monkeypatch, arguments, words):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "r.csv").write_text("row,decision\n")
    command, *options = arguments
    result = call(command, table[0], "-x", "a,b", *options)
    assert result.exit_code == 2, result.output
    assert words in " ".join(result.output.split())
    assert not (tmp_path / "o.csv").exists()


@pytest.mark.parametrize("command", ["fit", "suspects"])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["-y", "n", "--family", "poisson"], "line 5, column 'n': family='poisson' is for counts"),
        (["-y", "t", "--family", "gamma"], "line 5, column 't': family='gamma' is for positive"),
        (["-y", "t", "--family", "cox", "--event", "e"], "line 5, column 't': times must be"),
        (["-y", "c", "--family", "poisson", "--exposure", "t"], "line 5, column 't': exposure"),
        (["-y", "c", "--family", "poisson", "--weight", "n"], "line 5, column 'n': sample_weight"),
        (["-y", "c", "--family", "poisson", "--exposure", "s"], "column 's': offsets, and log"),
        (["-y", "one", "--family", "bernoulli"], "there is only one class"),
    ],
)
def test_wrong_values_are_named_by_their_line(tmp_path, command, options, words):
    rng = np.random.default_rng(1)
    lines = ["a,c,n,t,e,s,one"]
    for row in range(40):
        a, c = rng.normal(), rng.poisson(2)
        wrong = row == 3
        lines.append(f"{a},{c},{-1 if wrong else c},{0 if wrong else c + 0.5},1,"
                     f"{1e-40 if wrong else 1.0},no")  # fmt: skip
    path = tmp_path / "d.csv"
    path.write_text("\n".join(lines) + "\n")
    result = call(command, path, "-x", "a", *options)
    assert result.exit_code == 2
    assert words in " ".join(result.output.split())
