"""Several FCS files as one table, such as one file for each tube or bin of a sorter."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ..settings import READ, ReadSettings
from .fcs import FcsFile
from .limits import check_size
from .missing import MissingRows
from .table import ColumnTable

FILE = "file"  # the column that holds the name of each row's file


@dataclass(frozen=True)
class FcsFiles:
    """FCS files with the same channels, one below the other.

    Attributes
    ----------
    files : tuple of Path
    settings : ReadSettings
    """

    files: tuple[Path, ...]
    settings: ReadSettings = READ

    @property
    def path(self) -> Path:
        """The first file, which messages about all of them name."""
        return self.files[0]

    @cached_property
    def names(self) -> list[str]:
        """Names of the channels, in the order of the first file, and that of the added column."""
        titles = [path.name for path in self.files]
        twice = next((path for path in self.files if titles.count(path.name) > 1), None)
        if twice is not None:
            raise TableError(twice, "is named twice, or another file has the same name")
        names = FcsFile(self.path, self.settings).names
        for path in self.files[1:]:
            other = FcsFile(path, self.settings).names
            if set(other) != set(names):
                name = sorted(set(other) ^ set(names))[0]
                has, has_not = (path, self.path) if name in other else (self.path, path)
                raise TableError(
                    has_not, f"has no channel {name!r}, which {has.name} has; files of one table "
                    "must have the same channels"
                )  # fmt: skip
        if FILE in names:
            raise TableError(
                self.path, f"has a channel {FILE!r}, which is the name of the column that names "
                "the file of each row; rename it"
            )  # fmt: skip
        return [*names, FILE]

    def read(
        self,
        columns: Sequence[str],
        text: Collection[str] = (),
        numbers: Collection[str] = (),
        *,
        blanks: Collection[str] = (),
        drop_missing: bool = False,
    ) -> ColumnTable:
        """Read some channels of all files, and the name of the file of each row."""
        channels = [name for name in columns if name != FILE]
        tables, done = [], 0
        for path in self.files:
            source = FcsFile(path, self.settings)
            tables.append(
                source.read(channels, text, numbers, blanks=blanks, drop_missing=drop_missing)
            )
            done += tables[-1].n_rows
            check_size(self.path, done, 2 * len(columns), self.settings)
        found: dict[str, NDArray[Any]] = {
            name: np.concatenate([table.columns[name] for table in tables]) for name in channels
        }
        if FILE in columns:
            titles: NDArray[Any] = np.array([path.name for path in self.files], dtype=object)
            found[FILE] = np.repeat(titles, [table.n_rows for table in tables])
        missing, pieces = (MissingRows() if drop_missing else None), []
        for table in tables:
            seen = table.n_rows
            if missing is not None and table.missing is not None:
                missing.append(table.missing)
                seen = table.missing.n_rows
            pieces.append((table.path, seen))
        return ColumnTable(self.path, found, done, pieces=tuple(pieces), missing=missing)


def are_fcs(paths: Sequence[Path]) -> bool:
    """Whether the names of all files say that they are FCS."""
    return all(path.suffix.lower() == ".fcs" for path in paths)
