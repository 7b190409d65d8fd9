"""Options about columns and rows: --exclude, --kmers, --drop-missing, --robust, notes on identifiers."""

import json

import numpy as np
import pytest

from surface.shell import call, columns_of, shell, write
from unshuffle import ShuffledRegressor, load_model
from unshuffle.datasets import KmerCounter
from unshuffle.datasets.simulated import shuffle_inside
from unshuffle.exceptions import RankWarning
from unshuffle.io.tables.identifiers import find_identifiers
from unshuffle.io.tables.roles import Roles, read_rows

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def columns():
    """Labels shuffled inside 30 groups of 6, and a column that counts the rows."""
    rng = np.random.RandomState(0)
    zone, a, b = np.arange(180) % 30, *rng.normal(size=(2, 180))
    y = (1 + a - 2 * b + 0.1 * rng.normal(size=180))[shuffle_inside(rng, zone)]
    names = [f"z{k}" for k in zone]
    return {"patient": np.arange(1, 181), "zone": names, "a": a, "b": b, "y": y}


@pytest.fixture
def table(columns, tmp_path):
    return write(tmp_path / "t.csv", **columns)


FIT = ("--label", "y", "--group", "zone")


def coefficients(done):
    document = json.loads(done.stdout)
    return {name: c["unshuffle"]["coef"] for name, c in document["coefficients"].items()}


@pytest.mark.parametrize("command", ["fit", "suspects", "repair", "blocks", "audit"])
def test_every_command_that_reads_labels_can_leave_columns_out(table, tmp_path, command):
    more = {"repair": ("--force", "--out", tmp_path / "r.csv"), "audit": ("--shuffles", 2)}
    where = ("--label", "y", "--by", "zone") if command == "blocks" else FIT
    done = call(command, table, *where, "--exclude", "patient", *more.get(command, ()))
    assert done.exit_code == 0, done.stderr
    assert "identifier" not in done.stderr
    done = call(command, table, *where, "--exclude", "nowhere", *more.get(command, ()))
    assert done.exit_code == 2
    assert "has no column 'nowhere' (asked for as column to leave out)" in done.stderr


def test_excluded_columns_are_no_features(table):
    with_it = call("fit", table, *FIT, "--json")
    assert "patient" in coefficients(with_it)
    without = call("fit", table, *FIT, "--json", "--exclude", "patient")
    named = call("fit", table, *FIT, "--json", "--features", "a,b")
    assert coefficients(without) == coefficients(named)


def test_a_feature_that_looks_like_an_identifier_is_named(table):
    done = shell("fit", table, *FIT)
    assert done.returncode == 0
    assert done.stderr == (
        "note: the feature 'patient' looks like an identifier (it counts the rows, from 1 to 180); "
        "unless it is a measurement, leave it out: --exclude patient\n"
    )
    assert call("fit", table, *FIT, "--quiet").stderr == ""
    assert "identifier" in json.loads(call("fit", table, *FIT, "--json").stdout)["notes"][0]


COUNT = np.arange(40)
LOOKS = {
    "shuffled count": ("n", np.random.default_rng(0).permutation(COUNT) + 1, True),
    "from zero": ("n", COUNT, True),
    "running numbers": ("account", COUNT + 70012, True),
    "years": ("year", COUNT + 1980, False),
    "years called id": ("yearId", COUNT + 1980, True),
    "whole numbers with gaps": ("n", COUNT * 7, False),
    "the same called no": ("sample_no", COUNT * 7, True),
    "called id, with ties": ("id", COUNT // 2, False),
    "called id, with fractions": ("id", COUNT / 3, False),
    "many names": ("who", [f"n{min(k, 25)}" for k in COUNT], True),
    "few names": ("who", [f"n{k % 20}" for k in COUNT], False),
}


@pytest.mark.parametrize("case", LOOKS)
def test_what_looks_like_an_identifier(tmp_path, case):
    name, values, expected = LOOKS[case]
    path = write(tmp_path / "t.csv", **{name: values, "y": np.sin(COUNT)})
    rows = read_rows(path, Roles("y"))
    assert [found for found, _ in find_identifiers(rows.table, rows.columns)] == [name] * expected


def test_names_of_single_rows_are_refused(tmp_path):
    path = write(tmp_path / "t.csv", who=[f"n{k}" for k in COUNT], a=np.cos(COUNT), y=np.sin(COUNT))
    done = call("fit", path, "--label", "y")
    assert done.exit_code == 2
    assert "'who': holds another name in every row" in done.stderr
    assert "(option --exclude)" in done.stderr


def test_rows_with_gaps_are_dropped_and_counted(columns, tmp_path):
    holes = dict(columns) | {"a": columns["a"].astype(object), "y": columns["y"].astype(object)}
    holes["a"][[3, 100]], holes["y"][[100, 170]] = ["", "NA"], ["", "?"]
    path = write(tmp_path / "holes.csv", **holes)
    refused = call("fit", path, *FIT)
    assert refused.exit_code == 2
    assert refused.stderr.rstrip().endswith("its own label (option --drop-missing)")
    more = ("--exclude", "patient", "--drop-missing")
    done = call("fit", path, *FIT, *more, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    assert "3 of 180 rows miss a value (a: 2, y: 2) and were left out" in done.stderr
    kept = np.delete(np.arange(180), [3, 100, 170])
    whole = write(tmp_path / "whole.csv", **{n: np.asarray(v)[kept] for n, v in columns.items()})
    found = json.loads(call("fit", path, *FIT, *more, "--json").stdout)
    expected = json.loads(call("fit", whole, *FIT, *more, "--json").stdout)
    assert found["coefficients"] == expected["coefficients"]
    assert found["dropped"] == {"rows": 3, "of": 180, "missing": {"a": 2, "y": 2}}
    assert expected["dropped"] == {"rows": 0, "of": 177, "missing": {}}
    # Rows are those of the file.
    matches = columns_of(tmp_path / "out" / "matches.csv")
    assert matches["row"] == [str(k + 1) for k in kept]
    partners = np.array(matches["likely_partner"], dtype=int) - 1
    np.testing.assert_array_equal(np.array(matches["likely_y"], float), columns["y"][partners])


@pytest.mark.parametrize("kind", ["parquet", "fcs"])
def test_rows_with_gaps_in_other_files(tmp_path, kind):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 60))
    y = a - b
    a[7], b[[7, 20]] = np.nan, np.nan
    path = tmp_path / f"t.{kind}"
    if kind == "parquet":
        pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
        names = [None if k == 30 else "" if k == 31 else "u" for k in range(60)]
        pq.write_table(pa.table({"a": a, "b": b, "y": y, "zone": names}), path)
        counts, roles = {"a": 1, "b": 2, "zone": 2}, Roles("y", group="zone", drop_missing=True)
        gone = [7, 20, 30, 31]
    else:
        flowio = pytest.importorskip("flowio")
        with path.open("wb") as file:
            flowio.create_fcs(file, np.stack([a, b, y], 1).ravel().tolist(), ["a", "b", "y"])
        counts, gone, roles = {"a": 1, "b": 2}, [7, 20], Roles("y", drop_missing=True)
    rows = read_rows(path, roles)
    assert rows.table.missing.by_column == counts
    kept = np.delete(np.arange(60), gone)
    np.testing.assert_array_equal(rows.table.rows, kept)
    np.testing.assert_allclose(rows.y, y[kept], rtol=1e-6)
    assert f"row {kept[-1] + 1}," in str(rows.table.error("is wrong", len(kept) - 1, "a"))


@pytest.fixture(scope="module")
def sequences():
    rng = np.random.default_rng(1)
    found = ["".join(rng.choice(list("ACGT"), rng.integers(8, 15))) for _ in range(160)]
    y = [2.0 * s.count("A") - s.count("GC") + 0.1 * rng.normal() for s in found]
    return found, y


def test_kmers_of_a_column_are_features_and_predict_again(sequences, tmp_path):
    found, y = sequences
    path = write(tmp_path / "t.csv", sequence=[s.lower() for s in found], n=np.cos(y), y=y)
    options = ("--label", "y", "--kmers", "sequence:1-2", "--pairing", "known")
    done = call("fit", path, *options, "--out", tmp_path / "out")
    assert done.exit_code == 0, done.stderr
    model = load_model(tmp_path / "out")
    counter = KmerCounter(k_max=2)
    names = [f"sequence[{word}]" for word in counter.get_feature_names_out()]
    assert model.feature_names_in_ == [*names, "n"]
    X = np.column_stack([counter.fit_transform(found), np.cos(y)])
    fitted = ShuffledRegressor(pairing="known", random_state=0)
    with pytest.warns(RankWarning):
        fitted.fit(X, np.array(y))
    predicted = json.loads(call("predict", tmp_path / "out", path, "--json").stdout)
    np.testing.assert_allclose(predicted["predictions"], fitted.predict(X), rtol=1e-9)
    import pandas as pd

    frame = pd.read_csv(path)
    np.testing.assert_allclose(model.predict(frame), predicted["predictions"], rtol=1e-12)
    document = json.loads((tmp_path / "out" / "model.json").read_text())
    assert document["schema"] == 2
    assert document["columns"][0]["kmers"] == [1, 2, "ACGT"]


def test_kmers_know_rna_and_letters_that_are_named(sequences, tmp_path):
    found, y = sequences
    path = write(tmp_path / "t.csv", s=[s.replace("T", "U") for s in found], y=y)
    done = call("fit", path, "-y", "y", "--kmers", "s:1", "--pairing", "known", "--json")
    assert list(coefficients(done))[1:] == ["s[A]", "s[C]", "s[G]", "s[U]"]
    other = write(tmp_path / "o.csv", s=[s.replace("T", "X") for s in found], y=y)
    done = call("fit", other, "-y", "y", "--kmers", "s:1", "--pairing", "known")
    assert done.exit_code == 2
    assert "the letter 'X' at position" in done.stderr
    assert "s:1-1:LETTERS" in done.stderr
    more = ("--kmers", "s:1:ACGX", "--pairing", "known", "--json")
    assert "s[X]" in coefficients(call("fit", other, "-y", "y", *more))


def test_kmers_beside_named_features(sequences, tmp_path):
    found, y = sequences
    path = write(tmp_path / "t.csv", s=found, n=np.cos(y), m=np.sin(y), y=y)
    more = ("-x", "n", "--kmers", "s:1", "--pairing", "known", "--json")
    names = list(coefficients(call("fit", path, "-y", "y", *more)))
    assert names[1:] == ["n", "s[A]", "s[C]", "s[G]", "s[T]"]


def test_robust_standard_errors_are_those_of_the_estimator(tmp_path):
    rng = np.random.default_rng(0)
    a = rng.normal(size=300)
    path = write(tmp_path / "t.csv", a=a, y=a + rng.normal(size=300), zone=np.arange(300) // 5)
    more = ("--label", "y", "--group", "zone", "--pairing", "known")
    plain = call("fit", path, *more)
    assert "standard errors: model" in plain.stdout
    done = call("fit", path, *more, "--robust")
    assert "standard errors: robust" in done.stdout
    document = json.loads(call("fit", path, *more, "--robust", "--json").stdout)
    table = columns_of(path)
    model = ShuffledRegressor(pairing="known", covariance_type="robust", random_state=0)
    model.fit(np.array(table["a"], float)[:, None], np.array(table["y"], float))
    found = document["coefficients"]["a"]["unshuffle"]["std err"]
    assert found == pytest.approx(model.standard_errors_[1], rel=1e-9)
    assert document["settings"]["covariance_type"] == "robust"


def test_robust_standard_errors_need_groups(tmp_path):
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 120))
    path = write(tmp_path / "t.csv", a=a, b=b, y=a - 2 * b + 0.05 * rng.normal(size=120))
    lost = call("fit", path, "-y", "y", "--pairing", "lost", "--robust")
    assert lost.exit_code == 2
    assert "a sandwich of 4 parameters needs at least" in lost.stderr
    assert lost.stderr.endswith("; fit it without --robust\n")
