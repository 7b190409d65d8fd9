"""How large a table may be, asked before memory is taken for it."""

import os
from pathlib import Path

from ...exceptions import TableError

LONGEST_LINE = 4 << 20  # characters; twenty thousand columns of numbers fit
LONGEST_FIELD = 1 << 17
MOST_COLUMNS = 50_000
# Tables of numbers shrink about three to ten times, zeros a thousand times.
MOST_EXPANSION = 200
EXPANSION_COUNTS_FROM = 64 << 20


def most_bytes() -> int:
    """Half of the machine's memory."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2
    except (AttributeError, OSError, ValueError):
        return 4 << 30


def check_size(path: Path, n_rows: int, n_columns: int) -> None:
    """Refuse a table that says of itself that it does not fit into memory."""
    if n_rows < 0:
        raise TableError(path, f"says that it has {n_rows} rows; the file is damaged")
    needed = 8 * n_rows * max(n_columns, 1)
    if needed > most_bytes():
        raise TableError(
            path,
            f"says that it has {n_rows:,} rows; {n_columns} columns of them take "
            f"{needed / 1e9:,.0f} GB and at most {most_bytes() / 1e9:.1f} GB are allowed; "
            "choose fewer columns or rows",
        )


def check_width(path: Path, n_columns: int) -> None:
    """Refuse absurd numbers of columns."""
    if n_columns > MOST_COLUMNS:
        raise TableError(path, f"has {n_columns:,} columns; at most {MOST_COLUMNS:,} are read")
