"""How large a table may be, checked before memory is taken for it."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from ...exceptions import Problem, TableError
from ..amounts import amount
from ..settings import READ, ReadSettings

BYTES = 8  # of a number, or of the place of a name
CELL = 2 * BYTES  # in a column, and in the matrix that is made of it
NAME_BYTES = 100  # of a name as a key, beside the text itself
TEXT_WAY = "choose fewer columns"


@dataclass
class Budget:
    """Bytes that a table may take; they follow the size of its files.

    Attributes
    ----------
    path : Path
    size : int
        Bytes of all files of the table.
    allowed : int
    way : str
        What the user can do about a table that takes more.
    taken : int
    """

    path: Path
    size: int
    allowed: int
    way: str = TEXT_WAY
    taken: int = 0

    def take(self, n_bytes: int, what: str = "", column: str = "", way: str = "") -> None:
        """Count bytes before they are taken; refuse more than are allowed."""
        self.taken += n_bytes
        if self.taken > self.allowed:
            found = (
                f"takes at least {amount(self.taken)} in memory{what}, but a file of "
                f"{amount(self.size)} may take at most {amount(self.allowed)}"
            )
            problem = Problem(found, way or self.way, "size")
            raise TableError(self.path, problem, column=column)


def make_budget(
    files: Sequence[Path], way: str = TEXT_WAY, settings: ReadSettings = READ
) -> Budget:
    """What the table in these files may take."""
    size = sum(path.stat().st_size for path in files)
    grown = settings.memory_per_byte * max(size - settings.small_file, 0)
    allowed = min(settings.small_memory + grown, int(settings.memory_share * _memory(settings)))
    return Budget(files[0], size, allowed, way)


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
