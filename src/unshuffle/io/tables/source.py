"""Open a file as a source of columns, by what its name and its beginning say."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Protocol

from ...exceptions import TableError
from .table import Table
from .text import TextSource

TEXT = (".csv", ".tsv", ".txt", ".tab", ".dat")
KINDS = "CSV, TSV (both may end in .gz), Parquet and FCS"


class Source(Protocol):
    """A file whose columns can be named before they are read."""

    @property
    def path(self) -> Path:
        """The file."""

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    def read(
        self, columns: Sequence[str], text: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Table:
        """Read some columns; those in `text` are names, the rest settle what they are.

        A text file is told with `numbers` that some are no names, which gives better messages.
        """


def open_table(path: Path) -> Source:
    """Open a table.

    Parameters
    ----------
    path : Path
        CSV, TSV, either of them compressed with gzip, Parquet, or FCS.

    Returns
    -------
    source : Source
        Has `names`, and `read` for some of them.
    """
    if path.is_dir():
        raise TableError(path, "is a folder; name a file")
    if not path.exists():
        raise TableError(path, "there is no such file")
    if not path.is_file():
        raise TableError(path, "is not a plain file")
    if path.stat().st_size == 0:
        raise TableError(path, "is empty")
    kinds = [suffix.lower() for suffix in path.suffixes[-2:]]
    kind = kinds[-1] if kinds else ""
    if kind in {".parquet", ".pq"}:
        from .parquet import ParquetSource

        return ParquetSource(path)
    if kind == ".fcs":
        from .fcs import FcsSource

        return FcsSource(path)
    if kind in TEXT or (kind == ".gz" and (len(kinds) < 2 or kinds[0] in TEXT)):
        return TextSource(path)
    raise TableError(path, f"files of kind {kind or 'without ending'!r} are not read; give {KINDS}")
