"""A workbook as a table: the first sheet, whose first row names the columns."""

import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np

from ...exceptions import TableError
from ..settings import READ, ReadSettings
from ..tables.building import ColumnBuilders, kinds_of
from ..tables.cells import MISSING, NUMBER, Kind
from ..tables.header import check_header
from ..tables.limits import Budget, check_width, make_budget
from ..tables.missing import MissingRows
from ..tables.places import Places
from ..tables.table import ColumnTable
from .archive import open_archive
from .cells import Cell, CellKind, column_letters
from .directory import read_directory
from .sheet import Row, SheetPart, read_sheet
from .strings import Strings
from .styles import Styles

WAY = "choose fewer columns, or save it as CSV"
DIGITS_SHOWN = 15  # of a number as a name: what Excel shows, which stores 0.1 with 17


class Opened(NamedTuple):
    """Names of the columns, what is wanted later, and what a person should know."""

    names: list[str]
    sheet: str
    strings: list[str]
    dates: set[str]
    remarks: tuple[str, ...]


@dataclass(frozen=True)
class WorkbookFile:
    """The first visible sheet of an Excel workbook.

    Attributes
    ----------
    path : Path
    settings : ReadSettings
    """

    path: Path
    settings: ReadSettings = READ

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self._opened.names

    def read(
        self,
        columns: Sequence[str],
        text: Collection[str] = (),
        numbers: Collection[str] = (),
        *,
        blanks: Collection[str] = (),
        drop_missing: bool = False,
    ) -> ColumnTable:
        """Read some columns; those in `text` are names, those in `numbers` cannot be.

        Values of those in `blanks` may be missing.
        """
        places, missing = Places("row"), MissingRows() if drop_missing else None
        builders = ColumnBuilders(
            self.path, kinds_of(columns, text, numbers), places, self._budget, blanks=blanks,
            missing=missing, commas=False,
        )  # fmt: skip
        where = {self.names.index(name): j for j, name in enumerate(columns)}
        at_once = max(self.settings.cells_at_once // len(self.names), self.settings.rows_at_once)
        rows = self._rows()
        while batch := list(itertools.islice(rows, at_once)):
            builders.take(len(batch))
            cells = self._columns(batch, where, builders.kinds)
            builders.add(cells, np.array([row.number for row in batch], dtype=np.int64))
        found = builders.finish()
        return ColumnTable(
            self.path, found, places.n_rows, first_row=2, budget=self._budget, missing=missing,
            remarks=self._opened.remarks,
        )  # fmt: skip

    @cached_property
    def _budget(self) -> Budget:
        return make_budget([self.path], WAY, self.settings)

    @cached_property
    def _opened(self) -> Opened:
        with open_archive(self.path, self.settings) as archive:
            directory = read_directory(archive)
            longest = self.settings.longest_field
            strings, styles = Strings(self._budget, longest), Styles()
            if directory.strings:
                archive.read(directory.strings, strings)
            if directory.styles:
                archive.read(directory.styles, styles)
            sheets = directory.sheets
            sheet = next((sheet for sheet in sheets if sheet.is_visible), sheets[0])
            part = SheetPart(self.path, strings.found, styles.dates, longest)
            header = next(read_sheet(archive, sheet.part, part), Row(0, []))
        names = self._header(header)
        remarks: tuple[str, ...] = ()
        if len(sheets) > 1:
            remarks = (
                f"{self.path.name} has {len(sheets)} sheets; the first visible one, "
                f"{sheet.title!r}, is read",
            )
        return Opened(names, sheet.part, strings.found, styles.dates, remarks)

    def _header(self, row: Row) -> list[str]:
        if row.number != 1:
            raise TableError(self.path, "row 1 is blank; the first row must name the columns")
        width = row.cells[-1].column + 1
        check_width(self.path, width, self.settings)
        names = [""] * width
        for cell in row.cells:
            names[cell.column] = cell.text.strip()
        check_header(self.path, names, "row 1")
        return names

    def _rows(self) -> Iterator[Row]:
        """The rows below the header; none may be blank, and none longer than the header."""
        opened, expected = self._opened, 2
        part = SheetPart(self.path, opened.strings, opened.dates, self.settings.longest_field)
        with open_archive(self.path, self.settings) as archive:
            rows = read_sheet(archive, opened.sheet, part)
            next(rows)
            for row in rows:
                if row.number != expected:
                    raise TableError(self.path, "is blank", place=f"row {expected}")
                last = row.cells[-1].column
                if last >= len(opened.names):
                    raise TableError(
                        self.path,
                        f"holds {row.cells[-1].text[:40]!r} in column {column_letters(last)}, "
                        "which has no name in row 1",
                        place=f"row {row.number}",
                    )
                expected += 1
                yield row

    def _columns(
        self, rows: Sequence[Row], where: dict[int, int], kinds: Sequence[Kind]
    ) -> list[Sequence[str]]:
        """Cells of some rows by column, as the text that a CSV file would hold."""
        columns = [[""] * len(rows) for _ in kinds]
        for k, row in enumerate(rows):
            for cell in row.cells:
                j = where.get(cell.column)
                if j is not None:
                    columns[j][k] = self._text(cell, row.number, kinds[j] == "text")
        return list(columns)

    def _text(self, cell: Cell, number: int, as_name: bool) -> str:
        kind, text = cell.kind, cell.text
        if kind is CellKind.TEXT:
            return text
        if kind is CellKind.NUMBER:
            if as_name and NUMBER.fullmatch(text):
                return format(float(text), f".{DIGITS_SHOWN}g")
            return text
        if kind is CellKind.TRUTH:
            return text if not as_name else "true" if text.strip() == "1" else "false"
        problem = "" if text.strip() in MISSING or not as_name else f"holds the error {text[:40]!r}"
        if kind is CellKind.DATE:
            problem = "holds a date; write it as text, or as a number such as days since a start"
        if problem:
            name = self.names[cell.column]
            raise TableError(self.path, problem, place=f"row {number}", column=name)
        return text
