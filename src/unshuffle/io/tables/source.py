"""Open files as a source of columns, by their names and first bytes."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from ...exceptions import TableError
from ..opening import NOT_REGULAR
from ..settings import READ, ReadSettings
from .table import ColumnTable
from .text import TextFile

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
PARQUET = (".parquet", ".pq")
KINDS = "CSV, TSV (both may end in .gz), Parquet and FCS"


class TableSource(Protocol):
    """A file whose columns can be named before they are read."""

    @property
    def path(self) -> Path:
        """The file; the first one where several are one table."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    def read(
        self,
        columns: Sequence[str],
        text: Collection[str] = (),
        numbers: Collection[str] = (),
        blanks: Collection[str] = (),
    ) -> ColumnTable:
        """Read some columns; those in `text` are names, the type of the rest is found out.

        Text files use `numbers`, columns that cannot be names, for better messages. Values of the
        columns in `blanks` may be missing.
        """


def open_table(paths: Path | Sequence[Path], settings: ReadSettings = READ) -> TableSource:
    """Open a table.

    Parameters
    ----------
    paths : Path or sequence of Path
        CSV, TSV, either of them compressed with gzip, Parquet, or FCS. Several Parquet files are
        one table, in the order given.
    settings : ReadSettings
        Limits.

    Returns
    -------
    source : TableSource
        Has `names`, and `read` for some of them.
    """
    files = [paths] if isinstance(paths, Path) else list(paths)
    for path in files:
        _check_file(path)
    if all(is_parquet(path) for path in files):
        from ..parquet import ParquetFiles

        return ParquetFiles(tuple(files), settings)
    if len(files) > 1:
        other = next(path for path in files if not is_parquet(path))
        raise TableError(other, "is not a Parquet file; only Parquet files are joined to one table")
    path = files[0]
    kinds = [suffix.lower() for suffix in path.suffixes[-2:]]
    kind = kinds[-1] if kinds else ""
    if kind == ".fcs":
        from .fcs import FcsFile

        return FcsFile(path, settings)
    if kind in TEXT or (kind == ".gz" and (len(kinds) < 2 or kinds[0] in TEXT)):
        return TextFile(path, settings)
    raise TableError(path, f"files of kind {kind or 'without ending'!r} are not read; give {KINDS}")


def is_parquet(path: Path) -> bool:
    """Whether the name of a file says that it is Parquet."""
    return path.suffix.lower() in PARQUET


def _check_file(path: Path) -> None:
    if path.is_dir():
        raise TableError(path, "is a folder; name a file")
    if not path.exists():
        raise TableError(path, "there is no such file")
    if not path.is_file():
        raise TableError(path, NOT_REGULAR)
    if path.stat().st_size == 0:
        raise TableError(path, "is empty")
