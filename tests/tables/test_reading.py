"""Tables are read as they were written, or not at all."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unshuffle.exceptions import TableError
from unshuffle.io.tables import open_table
from unshuffle.io.tables import quick as quick_module
from unshuffle.io.tables import text as text_module
from unshuffle.io.tables.text import TextSource

numbers = st.floats(allow_nan=False, allow_infinity=False)
# No blanks at the ends, which are stripped, and nothing that looks like a number or is missing.
names = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Z")), min_size=1, max_size=8
).map(lambda text: "n" + text)
quick = settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def write(path, rows, separator=",", zipped=False):
    file = io.StringIO()
    csv.writer(file, delimiter=separator, lineterminator="\n").writerows(rows)
    content = file.getvalue().encode()
    path.write_bytes(gzip.compress(content) if zipped else content)
    return path


@quick
@given(
    rows=st.lists(st.tuples(numbers, names), min_size=1, max_size=30),
    zipped=st.booleans(),
    separator=st.sampled_from([",", "\t"]),
    at_once=st.integers(1, 9),
)
def test_what_was_written_is_read(tmp_path, rows, zipped, separator, at_once):
    kind = ".tsv" if separator == "\t" else ".csv"
    path = tmp_path / (f"t{kind}.gz" if zipped else f"t{kind}")
    write(path, [("number", "name"), *rows], separator, zipped)
    before, text_module.CELLS_AT_ONCE = text_module.CELLS_AT_ONCE, at_once
    try:
        table = open_table(path).read(["name", "number"], {"name"})
    finally:
        text_module.CELLS_AT_ONCE = before
    assert table.columns["number"].tolist() == [float(number) for number, _ in rows]
    assert table.columns["name"].tolist() == [name for _, name in rows]


@quick
@given(
    n_rows=st.integers(2, 40),
    n_columns=st.integers(2, 5),
    data=st.data(),
    lost=st.booleans(),
)
def test_a_lost_or_added_separator_is_told_with_its_line(tmp_path, n_rows, n_columns, data, lost):
    """A row that slipped by one field is a correspondence error; it never passes."""
    rows = [[f"c{j}" for j in range(n_columns)]]
    rows += [[f"{i}.{j}" for j in range(n_columns)] for i in range(n_rows)]
    wrong = data.draw(st.integers(1, n_rows))
    at = data.draw(st.integers(0, n_columns - 2))
    if lost:
        rows[wrong][at : at + 2] = [rows[wrong][at] + rows[wrong][at + 1]]
    else:
        rows[wrong].insert(at, "1")
    path = write(tmp_path / "t.csv", rows)
    with pytest.raises(TableError, match=f"line {wrong + 1}: has {len(rows[wrong])} field"):
        open_table(path).read(rows[0])


def test_lines_are_counted_through_quoted_line_ends(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text('name,a\n"two\nlines",1\n"three\n\nlines",2\nx,3\ny,oops\n')
    with pytest.raises(TableError, match=r"line 8, column 'a': 'oops'"):
        open_table(path).read(["name", "a"], {"name"})
    path.write_text('name,a\n"two\nlines",1\nx,3\n')
    table = open_table(path).read(["name", "a"], {"name"})
    assert [table.place(row) for row in range(2)] == ["line 2", "line 4"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        ("a;b\n1,5;2\n-3;0,25\n", [[1.5, -3.0], [2.0, 0.25]]),
        ("a\tb\n1,5\t2\n-3\t0,25\n", [[1.5, -3.0], [2.0, 0.25]]),
        ("a,b\r\n1.5,2\r\n-3,.25\r\n", [[1.5, -3.0], [2.0, 0.25]]),
        ("\ufeffa , b\n 1.5, 2\n-3,2.5e-1\n\n\n", [[1.5, -3.0], [2.0, 0.25]]),
        ('"a","b"\n"1.5",2\n-3,+0.25', [[1.5, -3.0], [2.0, 0.25]]),
    ],
    ids=["semicolons", "tabs", "windows", "byte order mark and blanks", "quotes"],
)
def test_kinds_of_text_people_have(tmp_path, content, expected):
    path = tmp_path / "t.csv"
    path.write_text(content, encoding="utf-8", newline="")
    table = open_table(path).read(["a", "b"])
    assert [table.columns[name].tolist() for name in "ab"] == expected


def test_the_mixture_of_commas_and_points_is_found_across_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr(text_module, "CELLS_AT_ONCE", 4)
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "1;2\n" * 10 + "1,5;2\n" + "1;2\n" * 10 + "1;2.5\n")
    with pytest.raises(TableError, match=r"line 23, column 'b': '2.5' has a decimal point, but "):
        open_table(path).read(["a", "b"])
    path.write_text("a;b\n" + "1;2.5\n" + "1;2\n" * 10 + "1,5;2\n")
    with pytest.raises(TableError, match=r"line 13, column 'a': '1,5' has a decimal comma, but "):
        open_table(path).read(["a", "b"])


def test_columns_nobody_asked_for_may_hold_anything(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,note\n1,\n2,NA\n3,12\n")
    assert open_table(path).read(["a"]).columns["a"].tolist() == [1, 2, 3]


def test_parquet_is_read_as_it_was_written(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {
        "whole": pa.array([1, 2, 3], pa.int32()),
        "real": pa.array([0.5, 1.5, -2.0], pa.float32()),
        "truth": pa.array([True, False, True]),
        "decimal": pa.array([1, 2, 3], pa.decimal128(9, 2)),
        "name": pa.array(["u", "v", "u"]).dictionary_encode(),
        "key": pa.array([1.0, 2.0, 1.0]),
        "odd.name": pa.array([1, 2, 3]),
    }
    pq.write_table(pa.table(columns), tmp_path / "t.parquet")
    table = open_table(tmp_path / "t.parquet").read(list(columns), {"key"})
    read = {name: values.tolist() for name, values in table.columns.items()}
    assert read == {
        "whole": [1, 2, 3], "real": [0.5, 1.5, -2.0], "truth": [1, 0, 1], "decimal": [1, 2, 3],
        "name": ["u", "v", "u"], "key": ["1", "2", "1"], "odd.name": [1, 2, 3],
    }  # fmt: skip
    assert all(table.is_number(name) for name in ("whole", "real", "truth", "decimal"))


def test_fcs_gives_the_channels(tmp_path):
    flowio = pytest.importorskip("flowio")
    events = np.random.RandomState(0).normal(size=(50, 3)).astype(np.float32)
    with (tmp_path / "t.fcs").open("wb") as file:
        flowio.create_fcs(file, events.ravel().tolist(), ["FSC-A", "SSC-A", "GFP-A"])
    source = open_table(tmp_path / "t.fcs")
    assert source.names == ["FSC-A", "SSC-A", "GFP-A"]
    table = source.read(["GFP-A", "FSC-A"])
    np.testing.assert_array_equal(table.columns["GFP-A"], events[:, 2])
    np.testing.assert_array_equal(table.columns["FSC-A"], events[:, 0])


def test_numpy_reads_the_same_numbers(tmp_path):
    """The second implementation: numbers of all sizes, to the last bit."""
    rng = np.random.RandomState(0)
    values = rng.normal(size=(3000, 3)) * 10.0 ** rng.randint(-300, 300, size=(3000, 3))
    write(tmp_path / "t.csv", [("a", "b", "c"), *values.tolist()])
    table = open_table(tmp_path / "t.csv").read(["a", "b", "c"])
    other = np.loadtxt(tmp_path / "t.csv", delimiter=",", skiprows=1)
    for j, name in enumerate("abc"):
        np.testing.assert_array_equal(table.columns[name], other[:, j])
        np.testing.assert_array_equal(table.columns[name], values[:, j])


cells = st.sampled_from(
    ["1", "-2.5", "3e4", "+1", " 7", ".5", "5.", "u", "v w", "n1", "1u", "", "NA", "nan", "inf", "1_0",
     "0x1", "1,5", "-", "1e400", "Infinity", "2.50000000000000000001"]
)  # fmt: skip


def outcome(source, quick):
    """What reading gives: columns, or the error."""
    try:
        table = source.read(["a", "b"], {"b"} if quick == "text" else ())
    except TableError as error:
        return str(error)
    return {name: values.tolist() for name, values in table.columns.items()}


@settings(quick, max_examples=150)
@given(
    rows=st.lists(
        st.lists(cells, min_size=2, max_size=2) | st.lists(cells, max_size=3),
        min_size=1,
        max_size=6,
    ),
    kind=st.sampled_from(["text", "either"]),
    separator=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n", "\n\n", "\r", ""]),
)
def test_the_quick_way_is_the_strict_way(tmp_path, rows, kind, separator, end):
    """Same columns or same error, with and without pyarrow."""
    pytest.importorskip("pyarrow")
    path = tmp_path / "t.csv"
    text = "\n".join(separator.join(row) for row in [["a", "b"], *rows]) + end
    path.write_text(text, newline="")
    found = []
    for worth_it in (0, 1 << 40):
        before, quick_module.WORTH_IT = quick_module.WORTH_IT, worth_it
        try:
            found.append(outcome(TextSource(path), kind))
        finally:
            quick_module.WORTH_IT = before
    assert found[0] == found[1]


def test_the_quick_way_is_taken(tmp_path, monkeypatch):
    """The control: the comparison above is one of two ways, not of one with itself."""
    pytest.importorskip("pyarrow")
    monkeypatch.setattr(quick_module, "WORTH_IT", 0)
    path = write(tmp_path / "t.csv", [("a", "b", "c"), (1, "u", 2.5), (-3, "v", 1e-5)])
    kinds = {"a": "number", "b": "category", "c": "number"}
    found = quick_module.read_quickly(path, ",", ["a", "b", "c"], kinds)
    assert {name: values.tolist() for name, values in found.items()} == {
        "a": [1, -3], "b": ["u", "v"], "c": [2.5, 1e-5],
    }  # fmt: skip
    for line in ('"1",u,2', "1,ü,2", "1,u,2,3", "1,u", "nan,u,2", "x,u,2", "1,7,2", "1,,2"):
        path.write_text(f"a,b,c\n{line}\n", encoding="utf-8")
        assert quick_module.read_quickly(path, ",", ["a", "b", "c"], kinds) is None, line
