"""Open files as a source of columns, by their names and first bytes."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from ...exceptions import TableError
from ..compression import ENDINGS
from ..opening import NOT_REGULAR
from ..settings import READ, ReadSettings
from .fcs import FcsFile
from .fcs_files import FILE, FcsFiles, are_fcs
from .table import ColumnTable
from .text import TextFile

# The index of a data frame, which pandas writes into Parquet files; no column of the user's.
PANDAS_INDEX = "__index_level_"
TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
WORKBOOK = (".xlsx", ".xlsm")
PARQUET = (".parquet", ".pq")
KINDS = "CSV, TSV (both may end in .gz, .bz2 or .zst), Excel (.xlsx), Parquet and FCS"


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
        *,
        blanks: Collection[str] = (),
        drop_missing: bool = False,
    ) -> ColumnTable:
        """Read some columns; those in `text` are names, the type of the rest is found out.

        Text files use `numbers`, columns that cannot be names, for better messages. A missing value
        is refused, or its row is left out where `drop_missing` asks for it. Values
        of the columns in `blanks` may be missing.
        """


def open_table(paths: Path | Sequence[Path], settings: ReadSettings = READ) -> TableSource:
    """Open a table.

    Parameters
    ----------
    paths : Path or sequence of Path
        CSV, TSV, either of them compressed (gzip, bzip2, zstd), Excel, Parquet, or FCS. Several
        Parquet files are one table, in the order given, and so are several FCS files.
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
    if len(files) > 1 and are_fcs(files):
        return FcsFiles(tuple(files), settings)
    if len(files) > 1:
        other = next(path for path in files if not is_parquet(path))
        raise TableError(
            other, "is not a Parquet file; only Parquet or FCS files are joined to one table"
        )
    path = files[0]
    kinds = [suffix.lower() for suffix in path.suffixes[-2:]]
    kind = kinds[-1] if kinds else ""
    if kind in WORKBOOK:
        from ..workbook import WorkbookFile

        return WorkbookFile(path, settings)
    if kind == ".fcs":
        return FcsFile(path, settings)
    if kind in TEXT or (kind in ENDINGS and (len(kinds) < 2 or kinds[0] in TEXT)):
        return TextFile(path, settings)
    raise TableError(path, f"files of kind {kind or 'without ending'!r} are not read; give {KINDS}")


def unnamed_features(source: TableSource) -> list[str]:
    """The columns that are features where none is named and none has another role."""
    added = {FILE} if isinstance(source, FcsFiles) else set()
    return [n for n in source.names if n not in added and not n.startswith(PANDAS_INDEX)]


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
