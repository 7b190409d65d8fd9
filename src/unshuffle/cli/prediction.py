"""Read the rows that a stored model predicts from; errors speak of the model, not of a fit."""

from collections.abc import Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

    from ..io.tables import ColumnTable, DesignColumn, TableSource
    from ..kernels.types import FloatArray

# What to do, by the role that the reader names.
ADVICE = {
    "missing": "fill it in, or leave out the row",
    "number": "the model was fitted to numbers in this column",
    "letters": "the model knows no other letters; correct it, or leave out the row",
    "excluded": "convert it to what it was in the fit",
    "size": "split the table, and predict its parts",
}


def read_design(
    source: "TableSource", columns: "Sequence[DesignColumn]", id_column: str | None = None
) -> "tuple[FloatArray, NDArray[Any] | None]":
    """The columns of the model from a table, as the fit made them, and the names of the rows."""
    from ..io.tables import design_matrix

    names = [column.name for column in columns]
    named = [] if id_column is None else [id_column]
    _check_names(source, [*names, *named])
    text = {column.name for column in columns if column.is_text}
    with _advice():
        table: ColumnTable = source.read([*names, *named], {*text, *named}, set(names) - text)
        return design_matrix(table, columns), table.columns[named[0]] if named else None


@contextmanager
def _advice() -> "Iterator[None]":
    from ..exceptions import TableError

    try:
        yield
    except TableError as error:
        advice = ADVICE.get(error.role)
        if advice is None:
            raise
        raise error.advise(advice) from error


def _check_names(source: "TableSource", needed: Sequence[str]) -> None:
    from ..exceptions import TableError
    from ..io.tables.roles import nearest, shown

    missing = [name for name in needed if name not in source.names]
    if not missing:
        return
    columns = "column" if len(missing) == 1 else "columns"
    near = nearest(missing[0], [name for name in source.names if name not in needed])
    hint = f" (is it called {near!r} there?)" if near else ""
    raise TableError(
        source.path,
        f"has no {columns} {shown([repr(name) for name in missing])}, which the model was fitted "
        f"with{hint}; it has: {shown(source.names)}",
    )
