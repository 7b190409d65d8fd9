"""Every command as a shell calls it, with good input."""

import csv
import gzip
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from unshuffle import load_model
from unshuffle.cli.app import app
from unshuffle.datasets import load_boston, make_shuffled_regression
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside

pytestmark = pytest.mark.long


def shell(*arguments, **more):
    return subprocess.run(
        [sys.executable, "-m", "unshuffle", *map(str, arguments)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "100"},
        **more,
    )


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def columns_of(path):
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    rows = list(csv.reader(text.splitlines()))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


def write(path, **columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def grouped(tmp_path_factory):
    """Two features and a category; labels shuffled inside 30 groups of 6."""
    rng = np.random.RandomState(0)
    zone, a, b = np.arange(180) % 30, *rng.normal(size=(2, 180))
    kind = rng.choice(["north", "south"], 180)
    y = 1 + a - 2 * b + 1.5 * (kind == "south") + 0.1 * rng.normal(size=180)
    shuffled = y[shuffle_inside(rng, zone)]
    folder = tmp_path_factory.mktemp("grouped")
    path = write(folder / "t.csv", zone=[f"z{k}" for k in zone], a=a, b=b, kind=kind, y=shuffled)
    return path, y


@pytest.fixture(scope="module")
def mostly_right(tmp_path_factory):
    """A tenth of the labels permuted among themselves."""
    data = make_shuffled_regression(
        300, 3, noise=0.1, shuffle="fraction", fraction=0.1, random_state=0
    )
    folder = tmp_path_factory.mktemp("mostly")
    named = {f"x{j + 1}": data.X[:, j] for j in range(3)}
    return write(folder / "t.csv", **named, y=data.y), data


@pytest.fixture(scope="module")
def results(grouped, tmp_path_factory):
    out = tmp_path_factory.mktemp("results") / "deep" / "out"
    done = shell("fit", grouped[0], "--label", "y", "--group", "zone", "--out", out)
    return done, out


def test_fit_prints_verdict_summary_and_files(results):
    done, out = results
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    assert done.stdout.startswith("Verdict: trust")
    assert re.search(r"kind\[T.south\] +1\.[45]", done.stdout)
    names = {"model.json", "model.npz", "summary.csv", "matches.csv", "report.html"}
    assert names == {path.name for path in out.iterdir()}
    for name in names:
        assert f"Written: {out / name}" in done.stdout
    assert [path.name for path in out.parent.iterdir()] == ["out"]


def test_fit_writes_what_it_found(results, grouped):
    _, out = results
    summary = columns_of(out / "summary.csv")
    assert summary["coefficient"] == ["(intercept)", "a", "b", "kind[T.south]"]
    np.testing.assert_allclose(list(map(float, summary["coef"])), [1, 1, -2, 1.5], atol=0.1)
    matches = columns_of(out / "matches.csv")
    assert matches["row"] == [str(k + 1) for k in range(180)]
    own = columns_of(grouped[0])["y"]
    likely = [own[int(k) - 1] for k in matches["likely_partner"]]
    assert likely == matches["likely_y"]
    right = np.isclose(np.array(likely, dtype=float), grouped[1])
    assert right.mean() > 0.8
    assert load_model(out).verdict_.level == "trust"
    page = (out / "report.html").read_text()
    assert "kind[T.south]" in page
    assert "y in t.csv" in page


def test_predict_gives_what_the_model_says(results, grouped, tmp_path):
    _, out = results
    new = write(
        tmp_path / "new.csv", kind=["south", "north"], b=[1, 0], extra=["x", ""], a=[0.5, 0]
    )
    done = shell("predict", out, new)
    assert done.returncode == 0, done.stderr
    model = load_model(out / "model.json")
    expected = model.predict([[0.5, 1, 1], [0, 0, 0]])
    lines = [line.split(",") for line in done.stdout.splitlines()]
    assert lines[0] == ["row", "y"]
    assert [float(line[1]) for line in lines[1:]] == expected.tolist()
    for name in ("p.csv", "p.tsv.gz", "p.parquet"):
        assert call("predict", out, new, "--out", tmp_path / name).exit_code == 0
    assert list(map(float, columns_of(tmp_path / "p.csv")["y"])) == expected.tolist()
    document = json.loads(call("predict", out, new, "--json").stdout)
    assert document["predictions"] == expected.tolist()


def test_json_is_one_document_and_the_seed_decides(grouped):
    arguments = ("fit", grouped[0], "--label", "y", "--group", "zone", "--json", "--seed", 3)
    done = call(*arguments)
    assert done.exit_code == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["verdict"] == "trust"
    assert document["coefficients"]["a"]["unshuffle"]["coef"] == pytest.approx(1, abs=0.1)
    assert document["pairing"] == "lost"
    assert (
        json.loads(call(*arguments, "--jobs", 2).stdout)["coefficients"]
        == (document["coefficients"])
    )


def test_two_tables_that_share_a_key(grouped, tmp_path):
    table = columns_of(grouped[0])
    order = np.random.RandomState(1).permutation(180)
    features = write(tmp_path / "f.csv", **{k: table[k] for k in ("zone", "a", "b", "kind")})
    labels = write(tmp_path / "l.csv", **{k: [table[k][i] for i in order] for k in ("y", "zone")})
    done = call("fit", features, labels, "--by", "zone", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert load_model(tmp_path / "out").coef_ == pytest.approx([1, -2, 1.5], abs=0.1)
    matches = columns_of(tmp_path / "out" / "matches.csv")
    assert list(matches) == ["row", "likely_partner", "likely_y"]
    own = columns_of(labels)["y"]
    assert [own[int(k) - 1] for k in matches["likely_partner"]] == matches["likely_y"]


def test_reject_is_exit_code_one(tmp_path):
    rng = np.random.RandomState(0)
    columns = {f"x{j}": rng.normal(size=150) for j in range(15)}
    path = write(tmp_path / "t.csv", **columns, y=rng.normal(size=150))
    done = call("fit", path, "--label", "y", "--pairing", "lost", "--out", tmp_path / "out")
    assert done.exit_code == 1
    assert done.stdout.startswith("Verdict: reject")
    assert "What to do" in done.stdout
    assert load_model(tmp_path / "out").verdict_.level == "reject"
    done = call("repair", path, "--label", "y", "--pairing", "lost", "--out", tmp_path / "m.csv")
    assert done.exit_code == 1
    assert "Nothing was written" in done.stdout
    assert not (tmp_path / "m.csv").exists()


def test_suspects_are_the_rows_that_were_moved(mostly_right, tmp_path):
    path, data = mostly_right
    done = shell("suspects", path, "--label", "y", "--threshold", 0.1, "--out", tmp_path / "s.csv")
    assert done.returncode == 0, done.stderr
    assert "rows are less than 10% likely" in done.stdout
    listed = {int(row) - 1 for row in columns_of(tmp_path / "s.csv")["row"]}
    moved = set(np.flatnonzero(np.abs(data.y - data.y_ordered) > 0.5))
    assert moved <= listed <= set(np.flatnonzero(data.y != data.y_ordered))
    document = json.loads(call("suspects", path, "-y", "y", "--threshold", 0.1, "--json").stdout)
    assert {line["row"] - 1 for line in document["suspects"]} == listed


def test_repair_puts_labels_back_and_leaves_the_original(mostly_right, tmp_path):
    path, data = mostly_right
    before = path.read_bytes()
    done = shell("repair", path, "--label", "y", "--out", tmp_path / "mended.csv")
    assert done.returncode == 0, done.stderr
    assert path.read_bytes() == before
    mended = np.array(columns_of(tmp_path / "mended.csv")["y"], dtype=float)
    assert (np.abs(mended - data.y_ordered) > 0.5).sum() == 0
    assert (np.abs(data.y - data.y_ordered) > 0.5).sum() > 10
    assert columns_of(tmp_path / "mended.csv")["x1"] == columns_of(path)["x1"]


def test_known_rows_and_match_probabilities(mostly_right, tmp_path):
    path, data = mostly_right
    table = columns_of(path)
    right = data.y == data.y_ordered
    with_facts = write(
        tmp_path / "t.csv", **table, sure=right.astype(int), p=np.where(right, 0.9, 0.5)
    )
    names = ("--label", "y", "--features", "x1,x2,x3", "--json")
    for part in (("--known", "sure"), ("--match-prob", "p")):
        done = call("fit", with_facts, *names, *part)
        assert done.exit_code == 0, done.stderr
        found = json.loads(done.stdout)["coefficients"]
        coef = [found[f"x{j}"]["unshuffle"]["coef"] for j in (1, 2, 3)]
        np.testing.assert_allclose(coef, data.coef, atol=0.05)


@pytest.mark.parametrize("shuffle", ["full", "groups", "fraction", "swaps"])
def test_simulate_tells_the_truth(tmp_path, shuffle):
    arguments = ("simulate", "--rows", 50, "--columns", 2, "--groups", 5, "--shuffle", shuffle)
    for name in ("one", "two"):
        out, truth = tmp_path / f"{name}.csv.gz", tmp_path / f"{name}.json"
        assert call(*arguments, "--out", out, "--truth", truth).exit_code == 0
    assert (tmp_path / "one.csv.gz").read_bytes() == (tmp_path / "two.csv.gz").read_bytes()
    table, truth = columns_of(out), json.loads(truth.read_text())
    y = np.array(table["y"], dtype=float)
    np.testing.assert_array_equal(y[truth["permutation"]], truth["labels"])
    assert ("group" in table) == (shuffle == "groups")
    X = np.array([table["x1"], table["x2"]], dtype=float).T
    noise = np.array(truth["labels"]) - X @ list(truth["coefficients"].values())
    assert 0.3 < noise.std() < 0.7


def test_simulate_and_audit_by_shell(tmp_path):
    made = tmp_path / "made.parquet"
    done = shell("simulate", "--rows", 120, "--columns", 2, "--noise", 0.05, "--shuffle",
                 "fraction", "--fraction", 0, "--out", made)  # fmt: skip
    assert done.returncode == 0, done.stderr
    done = shell("audit", made, "--label", "y", "--shuffles", 2)
    assert done.returncode == 0, done.stderr
    assert re.search(r"exactly +│ +\d+\.\d% ± \d+\.\d%", done.stdout)
    assert "Monte Carlo" in done.stdout
    assert "0.8%" in done.stdout  # one in 120, by guessing
    document = json.loads(call("audit", made, "-y", "y", "--shuffles", 2, "--json").stdout)
    assert document["found_by_guessing"]["value"] == pytest.approx(1 / 120)
    assert {"value", "error"} == document["found"].keys() == document["bands"][0]["share"].keys()


def test_blocks_by_shell(grouped, tmp_path):
    path, truth = grouped
    done = shell("blocks", path, "--label", "y", "--by", "zone")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("zone: exchange\n  Slopes within blocks are ")
    assert "fit with groups=zone" in done.stdout
    assert re.search(r"kind\[T.south\] +1\.\d+ ", done.stdout)
    table = columns_of(path) | {"y": truth, "half": np.arange(180) // 6}
    mended = write(tmp_path / "t.csv", **table)
    document = json.loads(call("blocks", mended, "-y", "y", "--by", "half,zone", "--json").stdout)
    assert {entry["column"] for entry in document["columns"]} == {"half", "zone"}
    assert {entry["finding"] for entry in document["columns"]} == {"no sign"}
    assert document["columns"][0]["slopes"].keys() == {"a", "b", "kind[T.south]"}


def test_fcs_end_to_end(tmp_path):
    flowio = pytest.importorskip("flowio")
    rng = np.random.RandomState(0)
    a, b = rng.normal(size=(2, 200)) + 5
    events = np.stack([a, b, 2 * a - b + 0.1 * rng.normal(size=200)], axis=1)
    with (tmp_path / "t.fcs").open("wb") as file:
        flowio.create_fcs(file, events.ravel().tolist(), ["FSC-A", "SSC-A", "GFP-A"])
    done = call("fit", tmp_path / "t.fcs", "--label", "GFP-A", "--json")
    found = json.loads(done.stdout)["coefficients"]
    assert found["FSC-A"]["unshuffle"]["coef"] == pytest.approx(2, abs=0.05)


@pytest.mark.slow
def test_boston_as_a_user_has_it(tmp_path):
    """The shipped file with its columns by name, prices shuffled inside zones."""
    boston = load_boston()
    table = {name: boston.column(name) for name in boston.columns}
    zones = cut_by_rank(boston.column("DIS"), 60)
    table["MEDV"] = table["MEDV"][shuffle_inside(np.random.RandomState(0), zones)]
    path = write(tmp_path / "boston.csv", **table, zone=zones)
    done = call("fit", path, "--label", "MEDV", "--group", "zone", "--json")
    document = json.loads(done.stdout)
    assert document["rows"] == 506
    assert document["groups"] == 60
    assert list(document["coefficients"])[1:] == [n for n in boston.columns if n != "MEDV"]
    assert done.exit_code == int(document["verdict"] == "reject")


def test_debug_shows_the_traceback(tmp_path):
    (tmp_path / "t.csv").write_text("a,y\n1,2\n1\n")
    done = shell("fit", tmp_path / "t.csv", "--label", "y", "--debug")
    assert done.returncode != 0
    assert "Traceback" in done.stderr
    assert "TableError" in done.stderr


def test_our_own_faults_are_reported_as_such(tmp_path, monkeypatch):
    def broken(*arguments):
        raise RuntimeError("broken")

    monkeypatch.setattr("unshuffle.io.tables.read_rows", broken)
    (tmp_path / "t.csv").write_text("a,y\n1,2\n")
    done = call("fit", tmp_path / "t.csv", "--label", "y")
    assert done.exit_code == 3
    assert "RuntimeError: broken" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_reader_that_leaves_is_no_error(results, grouped):
    done = subprocess.run(
        f"'{sys.executable}' -m unshuffle predict '{results[1]}' '{grouped[0]}' | head -1",
        shell=True, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.stdout == "row,y\n"
    assert done.stderr == ""


@pytest.mark.parametrize("unit", [1e60, 1e300, 1e-154, 1e-310])
@pytest.mark.parametrize("command", ["fit", "suspects", "audit"])
def test_units_beyond_the_range_are_no_internal_error(tmp_path, command, unit):
    rng = np.random.default_rng(0)
    a, noise = rng.normal(size=(2, 30))
    table = write(tmp_path / "table.csv", a=a, y=unit * (a + noise))
    result = call(command, table, "--label", "y")
    assert result.exit_code == 2
    assert "outside 1e-50 to 1e+50" in " ".join(result.output.split())


def test_labels_without_noise_are_no_internal_error(tmp_path):
    a = np.random.default_rng(0).normal(size=40)
    table = write(tmp_path / "table.csv", a=a, y=2.0 * a + 1.0, g=np.arange(40) // 5)
    for command in (("fit",), ("fit", "--group", "g"), ("suspects",), ("audit", "--group", "g")):
        assert call(command[0], table, "--label", "y", *command[1:]).exit_code in {0, 1}
