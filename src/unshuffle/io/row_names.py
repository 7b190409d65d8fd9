"""Names of rows in pandas: columns that are given together must name their rows alike."""

from typing import Any

import numpy as np

from .frames import library_of


def refuse_other_row_names(X: Any, **columns: Any) -> None:
    """Refuse pandas columns whose index differs from that of X.

    Rows are taken by their place. An index that differs is nearly always a mistake; and where it is
    the same in another order, it holds the pairing.
    """
    if library_of(X) != "pandas" or not hasattr(X, "index"):
        return
    for name, column in columns.items():
        if library_of(column) != "pandas" or len(column) != len(X):
            continue
        index = getattr(column, "index", None)
        if index is None or callable(index) or index.equals(X.index):
            continue
        row = int(np.argmax(np.asarray(X.index) != np.asarray(index)))
        raise ValueError(_message(name, row, X.index, index))


def _message(name: str, row: int, rows: Any, other: Any) -> str:
    own, given = (index[row : row + 1].tolist()[0] for index in (rows, other))
    start = (
        f"X and {name} have different pandas indexes: {own!r} and {given!r} in row {row}, but "
        "rows are taken by their place"
    )
    same = rows.is_unique and other.is_unique and len(rows.difference(other)) == 0
    if same:
        return (
            f"{start}. They name the same rows in another order: align them with "
            f"{name}.loc[X.index], or drop the names with {name}.reset_index(drop=True) if they "
            "mean nothing"
        )
    return f"{start}; select the same rows of both, or drop the names with reset_index(drop=True)"
