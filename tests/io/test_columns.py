"""Columns and the parts they play: categories, truth values, design matrices, written tables."""

import re
from pathlib import Path

import numpy as np
import pytest

import unshuffle.io
from unshuffle.cli.errors import OPTIONS
from unshuffle.exceptions import TableError
from unshuffle.io.outputs import Output
from unshuffle.io.tables import (
    DesignColumn,
    Roles,
    design_matrix,
    learn_columns,
    open_table,
    read_rows,
)
from unshuffle.io.tables.write import TABLE, write_table, write_with_labels


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "t.csv"
    path.write_text("a,kind,code,sure,y\n1,u,10,yes,1\n2,v,20,0,2\n3,w,10,TRUE,3\n4,u,30,n,4\n")
    return path


def test_categories_become_indicators_beside_formulaic(path):
    """The oracle is formulaic's treatment coding, names included."""
    formulaic = pytest.importorskip("formulaic")
    import pandas as pd

    table = open_table(path).read(["a", "kind", "code"], {"code"})
    columns = learn_columns(table, ["a", "kind", "code"], ("code",))
    assert columns[1] == DesignColumn("kind", ("u", "v", "w"))
    frame = pd.DataFrame({name: table.columns[name] for name in ("a", "kind", "code")})
    matrix = formulaic.Formula("a + kind + code").get_model_matrix(frame)
    names = [term for column in columns for term in column.terms]
    assert ["Intercept", *names] == list(matrix.columns)
    np.testing.assert_array_equal(design_matrix(table, columns), matrix.to_numpy()[:, 1:])


def test_rows_play_their_parts(path):
    rows = read_rows(path, Roles("y", known="sure", group="code"))
    assert rows.names == ["a", "kind[T.v]", "kind[T.w]"]
    assert rows.known.tolist() == [True, False, True, False]
    assert rows.groups.tolist() == ["10", "20", "10", "30"]
    assert rows.X.shape == (4, 3)


@pytest.mark.parametrize("name", ["t.csv", "t.tsv", "t.csv.gz", "t.parquet"])
def test_written_tables_are_read_again(tmp_path, name):
    columns = {
        "row": np.arange(3),
        "name": np.array(["u", "v, w", 'x"y'], dtype=object),
        "value": np.array([0.1, 1e-300, -1 / 3]),
    }
    write_table(Output(tmp_path / name, TABLE), columns)
    assert [p.name for p in tmp_path.iterdir()] == [name]
    table = open_table(tmp_path / name).read(["row", "name", "value"], {"name"})
    for key, values in columns.items():
        assert table.columns[key].tolist() == values.tolist()


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_labels_are_moved_and_nothing_else(tmp_path, path, kind):
    source = path
    if kind == "parquet":
        source = tmp_path / "t.parquet"
        rows = open_table(path).read(["a", "kind", "y"])
        write_table(Output(source, TABLE), rows.columns)
    before = source.read_bytes()
    out = tmp_path / f"out.{kind}"
    write_with_labels(source, "y", np.array([3, 1, 2, 0]), Output(out, TABLE))
    table = open_table(out).read(["a", "kind", "y"])
    assert table.columns["y"].tolist() == [4, 2, 3, 1]
    assert table.columns["a"].tolist() == [1, 2, 3, 4]
    assert table.columns["kind"].tolist() == ["u", "v", "w", "u"]
    assert source.read_bytes() == before


def test_cells_are_copied_as_they_stand(tmp_path):
    source = tmp_path / "t.csv"
    source.write_text('note;y\n"a;b";1,50\n  x ;2\n')
    out = Output(tmp_path / "out.csv", TABLE)
    write_with_labels(source, "y", np.array([1, 0]), out)
    assert (tmp_path / "out.csv").read_text() == 'note;y\n"a;b";2\n  x ;1,50\n'


def test_readers_know_no_option_of_the_command_line():
    """They name the role of a column; `cli.errors` adds the option for it."""
    folder = Path(unshuffle.io.__file__).parent
    option = re.compile(r"--[a-z]+")
    found = {path.name: option.findall(path.read_text()) for path in folder.rglob("*.py")}
    assert len(found) > 10
    assert {name: options for name, options in found.items() if options} == {}


@pytest.mark.parametrize(
    ("roles", "role"),
    [
        (Roles(), "label"),
        (Roles("y", ("a", "y")), "features"),
        (Roles("y", ("a", "a")), "features"),
        (Roles("y", ("a",), categorical=("code",)), "features"),
        (Roles("y", ("mixed",)), "categorical"),
    ],
)
def test_errors_name_the_role_to_declare(tmp_path, roles, role):
    path = tmp_path / "t.csv"
    path.write_text("a,code,mixed,y\n1,10,u,1\n2,20,7,2\n")
    with pytest.raises(TableError) as refused:
        read_rows(path, roles)
    assert refused.value.role == role
    assert OPTIONS[role] == f"--{role}"


def test_numbers_where_categories_were_learnt(tmp_path, path):
    columns = [DesignColumn("kind", ("u", "v", "w"))]
    other = tmp_path / "other.csv"
    other.write_text("kind\n1\n2\n")
    with pytest.raises(
        TableError, match="holds numbers, but the model was fitted to the categories 'u', 'v'"
    ):
        design_matrix(open_table(other).read(["kind"]), columns)
