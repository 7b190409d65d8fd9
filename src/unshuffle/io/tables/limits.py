"""How large a table may be, checked before memory is taken for it."""

import os
from pathlib import Path

from ...exceptions import TableError
from ..settings import READ, ReadSettings


def check_size(path: Path, n_rows: int, n_columns: int, settings: ReadSettings = READ) -> None:
    """Refuse a table that declares more rows than fit into memory."""
    if n_rows < 0:
        raise TableError(path, f"declares {n_rows} rows; the file is damaged")
    needed, allowed = 8 * n_rows * max(n_columns, 1), settings.memory_share * _memory(settings)
    if needed > allowed:
        raise TableError(
            path,
            f"declares {n_rows:,} rows; {n_columns} columns of them take {needed / 1e9:,.0f} GB, "
            f"and at most {allowed / 1e9:.1f} GB are allowed; choose fewer columns or rows",
        )


def check_width(path: Path, n_columns: int, settings: ReadSettings = READ) -> None:
    """Refuse more columns than any table of measurements has."""
    if n_columns > settings.most_columns:
        raise TableError(
            path, f"has {n_columns:,} columns; at most {settings.most_columns:,} are read"
        )


def _memory(settings: ReadSettings) -> int:
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, OSError, ValueError):
        return settings.memory_unknown
