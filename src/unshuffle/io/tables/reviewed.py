"""Decisions that people made about rows, as the review page of a report writes them."""

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ...kernels.types import BoolArray, FloatArray, IntArray
from .source import open_table
from .table import ColumnTable

RIGHT, WRONG, UNSURE = "right", "wrong", "unsure"
DECISIONS = (RIGHT, WRONG, UNSURE)
ROW, ID, LABEL, DECISION = "row", "id", "label", "decision"


@dataclass(frozen=True, eq=False)
class Decisions:
    """What people decided about each row of a table.

    Attributes
    ----------
    right, wrong : arrays of bool of shape (n,)
        Rows whose label is their own, and rows whose label is not.
    n_unsure : int
        Rows that were looked at and left open.
    """

    right: BoolArray
    wrong: BoolArray
    n_unsure: int


def read_reviewed(
    path: Path, labels: FloatArray, ids: NDArray[Any] | None = None, id_name: str = ""
) -> Decisions:
    """Read decisions, and check that they are about these rows.

    Rows are found by their names where there are any and each is used once, else by their numbers,
    which count from 1. Where the file has the labels that people saw, they must be those of the
    table: decisions about rows that have moved since would pair rows with wrong labels.

    Parameters
    ----------
    path : Path
        A table with the columns `row` and `decision`; `id` and `label` are used where they stand.
    labels : array of shape (n,)
        Labels of the table of the fit.
    ids : array of str of shape (n,), optional
        Names of its rows.
    id_name : str
        What the user calls the column of names.

    Returns
    -------
    decisions : Decisions
    """
    source = open_table(path)
    for name in (ROW, DECISION):
        if name not in source.names:
            raise TableError(
                path,
                f"has no column {name!r}; give the file reviewed.csv that a report writes, with "
                "the columns row and decision",
            )
    there = [name for name in (ROW, ID, LABEL, DECISION) if name in source.names]
    table = source.read(there, {ID, DECISION}, {ROW, LABEL})
    rows = _numbers(table, len(labels))
    if ids is not None and ID in table.columns:
        rows = _by_name(table, rows, ids, id_name)
    twice = [row for row, count in Counter(rows.tolist()).items() if count > 1]
    if twice:
        where = int(np.flatnonzero(rows == twice[0])[1])
        raise table.error(f"decides about row {twice[0] + 1} a second time", where, ROW)
    if LABEL in table.columns:
        _check_labels(table, rows, labels)
    marks = _marks(table)
    right, wrong = np.zeros((2, len(labels)), dtype=np.bool_)
    right[rows[marks == RIGHT]] = True
    wrong[rows[marks == WRONG]] = True
    return Decisions(right, wrong, int(np.sum(marks == UNSURE)))


def _numbers(table: ColumnTable, n_rows: int) -> IntArray:
    given = table.numbers(ROW)
    bad = np.flatnonzero((given != np.round(given)) | (given < 1) | (given > n_rows))
    if len(bad):
        found = given[bad[0]]
        raise table.error(
            f"{found:g} is not a row of the table, which are numbered from 1 to {n_rows}",
            int(bad[0]),
            ROW,
        )
    return given.astype(np.int64) - 1


def _by_name(table: ColumnTable, rows: IntArray, ids: NDArray[Any], id_name: str) -> IntArray:
    """Rows by their names; numbers decide where names are used more than once."""
    places = {name: k for k, name in enumerate(ids)}
    unique, found = len(places) == len(ids), rows.copy()
    for k, name in enumerate(table.columns[ID]):
        if name not in places:
            problem = f"{name!r} is not among the names in {id_name!r} of the table that is fitted"
            raise table.error(problem, k, ID)
        if unique:
            found[k] = places[name]
        elif ids[rows[k]] != name:
            problem = f"row {rows[k] + 1} is called {ids[rows[k]]!r} in the table, not {name!r}"
            raise table.error(f"{problem}; has the table changed since the review?", k, ID)
    return found


def _check_labels(table: ColumnTable, rows: IntArray, labels: FloatArray) -> None:
    seen, now = table.numbers(LABEL), labels[rows]
    other = np.flatnonzero(~np.isclose(seen, now, rtol=1e-9, atol=0.0))
    if len(other):
        k = int(other[0])
        raise table.error(
            f"row {rows[k] + 1} had the label {seen[k]:g} when it was reviewed and has {now[k]:g} "
            "now; review the table that is fitted",
            k,
            LABEL,
        )


def _marks(table: ColumnTable) -> NDArray[Any]:
    marks = np.array([str(mark).casefold() for mark in table.columns[DECISION]], dtype=object)
    for k, mark in enumerate(marks):
        if mark not in DECISIONS:
            raise table.error(f"{mark!r} is no decision; write {', '.join(DECISIONS)}", k, DECISION)
    return marks
