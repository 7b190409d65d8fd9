"""One cell of a sheet: its column, its text, and what kind of value it is."""

from enum import Enum
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ...exceptions import TableError

WIDEST = 18_278  # columns up to ZZZ; Excel itself has fewer


class CellKind(Enum):
    """What a cell holds."""

    NUMBER = "number"
    TEXT = "text"
    TRUTH = "truth value"
    ERROR = "error"
    DATE = "date"


class Cell(NamedTuple):
    """A cell that holds something; columns are counted from 0."""

    column: int
    text: str
    kind: CellKind


class TextCollector:
    """The text of one cell, whose pieces may have fonts of their own.

    Parameters
    ----------
    path : Path
        Named by errors.
    longest : int
        Characters.
    """

    def __init__(self, path: Path, longest: int) -> None:
        self._path, self._longest = path, longest
        self._pieces: list[str] = []
        self._length = 0
        self._inside = self._phonetic = False

    def start(self, name: str) -> None:
        """An element starts inside the text; that of how a text is spoken does not count."""
        if name in {"v", "t"}:
            self._inside = not self._phonetic
        elif name == "rPh":
            self._phonetic = True

    def add(self, text: str) -> None:
        """Some characters."""
        if self._inside:
            self._length += len(text)
            if self._length > self._longest:
                raise TableError(
                    self._path, f"holds a cell of more than {self._longest:,} characters"
                )
            self._pieces.append(text)

    def end(self, name: str) -> None:
        """An element ends."""
        self._inside = False
        if name == "rPh":
            self._phonetic = False

    def take(self) -> str:
        """The whole text; the next one starts."""
        if not self._pieces:
            return ""
        whole = "".join(self._pieces)
        self._pieces, self._length = [], 0
        return whole


@lru_cache(maxsize=1 << 15)
def column_of(letters: str) -> int:
    """Number of a column from its letters, counted from 0; -1 where they are none.

    Examples
    --------
    >>> from unshuffle.io.workbook.cells import column_of
    >>> [column_of(letters) for letters in ("A", "Z", "AA", "XFD", "a1")]
    [0, 25, 26, 16383, -1]
    """
    if not letters.isascii() or not letters.isupper() or not letters.isalpha() or len(letters) > 3:
        return -1
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number - 1


def column_letters(column: int) -> str:
    """The letters over a column, counted from 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
