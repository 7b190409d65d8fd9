"""Names of rows in every table, decisions of people in fits, reports without matplotlib."""

import csv
import json
import os
import re
import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from unshuffle import ShuffledRegressor
from unshuffle.cli.app import app
from unshuffle.datasets import make_shuffled_regression
from unshuffle.show.report import build_report

pytestmark = pytest.mark.long


def call(*arguments):
    return CliRunner().invoke(app, list(map(str, arguments)), catch_exceptions=False)


def columns_of(path):
    rows = list(csv.reader(path.read_text(encoding="utf-8").splitlines()))
    return {name: [row[j] for row in rows[1:]] for j, name in enumerate(rows[0])}


def write(path, **columns):
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


@pytest.fixture(scope="module")
def data():
    return make_shuffled_regression(
        300, 3, noise=0.1, shuffle="fraction", fraction=0.1, random_state=0
    )


@pytest.fixture(scope="module")
def table(data, tmp_path_factory):
    path = tmp_path_factory.mktemp("ids") / "t.csv"
    named = {f"x{j + 1}": data.X[:, j] for j in range(3)}
    return write(path, **named, person=[f"P{900 - i}" for i in range(300)], y=data.y)


NAMES = ("--label", "y", "--id", "person")


@pytest.fixture(scope="module")
def fitted(table):
    out = table.parent / "out"
    assert call("fit", table, *NAMES, "--out", out).exit_code == 0
    return out


def review_of(folder):
    page = (folder / "report.html").read_text(encoding="utf-8")
    return json.loads(re.search(r'id="review-data">(.*?)</script>', page, re.S)[1])


def test_every_table_names_the_same_rows_and_the_same_partners(table, fitted, tmp_path):
    ids = np.array(columns_of(table)["person"])
    matches = columns_of(fitted / "matches.csv")
    assert matches["id"] == ids.tolist()
    partners = [int(k) for k in matches["likely_partner"]]
    assert matches["likely_partner_id"] == [ids[k - 1] for k in partners]

    assert call("suspects", table, *NAMES, "--out", tmp_path / "s.csv").exit_code == 0
    suspects = columns_of(tmp_path / "s.csv")
    rows = [int(row) for row in suspects["row"]]
    assert len(rows) > 10
    assert suspects["id"] == [ids[row - 1] for row in rows]
    for row, partner, name in zip(rows, suspects["partner"], suspects["partner_id"], strict=True):
        assert int(partner) == partners[row - 1] != row
        assert name == ids[int(partner) - 1]

    found = review_of(fitted)
    records = [(record[0], record[1]) for record in found["records"]]
    assert all(ids[row - 1] == name for row, name in records)
    named = {records[entry[0]][0]: records[entry[3]][0] for entry in found["rows"] if entry[2]}
    assert named == dict(zip(rows, (partners[row - 1] for row in rows), strict=True))

    document = json.loads(
        call("repair", table, *NAMES, "--out", tmp_path / "m.csv", "--json").stdout
    )
    moves = {move["row"]: move["label_from"] for move in document["moves"]}
    assert moves == {row: k for row, k in enumerate(partners, 1) if k != row}
    assert all(move["label_from_id"] == ids[move["label_from"] - 1] for move in document["moves"])
    assert columns_of(tmp_path / "m.csv")["person"] == ids.tolist()

    done = call("predict", fitted, table, "--id", "person")
    lines = list(csv.reader(done.stdout.splitlines()))
    assert lines[0] == ["row", "id", "y"]
    assert [line[1] for line in lines[1:]] == ids.tolist()


def test_the_screen_shows_names_and_a_name_is_no_feature(table, fitted):
    done = call("suspects", table, *NAMES)
    line = next(line for line in done.stdout.splitlines() if "mismatched" in line)
    cells = [cell.strip() for cell in line.split("│")[1:-1]]
    assert cells[1] == f"P{901 - int(cells[0])}"
    assert cells[6] == f"P{901 - int(cells[5])}"
    coefficients = columns_of(fitted / "summary.csv")["coefficient"]
    assert coefficients == ["(intercept)", "x1", "x2", "x3"]


def test_results_with_names_are_recognised_and_replaced(table, fitted):
    assert call("fit", table, *NAMES, "--out", fitted).exit_code == 0


def test_two_tables_have_names_of_rows_and_of_labels(tmp_path):
    rng = np.random.default_rng(0)
    zone, a = np.arange(60) % 20, rng.normal(size=60)
    y = 1 + 3 * a + 0.05 * rng.normal(size=60)
    order = rng.permutation(60)
    left = write(tmp_path / "f.csv", code=[f"f{i}" for i in range(60)], zone=zone, a=a)
    right = write(
        tmp_path / "l.csv", y=y[order], zone=zone[order], code=[f"l{i}" for i in range(60)]
    )
    done = call("fit", left, right, "--by", "zone", "--id", "code", "--out", tmp_path / "out")
    assert done.exit_code in {0, 1}, done.stderr
    matches = columns_of(tmp_path / "out" / "matches.csv")
    assert matches["id"] == [f"f{i}" for i in range(60)]
    assert matches["likely_partner_id"] == [f"l{int(k) - 1}" for k in matches["likely_partner"]]


def test_python_takes_names_too(data):
    model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    ids = [f"s{i}" for i in range(300)]
    table = model.suspects(id=ids, n_partners=1)
    assert list(table)[:2] == ["row", "id"]
    assert table["id"].tolist() == [ids[row] for row in table["row"]]
    named = table[table["partner_1"] >= 0]
    assert named["partner_1_id"].tolist() == [ids[row] for row in named["partner_1"]]
    mended = model.repair(data.y, id=ids)
    assert mended["label"].tolist() == model.repair(data.y).tolist()
    assert mended["label_from_id"].tolist() == [ids[k] for k in model.permutation_]
    page = build_report(model, id=ids)
    record = json.loads(re.search(r'id="review-data">(.*?)</script>', page, re.S)[1])["records"][0]
    assert record[1] == ids[record[0] - 1]
    with pytest.raises(ValueError, match=r"id has shape \(2,\) but the model was fitted to 300"):
        model.suspects(id=["a", "b"])


def test_likely_partners_start_with_those_of_the_permutation(data):
    model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    rows = np.flatnonzero(model.match_proba_ < 0.9)
    partners, shares = model.likely_partners(rows, 2)
    moved = model.permutation_[rows] != rows
    assert (partners[moved, 0] == model.permutation_[rows][moved]).all()
    assert not (partners == rows[:, None]).any()
    assert np.isnan(shares[partners < 0]).all()
    assert (np.nansum(shares, axis=1) + model.match_proba_[rows] < 1.2).all()


# ---- decisions


def marks(path, *lines, head=("row", "id", "label", "decision")):
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([head, *lines])
    return path


def test_decisions_are_taken_up_whatever_the_data_say(table, fitted, tmp_path):
    """A label that fits well is marked wrong, and one that fits badly right."""
    matches = columns_of(fitted / "matches.csv")
    proba = np.array(matches["match_probability"], dtype=float)
    sure, doubtful = int(np.argmax(proba)), int(np.argmin(proba))
    labels = columns_of(table)["y"]
    reviewed = marks(
        tmp_path / "reviewed.csv",
        [sure + 1, f"P{900 - sure}", labels[sure], "wrong"],
        [doubtful + 1, f"P{900 - doubtful}", labels[doubtful], "Right"],
        [1 + (sure == 0), f"P{900 - (sure == 0)}", labels[sure == 0], "unsure"],
    )
    done = call("fit", table, *NAMES, "--reviewed", reviewed, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert "reviewed.csv: 1 rows keep their label, 1 do not, 1 are left open" in done.stderr
    again = columns_of(tmp_path / "out" / "matches.csv")
    assert float(again["match_probability"][sure]) < 1e-6
    assert again["likely_partner"][sure] != str(sure + 1)
    assert float(again["match_probability"][doubtful]) == 1.0
    assert again["likely_partner"][doubtful] == str(doubtful + 1)
    assert sorted(map(int, again["likely_partner"])) == list(range(1, 301))  # one to one


def test_decisions_follow_names_when_the_table_is_sorted_again(table, fitted, tmp_path):
    cells = columns_of(table)
    order = np.argsort(cells["person"])
    other = write(
        tmp_path / "t.csv", **{name: [values[i] for i in order] for name, values in cells.items()}
    )
    reviewed = marks(tmp_path / "r.csv", [1, cells["person"][0], cells["y"][0], "right"])
    done = call("fit", other, *NAMES, "--reviewed", reviewed, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    now = columns_of(tmp_path / "out" / "matches.csv")
    k = now["id"].index(cells["person"][0])
    assert float(now["match_probability"][k]) == 1.0
    # Without names, the number and the label contradict each other.
    done = call("fit", other, "-y", "y", "-x", "x1,x2,x3", "--reviewed", reviewed)
    assert done.exit_code == 2
    assert "when it was reviewed" in " ".join(done.stderr.split())


@pytest.mark.parametrize(
    ("lines", "head", "words"),
    [
        ([[1, "maybe"]], ("row", "decision"), "'maybe' is no decision; write right, wrong, unsure"),
        ([[301, "right"]], ("row", "decision"), "301 is not a row of the table"),
        ([[1.5, "right"]], ("row", "decision"), "1.5 is not a row of the table"),
        ([[2, "right"], [2, "wrong"]], ("row", "decision"), "row 2 a second time"),
        ([[2, "right"]], ("row", "mark"), "has no column 'decision'"),
        ([[2, "X", "right"]], ("row", "id", "decision"), "'X' is not among the names in 'person'"),
    ],
)
def test_decisions_that_cannot_be_used_are_refused_in_one_line(table, tmp_path, lines, head, words):
    reviewed = marks(tmp_path / "r.csv", *lines, head=head)
    done = call("fit", table, *NAMES, "--reviewed", reviewed)
    assert done.exit_code == 2
    assert words in " ".join(done.stderr.split())


@pytest.mark.parametrize("command", ["suspects", "repair"])
def test_the_file_of_decisions_is_never_replaced(table, tmp_path, command):
    reviewed = marks(tmp_path / "r.csv", [2, "right"], head=("row", "decision"))
    before = reviewed.read_bytes()
    done = call(command, table, *NAMES, "--reviewed", reviewed, "--out", reviewed, "--force")
    assert done.exit_code == 2
    assert reviewed.read_bytes() == before


def test_a_decision_against_a_known_row_is_refused(table, tmp_path):
    cells = columns_of(table)
    path = write(tmp_path / "t.csv", **cells, sure=[1, *[0] * 299])
    reviewed = marks(tmp_path / "r.csv", [1, "wrong"], head=("row", "decision"))
    done = call("fit", path, *NAMES, "--known", "sure", "--reviewed", reviewed)
    assert done.exit_code == 2
    assert "row 1 is marked wrong" in " ".join(done.stderr.split())


def test_a_lost_order_is_reported_and_not_changed(tmp_path):
    rng = np.random.default_rng(0)
    zone, a = np.repeat(np.arange(30), 4), rng.normal(size=120)
    y = 1 + 3 * a + 0.05 * rng.normal(size=120)
    y = np.concatenate([rng.permutation(part) for part in np.split(y, 30)])
    path = write(tmp_path / "t.csv", zone=[f"z{k}" for k in zone], a=a, y=y)
    reviewed = marks(tmp_path / "r.csv", [1, "wrong"], [9, "right"], head=("row", "decision"))
    done = call("fit", path, "-y", "y", "-g", "zone", "--pairing", "lost", "--reviewed", reviewed)
    assert done.exit_code in {0, 1}
    assert "taken to be lost, so that the 1 rows marked wrong" in " ".join(done.stderr.split())


def test_places_on_plates_are_checked_before_the_fit(table, tmp_path):
    cells = columns_of(table)
    wells = [f"{'ABCDEFGH'[i % 96 // 12]}{i % 12 + 1:02d}" for i in range(300)]
    path = write(tmp_path / "t.csv", **cells, well=["left", *wells[1:]])
    done = call("fit", path, *NAMES, "--plate", "well")
    assert done.exit_code == 2
    assert "'left' is no place on a plate" in " ".join(done.stderr.split())
    good = write(tmp_path / "g.csv", **cells, well=[f"P{i // 96}:{w}" for i, w in enumerate(wells)])
    out = tmp_path / "out"
    assert call("fit", good, *NAMES, "--plate", "well", "--out", out).exit_code == 0
    plates = review_of(out)["plates"]
    assert [plate["name"] for plate in plates] == ["P0", "P1", "P2", "P3"]
    assert plates[0]["rows"] == list("ABCDEFGH") and plates[0]["columns"] == 12
    assert len(plates[3]["wells"]) == 12


def test_a_report_is_written_without_matplotlib(table, tmp_path):
    """A process in which matplotlib cannot be found, as after a base install."""
    code = (
        "import sys, importlib.abc\n"
        "class Without(importlib.abc.MetaPathFinder):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name.split('.')[0] == 'matplotlib':\n"
        "            raise ModuleNotFoundError(name)\n"
        "sys.meta_path.insert(0, Without())\n"
        "import importlib.util\n"
        "found = importlib.util.find_spec\n"
        "importlib.util.find_spec = lambda n, p=None: None if n == 'matplotlib' else found(n, p)\n"
        "from unshuffle.cli.app import app\n"
        "app()\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "fit", str(table), *NAMES, "--out", str(tmp_path / "out")],
        capture_output=True, text=True, check=False, env={**os.environ, "COLUMNS": "200"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    page = (tmp_path / "out" / "report.html").read_text(encoding="utf-8")
    assert "<svg" not in page
    assert "pip install &quot;unshuffle[plots]&quot;" in page
    assert 'figures in report.html need matplotlib: pip install "unshuffle[plots]"' in done.stderr
