"""CSV and TSV, plain or compressed, by Python's own strict reader."""

import csv
import itertools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...exceptions import TableError
from ...kernels.types import IntArray
from ..compression import compression_named
from ..settings import READ, ReadSettings
from .building import ColumnBuilders, kinds_of
from .cells import Kind
from .header import check_header
from .limits import CELL, TEXT_WAY, Budget, check_width, make_budget
from .lines import Meter, read_lines
from .missing import MissingRows
from .places import Places
from .quick import guess_kinds, read_quickly
from .table import ColumnTable

MOST_BLANK = 100_000  # lines at the end of a file
SEPARATORS = {"\t": "tabs", ";": "semicolons", ",": "commas"}


@dataclass(frozen=True)
class TextFile:
    """A text file with a header.

    Attributes
    ----------
    path : Path
    settings : ReadSettings
    """

    path: Path
    settings: ReadSettings = READ

    @cached_property
    def separator(self) -> str:
        """A tab or a semicolon where the header has one and no comma; else by the file name."""
        header = next(read_lines(self.path, self.settings), "")
        if not header.strip():
            raise TableError(self.path, "is empty: the first line must name the columns")
        if ".tsv" in self.path.suffixes or ".tab" in self.path.suffixes:
            return "\t"
        found = [mark for mark in SEPARATORS if mark in header]
        if len(found) > 1 and ".csv" not in self.path.suffixes:
            raise TableError(
                self.path,
                f"the header holds {' and '.join(SEPARATORS[mark] for mark in found)}; call the "
                "file .csv or .tsv to declare what separates its fields",
            )
        return "," if "," in found or not found else found[0]

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        header = self._next(self._reader(Meter()), 1, 0)
        names = [name.strip() for name in header[0]] if header else []
        check_width(self.path, len(names), self.settings)
        check_header(self.path, names, "line 1")
        return names

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
        wanted = kinds_of(columns, text, numbers)
        first = next(self.chunks(), None)
        if first is not None:
            row = dict(zip(self.names, first[0][0], strict=True))
            kinds = guess_kinds(wanted, row)
            found = read_quickly(self.path, self.separator, self.names, kinds, self.settings)
            if found is not None:
                n_rows, budget = len(found[columns[0]]), self._budget()
                budget.take(CELL * n_rows * len(columns))
                return ColumnTable(self.path, found, n_rows, True, budget=budget)
        return self._read_strictly(wanted, blanks, MissingRows() if drop_missing else None)

    def _read_strictly(
        self, kinds: dict[str, Kind], blanks: Collection[str], missing: MissingRows | None
    ) -> ColumnTable:
        lines, budget = Places("line"), self._budget()
        builders = ColumnBuilders(
            self.path, kinds, lines, budget, blanks=blanks, missing=missing,
            commas=self.separator != ",",
        )  # fmt: skip
        numbers = {name: j for j, name in enumerate(self.names)}
        where = [numbers[name] for name in kinds]
        for rows, starts in self.chunks():
            builders.take(len(rows))
            cells = list(zip(*rows, strict=True))
            builders.add([cells[j] for j in where], starts)
        found = builders.finish()
        return ColumnTable(
            self.path, found, lines.n_rows, True, lines.irregular(), budget=budget, missing=missing
        )

    def _budget(self) -> Budget:
        kind = compression_named(self.path)
        way = TEXT_WAY if kind is None else f"decompress it first ({kind.tool}), or {TEXT_WAY}"
        return make_budget([self.path], way, self.settings)

    def chunks(self) -> Iterator[tuple[list[list[str]], IntArray]]:
        """Rows of equal length, and the lines they start on; ragged ones are refused."""
        width, meter = len(self.names), Meter()
        reader = self._reader(meter)
        line = 1 + _extent(self._next(reader, 1, 0)[0])
        at_once = max(self.settings.cells_at_once // width, self.settings.rows_at_once)
        while rows := self._next(reader, at_once, line - 1, meter):
            starts = _starts(rows, line, reader.line_num)
            if set(map(len, rows)) != {width}:
                rows = self._without_blank_end(rows, starts, reader, meter)
                self._check_widths(rows, starts, width)
            if rows:
                yield rows, starts[: len(rows)]
            line = reader.line_num + 1

    def _reader(self, meter: Meter) -> Any:
        csv.field_size_limit(self.settings.longest_field)
        lines = read_lines(self.path, self.settings, meter)
        return csv.reader(lines, delimiter=self.separator, strict=True)

    def _next(
        self, reader: Any, count: int, before: int, meter: Meter | None = None
    ) -> list[list[str]]:
        """The next rows: `count` of them, or fewer where they come from too many blocks."""
        meter = meter or Meter()
        meter.blocks, most = 0, self.settings.blocks_at_once
        rows: list[list[str]] = []  # keeps what came before an error
        try:
            for row in itertools.islice(reader, count):
                rows.append(row)
                if meter.blocks >= most:
                    break
        except csv.Error as error:
            line = before + 1 + sum(_extent(row) for row in rows)
            problem = _explain(str(error), self.settings)
            raise TableError(self.path, problem, place=f"line {line}") from error
        return rows

    def _without_blank_end(
        self, rows: list[list[str]], starts: IntArray, reader: Any, meter: Meter
    ) -> list[list[str]]:
        """Blank lines are allowed at the end of the file, nowhere else."""
        filled = len(rows)
        while filled and not rows[filled - 1]:
            filled -= 1
        for k, row in enumerate(reader if filled < len(rows) else ()):
            meter.blocks = 0
            if row or k > MOST_BLANK:
                raise TableError(self.path, "is blank", place=f"line {starts[filled]}")
        return rows[:filled]

    def _check_widths(self, rows: list[list[str]], starts: IntArray, width: int) -> None:
        for row, line in zip(rows, starts, strict=False):
            if not row:
                raise TableError(self.path, "is blank", place=f"line {line}")
            if len(row) != width:
                raise TableError(
                    self.path,
                    f"has {len(row)} field{'s' * (len(row) != 1)} but the header names {width}; "
                    "the values after the mistake would be in the wrong columns",
                    place=f"line {line}",
                )


def _extent(row: list[str]) -> int:
    """How many lines a row takes."""
    return 1 + sum(cell.count("\n") for cell in row)


def _starts(rows: list[list[str]], first: int, last: int) -> IntArray:
    if last - first + 1 == len(rows):
        return np.arange(first, last + 1, dtype=np.int64)
    extents = [_extent(row) for row in rows]
    return first + np.cumsum([0, *extents[:-1]], dtype=np.int64)


def _explain(error: str, settings: ReadSettings) -> str:
    if "field larger" in error:
        return (
            f"starts a field of more than {settings.longest_field:,} characters; is a quote left "
            "open, or is this not a table?"
        )
    if "unexpected end" in error:
        return "opens a quote that is never closed"
    if "expected after" in error:
        return "has a quote in the middle of a field; double it or take it out"
    if "new-line character" in error:
        return "holds a carriage return; save the file with line feeds as line ends"
    return error
