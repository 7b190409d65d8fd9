"""`unshuffle fit --by` on two tables with unequal counts."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from unshuffle.cli.app import app


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def write(path, **columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Houses and prices in 12 zones of 10; one price of every second zone is missing."""
    rng = np.random.default_rng(0)
    zone, (a, b) = np.arange(120) // 10, rng.normal(size=(2, 120))
    price = 1.0 + a - 2.0 * b + 0.1 * rng.normal(size=120)
    kept = rng.permutation(np.flatnonzero(np.arange(120) % 20 > 0))
    folder, names = tmp_path_factory.mktemp("unequal"), np.array([f"z{k}" for k in zone])
    return (
        write(folder / "houses.csv", zone=names, a=a, b=b),
        write(folder / "prices.csv", zone=names[kept], price=price[kept]),
    )


def test_the_refusal_names_the_options(tables):
    done = call("fit", *tables, "--by", "zone")
    assert done.exit_code == 2
    assert "'z0' has 10 rows and 9 labels" in done.stderr
    assert "--unmatched drop-groups" in done.stderr
    assert "--unmatched model" in done.stderr


def test_rows_without_labels_are_named(tables, tmp_path):
    how = ("--by", "zone", "--unmatched", "model", "--match-share", "0.8,1")
    done = call("fit", *tables, *how, "--json", "--out", tmp_path / "out")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert (found["rows"], found["labels"]) == (120, 114)
    assert 0.9 < found["match_share"] <= 0.95 + 1e-9
    assert found["coefficients"]["b"]["unshuffle"]["coef"] == pytest.approx(-2.0, abs=0.1)
    assert found["settings"]["unmatched"] == "model"
    with (tmp_path / "out" / "matches.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    nobody = [row for row in rows if row["likely_partner"] == "nobody"]
    assert len(rows) == 120
    assert len(nobody) >= 6
    assert all(row["likely_price"] == "" for row in nobody)
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "nobody" in page


def test_dropped_groups_are_counted(tables, tmp_path):
    how = ("--by", "zone", "--unmatched", "drop-groups")
    done = call("fit", *tables, *how, "--json", "--out", tmp_path / "out")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["dropped"] == {"groups": 6, "rows": 60, "labels": 54}
    with (tmp_path / "out" / "matches.csv").open(newline="") as file:
        rows = [int(row["row"]) for row in csv.DictReader(file)]
    assert rows == [k + 1 for k in range(120) if k // 10 % 2]


def test_a_share_that_is_no_number_is_refused(tables):
    done = call("fit", *tables, "--by", "zone", "--unmatched", "model", "--match-share", "most")
    assert done.exit_code == 2
    assert "--match-share is estimate, a number, or two with a comma" in done.stderr


def test_passes_do_not_take_unequal_counts(tables, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    import pyarrow as pa

    path = tmp_path / "t.parquet"
    parquet.write_table(pa.table({"a": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 4.0]}), path)
    done = call(
        "fit", path, "-y", "y", "--pairing", "lost", "--checkpoint", tmp_path / "c.npz",
        "--unmatched", "model",
    )  # fmt: skip
    assert done.exit_code == 2
    assert "--unmatched is for tables in memory" in done.stderr


def test_blank_labels_are_rows_without_a_label(tmp_path):
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(30), 6)
    x = rng.normal(size=180)
    y = (2.0 * x + 0.2 * rng.normal(size=180))[np.lexsort((rng.random(180), groups))]
    lines = [f"{x[i]:.4f},z{groups[i]},{'' if i % 11 == 0 else f'{y[i]:.4f}'}" for i in range(180)]
    path = tmp_path / "t.csv"
    path.write_text("\n".join(["a,zone,y", *lines]))
    refused = call("fit", path, "-y", "y", "--group", "zone")
    assert refused.exit_code == 2
    done = call("fit", path, "-y", "y", "--group", "zone", "--unmatched", "model", "--json")
    assert done.exit_code == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["labels"] == 180 - 17
    assert abs(found["match_share"] - 163 / 180) < 0.05
