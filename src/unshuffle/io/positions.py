"""Places on a plate, as laboratories write them."""

import re
from typing import NamedTuple

# A name of the plate, if there is one; one letter, or two beyond Z; a number, with zeros or not.
POSITION = re.compile(
    r"(?:(?P<plate>.*\S)\s*[\s:_/.-])?(?P<row>[A-Za-z]{1,2})0*(?P<column>\d{1,2})"
)
LETTERS = 26


class Position(NamedTuple):
    """A place: name of the plate (may be empty), and row and column, which count from 0."""

    plate: str
    row: int
    column: int


def parse_position(text: object) -> Position | None:
    """Read a place such as "A1", "h012" or "plate 2:AA7"; None where it is none.

    Examples
    --------
    >>> from unshuffle.io.positions import parse_position
    >>> parse_position("plate 2:B07")
    Position(plate='plate 2', row=1, column=6)
    >>> parse_position("left") is None
    True
    """
    found = POSITION.fullmatch(str(text).strip()[:200])
    if found is None or found["column"] == "0":
        return None
    row = 0
    for letter in found["row"].upper():
        row = LETTERS * row + ord(letter) - ord("A") + 1
    return Position(found["plate"] or "", row - 1, int(found["column"]) - 1)


def row_letters(row: int) -> str:
    """Letters of a row that counts from 0: A, B, ..., Z, AA, ...

    Examples
    --------
    >>> from unshuffle.io.positions import row_letters
    >>> row_letters(27)
    'AB'
    """
    letters = ""
    row += 1
    while row:
        row, last = divmod(row - 1, LETTERS)
        letters = chr(ord("A") + last) + letters
    return letters
