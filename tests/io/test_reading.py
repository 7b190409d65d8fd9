"""Tables are read as they were written, or not at all."""

import csv
import gzip
import io

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from unshuffle import read_fcs
from unshuffle.exceptions import TableError
from unshuffle.io.settings import ReadSettings
from unshuffle.io.tables import Roles, open_table, read_rows
from unshuffle.io.tables.quick import read_quickly
from unshuffle.io.tables.text import TextFile

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
    small = ReadSettings(cells_at_once=at_once, rows_at_once=1)
    table = open_table(path, small).read(["name", "number"], {"name"})
    assert table.columns["number"].tolist() == [float(number) for number, _ in rows]
    assert table.columns["name"].tolist() == [name for _, name in rows]


@quick
@given(
    n_rows=st.integers(2, 40),
    n_columns=st.integers(2, 5),
    data=st.data(),
    lost=st.booleans(),
)
def test_a_lost_or_added_separator_is_reported_with_its_line(
    tmp_path, n_rows, n_columns, data, lost
):
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


def test_the_mixture_of_commas_and_points_is_found_across_chunks(tmp_path):
    small = ReadSettings(cells_at_once=4, rows_at_once=1)
    path = tmp_path / "t.csv"
    path.write_text("a;b\n" + "1;2\n" * 10 + "1,5;2\n" + "1;2\n" * 10 + "1;2.5\n")
    with pytest.raises(TableError, match=r"line 23, column 'b': '2.5' has a decimal point, but "):
        open_table(path, small).read(["a", "b"])
    path.write_text("a;b\n" + "1;2.5\n" + "1;2\n" * 10 + "1,5;2\n")
    with pytest.raises(TableError, match=r"line 13, column 'a': '1,5' has a decimal comma, but "):
        open_table(path, small).read(["a", "b"])


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


@pytest.fixture
def two_files(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    tables = [
        {"a": [1.0, 2.0, 3.0], "kind": ["u", "v", "u"], "y": [1.0, 2.0, 3.0]},
        {"a": [4.0, 5.0], "kind": ["w", "u"], "y": [4.0, 5.0]},
    ]
    for k, columns in enumerate(tables):
        pq.write_table(pa.table(columns), tmp_path / f"{k}.parquet")
    pq.write_table(pa.concat_tables(map(pa.table, tables)), tmp_path / "one.parquet")
    return [tmp_path / "0.parquet", tmp_path / "1.parquet"], tmp_path / "one.parquet"


@pytest.mark.parametrize("numbers_at_once", [3, 1 << 20])
def test_two_parquet_files_are_read_as_one(two_files, numbers_at_once):
    files, one = two_files
    small = ReadSettings(numbers_at_once=numbers_at_once)
    table = open_table(files, small).read(["a", "kind", "y"])
    other = open_table(one).read(["a", "kind", "y"])
    for name in ("a", "kind", "y"):
        np.testing.assert_array_equal(table.columns[name], other.columns[name])
    assert (table.title, other.title) == ("0.parquet and 1 more", "one.parquet")
    assert str(table.error("bad", 3, "a")) == f"{files[1]}, row 1, column 'a': bad"
    assert str(other.error("bad", 3, "a")) == f"{one}, row 4, column 'a': bad"


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"a": [1.0], "kind": ["u"]}, "has no column 'y', which is in "),
        ({"a": [1.0], "kind": ["u"], "y": [1.0], "b": [1]}, "has a column 'b', which is not in "),
        ({"a": [1], "kind": ["u"], "y": [1.0]}, "'a' has type int64, but type double in "),
        ({"kind": ["u"], "a": [1.0], "y": [1.0]}, "in another order than in "),
        ({"a": [None], "kind": ["u"], "y": [1.0]}, "type null, but type double"),
    ],
)
def test_parquet_files_with_other_columns_are_refused(two_files, tmp_path, columns, message):
    import pyarrow as pa
    import pyarrow.parquet as pq

    files, _ = two_files
    pq.write_table(pa.table(columns), tmp_path / "other.parquet")
    with pytest.raises(TableError, match=f"other.parquet: .*{message}"):
        open_table([*files, tmp_path / "other.parquet"]).read(["a"])


def test_a_mistake_in_a_second_file_is_placed_there(two_files, tmp_path):
    import pyarrow as pa
    import pyarrow.parquet as pq

    files, _ = two_files
    wrong = {"a": [1.0, float("nan")], "kind": ["u", "v"], "y": [1.0, 2.0]}
    pq.write_table(pa.table(wrong), tmp_path / "wrong.parquet")
    with pytest.raises(TableError, match=r"wrong.parquet, row 2, column 'a': the value is missing"):
        open_table([*files, tmp_path / "wrong.parquet"]).read(["a"])


def test_a_group_that_is_nan_is_missing(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"zone": [1.0, float("nan")]}), tmp_path / "t.parquet")
    with pytest.raises(TableError, match="row 2, column 'zone': the value is missing"):
        open_table(tmp_path / "t.parquet").read(["zone"], {"zone"})


def test_the_index_that_pandas_writes_is_no_feature(tmp_path):
    pd = pytest.importorskip("pandas")
    frame = pd.DataFrame({"a": [1.0, 2.0], "y": [1.0, 3.0]}, index=[5, 9])
    frame.to_parquet(tmp_path / "t.parquet")
    assert "__index_level_0__" in open_table(tmp_path / "t.parquet").names
    assert read_rows(tmp_path / "t.parquet", Roles("y")).names == ["a"]


def test_only_parquet_files_are_joined(tmp_path):
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("a,y\n1,2\n")
    with pytest.raises(TableError, match="is not a Parquet file"):
        open_table([tmp_path / "a.csv", tmp_path / "b.csv"])


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
    frame = read_fcs(tmp_path / "t.fcs", ["GFP-A"])
    np.testing.assert_array_equal(frame["GFP-A"], events[:, 2])
    with pytest.raises(ValueError, match="no channel 'UV'; the channels are"):
        read_fcs(tmp_path / "t.fcs", ["UV"])


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
    for fast_from in (0, 1 << 40):
        source = TextFile(path, ReadSettings(fast_from=fast_from))
        found.append(outcome(source, kind))
    assert found[0] == found[1]


def test_the_quick_way_is_taken(tmp_path):
    """The control: the comparison above is one of two ways, not of one with itself."""
    pytest.importorskip("pyarrow")
    always = ReadSettings(fast_from=0)
    path = write(tmp_path / "t.csv", [("a", "b", "c"), (1, "u", 2.5), (-3, "v", 1e-5)])
    kinds = {"a": "number", "b": "category", "c": "number"}
    found = read_quickly(path, ",", ["a", "b", "c"], kinds, always)
    assert {name: values.tolist() for name, values in found.items()} == {
        "a": [1, -3], "b": ["u", "v"], "c": [2.5, 1e-5],
    }  # fmt: skip
    for line in ('"1",u,2', "1,ü,2", "1,u,2,3", "1,u", "nan,u,2", "x,u,2", "1,7,2", "1,,2"):
        path.write_text(f"a,b,c\n{line}\n", encoding="utf-8")
        assert read_quickly(path, ",", ["a", "b", "c"], kinds, always) is None, line
