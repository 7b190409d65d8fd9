"""Two tables and a table of candidate pairs: one-to-one links as the rows of a fit."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from ..io.tables import ColumnTable, FitTable, Roles, TableSource
    from ..linkage.pair_table import PairTable
    from ..linkage.resolve import Candidates

ID = "unique_id"


class LinkedTables(NamedTuple):
    """What a fit needs, and what is said about the links."""

    rows: "FitTable"
    notes: list[str]


class Linking(NamedTuple):
    """Options of two tables.

    Attributes
    ----------
    by : str or None
        The column that the tables share.
    pairs : Path or None
        Candidate pairs.
    id_column : str or None
        Ids of the records.
    checked : Path or None
        Links that were checked.
    one_table : bool
        Whether options of a single table were given.
    """

    by: str | None
    pairs: Path | None
    id_column: str | None
    checked: Path | None
    one_table: bool


def read_two_tables(tables: list[Path], roles: "Roles", linking: Linking) -> LinkedTables:
    """Features and labels from two tables that share a group, or are linked by pairs."""
    from ..io.tables import read_two

    if linking.pairs is not None and linking.by is not None:
        raise ValueError("give --by (tables that share a group) or --pairs, not both")
    option = "--by" if linking.pairs is None else "--pairs"
    alone = "--group" if linking.pairs is None else "--match-prob"
    if len(tables) != 2:
        raise ValueError(
            f"{option} is for two tables, features and labels, got {len(tables)}; one table "
            f"with both needs {alone}"
        )
    if linking.one_table:
        raise ValueError(
            "--known, --match-prob, --match-feature, --strata, --plate, --show, --reviewed, "
            "--drop-missing, --scheduler, --checkpoint and --resume are for one table with rows "
            f"and labels, not for {option}"
        )
    if linking.pairs is None:
        return LinkedTables(read_two(tables[0], tables[1], roles), [])
    return read_linked(tables, linking.pairs, roles, linking)


def read_linked(tables: list[Path], pairs: Path, roles: "Roles", linking: Linking) -> LinkedTables:
    """Read features, labels and pairs, and link the records."""
    from ..exceptions import TableError
    from ..io.tables import FitTable, design_matrix, learn_columns
    from ..linkage.pairs import describe_links, notes_of
    from ..linkage.resolve import candidates_of, link

    name = linking.id_column or ID
    table = _read_pairs(pairs, name)
    ids = [] if table.ids == "row" else [name]
    left, features = _read_left(tables[0], roles, ids)
    right, label = _read_right(tables[1], roles, ids)
    records = [
        t.columns[name].tolist() if ids else list(range(1, t.n_rows + 1)) for t in (left, right)
    ]
    try:
        found = candidates_of(table, records[0], records[1], 0.0)
        checks = _read_checked(linking.checked, table, found, records)
        links = link(found, *checks, "auto")
    except TableError:
        raise
    except ValueError as error:
        raise TableError(pairs, str(error)) from error
    columns = learn_columns(left, features, roles.categorical)
    taken = {title: values[links.left] for title, values in left.columns.items()}
    linked = replace(left, columns=taken, n_rows=len(links.left), missing=None)
    groups = None if roles.group is None else taken[roles.group]
    rows = FitTable(
        linked, columns, design_matrix(linked, columns), label,
        right.numbers(label)[links.right], groups, links.known if links.known.any() else None,
        links.match_prob, group=roles.group or "",
        ids=np.asarray(records[0])[links.left] if ids else None,
    )  # fmt: skip
    return LinkedTables(rows, [describe_links(found, links), *notes_of(found, links)])


def _read_pairs(path: Path, id_name: str) -> "PairTable":
    """The pairs, with ids as text."""
    from ..exceptions import TableError
    from ..io.tables import open_table
    from ..linkage.pair_table import WITH_PROBABILITY, find_columns, read_pairs

    source = open_table(path)
    try:
        names, kind = find_columns(source.names, (id_name, id_name))
        scores = [name for name in source.names if name in WITH_PROBABILITY]
        table = source.read([*names, *scores], () if kind == "row" else names)
        return read_pairs(dict(table.columns), None, None, (id_name, id_name), first_row=1)
    except TableError:
        raise
    except ValueError as error:
        raise TableError(path, str(error)) from error


def _read_checked(
    path: Path | None, pairs: "PairTable", found: "Candidates", records: list[list[Any]]
) -> tuple[Any, Any]:
    """Which candidates were checked, and which are right."""
    from ..exceptions import TableError
    from ..io.tables import open_table
    from ..linkage.resolve import RIGHT, checks_of, no_checks

    if path is None:
        return no_checks(len(found.left))
    source = open_table(path)
    truths = [name for name in source.names if name in RIGHT][:1]
    held = [name for name in (*pairs.names, *truths) if name in source.names]
    ids = () if pairs.ids == "row" else pairs.names
    table = source.read(held, {*ids, *truths} & set(held))
    columns: dict[str, Any] = dict(table.columns)
    columns |= {name: table.truths(name) for name in truths}
    try:
        return checks_of(columns, pairs, found, records)
    except ValueError as error:
        raise TableError(path, str(error)) from error


def _read_left(path: Path, roles: "Roles", ids: list[str]) -> tuple["ColumnTable", list[str]]:
    """Records with features, and the names of these."""
    from ..io.tables import Roles, open_table
    from ..io.tables.roles import choose_features

    source = open_table(path)
    _check_ids(source, ids)
    taken = Roles(None, roles.features, roles.group, categorical=roles.categorical)
    features = [name for name in choose_features(source, taken) if name not in ids]
    group = [] if roles.group is None else [roles.group]
    text = {*ids, *group, *roles.categorical}
    return source.read([*features, *ids, *group], text), features


def _read_right(path: Path, roles: "Roles", ids: list[str]) -> tuple["ColumnTable", str]:
    """Records with the label, and its name."""
    from ..io.tables import open_table
    from ..io.tables.roles import check_column, check_label

    source = open_table(path)
    _check_ids(source, ids)
    others = [name for name in source.names if name not in ids]
    only = others[0] if len(others) == 1 else None
    label = check_label(source, roles.label or only, others)
    check_column(source, label, "label")
    return source.read([label, *ids], ids, [label]), label


def _check_ids(source: "TableSource", ids: list[str]) -> None:
    from ..exceptions import TableError

    for name in ids:
        if name not in source.names:
            raise TableError(source.path, f"has no column {name!r} with ids; name it with --id")
