"""Standard input as a file: copied to one without a name, because tables are read several times."""

import sys
import tempfile
import weakref
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any

from ..exceptions import TableError
from .amounts import amount
from .compression import KINDS
from .settings import READ, ReadSettings

DASH = Path("-")
TITLE = "standard input"
OPEN_FILES = Path("/proc/self/fd")
BLOCK = 1 << 20
# The kind of a table by its first bytes; what starts otherwise is text.
ENDINGS = {b"PAR1": ".parquet", b"FCS": ".fcs", b"PK\x03\x04": ".xlsx"}
_PlainPath: Any = type(Path())


class StandardInput(_PlainPath):  # type: ignore[misc]
    """The path of what came by standard input; people see its title, the system where it is.

    Attributes
    ----------
    endings : list of str
        Of the name that a file with this content would have.
    held : file
        The copy; it is gone when this is.
    """

    endings: list[str]
    held: Any

    def __str__(self) -> str:
        return TITLE

    def __fspath__(self) -> str:
        return str(self.held.name) if isinstance(self.held.name, str) else self._open_file

    @property
    def name(self) -> str:
        """The title."""
        return TITLE

    @property
    def suffix(self) -> str:
        """The last ending."""
        return self.endings[-1]

    @property
    def suffixes(self) -> list[str]:
        """All endings."""
        return self.endings

    def with_name(self, name: str) -> Path:
        """Nothing stands beside it."""
        return Path(name)

    @property
    def _open_file(self) -> str:
        return str(OPEN_FILES / str(self.held.fileno()))


def take_standard_input(paths: Sequence[Path], settings: ReadSettings = READ) -> list[Path]:
    """Replace a path ``-`` by what comes by standard input."""
    if paths.count(DASH) > 1:
        raise ValueError("standard input (-) can be read once; name a file for the other table")
    return [_copy(settings) if path == DASH else path for path in paths]


def with_redirected(paths: Sequence[Path]) -> list[Path]:
    """The paths, and the file that standard input was redirected from, which is read as well."""
    taken = any(isinstance(path, StandardInput) for path in paths)
    return [*paths, Path("/dev/stdin")] if taken else list(paths)


def _copy(settings: ReadSettings) -> StandardInput:
    if sys.stdin is None or sys.stdin.isatty():
        raise TableError(TITLE, "is a terminal; pipe a table into the command, or name a file")
    held = _make_file()
    try:
        _fill(held, sys.stdin.buffer, settings.standard_input)
    except BaseException:
        held.close()
        raise
    path = StandardInput(TITLE)
    path.endings, path.held = _endings(held.read(8)), held
    weakref.finalize(path, held.close)
    return path


def _fill(held: IO[bytes], source: IO[bytes], most: int) -> None:
    done = 0
    while block := source.read(BLOCK):
        done += len(block)
        if done > most:
            raise TableError(
                TITLE, f"has more than {amount(most)}; save it to a file, and name that"
            )
        held.write(block)
    held.flush()
    held.seek(0)


def _make_file() -> IO[bytes]:
    """A file without a name, which no kill leaves behind; with one where it could not be opened."""
    if OPEN_FILES.is_dir():
        return tempfile.TemporaryFile()
    return tempfile.NamedTemporaryFile()


def _endings(start: bytes) -> list[str]:
    for mark, ending in ENDINGS.items():
        if start.startswith(mark):
            return [ending]
    return [".csv", *(kind.ending for kind in KINDS if start.startswith(kind.mark))]
