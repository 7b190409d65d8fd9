"""What a person should know about a table that was read, before anything is fitted to it."""

import shlex
from typing import TYPE_CHECKING

from .screen import say

if TYPE_CHECKING:
    from ..io.tables import FitTable


def table_notes(rows: "FitTable") -> list[str]:
    """Remarks of the reader, rows that were left out, features that look like identifiers."""
    from ..io.tables.identifiers import find_identifiers

    notes = [*rows.table.remarks]
    if rows.table.missing is not None:
        notes.append(_about_missing(rows))
    for name, reason in find_identifiers(rows.table, rows.columns):
        notes.append(
            f"the feature {name!r} looks like an identifier ({reason}); unless it is a "
            f"measurement, leave it out: --exclude {shlex.quote(name)}"
        )
    return notes


def print_table_notes(rows: "FitTable", quiet: bool) -> None:
    """The same on standard error, for commands that do not fit the table as a whole."""
    for note in [] if quiet else table_notes(rows):
        say(f"note: {note}", err=True)


def dropped_rows(rows: "FitTable") -> dict[str, object] | None:
    """Counts of what ``--drop-missing`` left out, for ``--json``."""
    missing = rows.table.missing
    if missing is None:
        return None
    return {"rows": missing.n_dropped, "of": missing.n_rows, "missing": missing.by_column}


def _about_missing(rows: "FitTable") -> str:
    missing = rows.table.missing
    assert missing is not None
    if not missing.n_dropped:
        return f"no value is missing in the columns used; all {missing.n_rows} rows stay"
    counts = ", ".join(f"{name}: {count}" for name, count in missing.by_column.items())
    return (
        f"{missing.n_dropped} of {missing.n_rows} rows miss a value ({counts}) and were left out, "
        "each with the label beside it; if labels moved, that label may belong to a row that stays"
    )
