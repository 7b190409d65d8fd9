"""The rows of a sheet, as its XML is read."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from ...exceptions import TableError
from .archive import Archive, Part
from .cells import WIDEST, Cell, CellKind, TextCollector, column_of

DIGITS = "0123456789"
MOST_DIGITS = 9  # of the number of a row
KINDS = {
    "n": CellKind.NUMBER, "s": CellKind.TEXT, "str": CellKind.TEXT, "inlineStr": CellKind.TEXT,
    "b": CellKind.TRUTH, "e": CellKind.ERROR, "d": CellKind.DATE,
}  # fmt: skip


class Row(NamedTuple):
    """A row that holds something, with its number in the sheet, counted from 1."""

    number: int
    cells: list[Cell]


class SheetPart(Part):
    """Collects rows until somebody takes them.

    Parameters
    ----------
    path : Path
    strings : sequence of str
        The texts of the workbook.
    dates : collection of str
        Numbers of the styles that show dates.
    longest : int
        Characters of one cell.
    """

    def __init__(
        self, path: Path, strings: Sequence[str], dates: Collection[str], longest: int
    ) -> None:
        self.path, self._strings, self._dates = path, strings, dates
        self.rows: list[Row] = []
        self._collect = TextCollector(path, longest)
        self._row, self._cells = 0, list[Cell]()
        self._column, self._kind, self._type = -1, CellKind.NUMBER, "n"
        self._inside = False

    def start(self, name: str, values: Mapping[str, str]) -> None:
        """A row, a cell, or what a cell holds."""
        if name == "c":
            self._start_cell(values)
        elif name == "row":
            self._start_row(values)
        elif ":" in name and name.endswith((":c", ":row")):
            raise TableError(self.path, f"holds elements of two vocabularies ({name[:20]!r})")
        elif self._inside:
            self._collect.start(name)

    def text(self, text: str) -> None:
        """Characters."""
        self._collect.add(text)

    def end(self, name: str) -> None:
        """A cell without a value is none; a row without cells neither."""
        if name == "c":
            self._end_cell()
        elif name == "row":
            if self._cells:
                self.rows.append(Row(self._row, self._cells))
                self._cells = []
        elif self._inside:
            self._collect.end(name)

    def _start_row(self, values: Mapping[str, str]) -> None:
        number = values.get("r", str(self._row + 1))
        if not number.isdigit() or len(number) > MOST_DIGITS or int(number) <= self._row:
            raise TableError(
                self.path, f"its rows are out of order: row {number[:20]!r} follows {self._row}"
            )
        self._row, self._column = int(number), -1

    def _start_cell(self, values: Mapping[str, str]) -> None:
        place = values.get("r")
        column = self._column + 1 if place is None else column_of(place.rstrip(DIGITS))
        if not self._column < column < WIDEST:
            where = f"column {column + 1}" if place is None else repr(place[:20])
            raise TableError(self.path, f"its cells are out of order at {where}", place=self.place)
        self._column, self._inside = column, True
        self._type = values.get("t", "n")
        kind = KINDS.get(self._type)
        if kind is None:
            raise TableError(
                self.path, f"holds a cell of the unknown kind {self._type[:20]!r}", place=self.place
            )
        if kind is CellKind.NUMBER and values.get("s") in self._dates:
            kind = CellKind.DATE
        self._kind = kind

    def _end_cell(self) -> None:
        self._inside = False
        text = self._collect.take()
        if not text:
            return
        if self._type == "s":
            number = int(text) if text.isdigit() and len(text) < MOST_DIGITS else -1
            if not 0 <= number < len(self._strings):
                raise TableError(
                    self.path, f"names a text {text[:20]!r} that is not there", place=self.place
                )
            text = self._strings[number]
        if text:
            self._cells.append(Cell(self._column, text, self._kind))

    @property
    def place(self) -> str:
        """The row that is read."""
        return f"row {self._row}"


def read_sheet(archive: Archive, name: str, part: SheetPart) -> Iterator[Row]:
    """The rows of a sheet that hold something, one after the other."""
    for _ in archive.stream(name, part):
        rows, part.rows = part.rows, []
        yield from rows
