"""Text cells to a column of numbers or of names, chunk by chunk, without guessing."""

import itertools
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from ...exceptions import Problem, TableError
from ...kernels.types import BoolArray, FloatArray
from .limits import NAME_BYTES, Budget
from .missing import MissingRows

Kind = Literal["number", "text", "either"]
NUMBER = re.compile(r"\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*", re.ASCII)
WITH_COMMA = re.compile(r"\s*[+-]?\d+,\d+([eE][+-]?\d+)?\s*", re.ASCII)
MISSING = frozenset({"", "NA", "N/A", "NaN", "nan", "null", "NULL", "#N/A"})
BLANK = "(missing)"  # a missing name, while names are counted
MISSING_NUMBER = MISSING | {"-", ".", "?", "na", "n/a", "none", "None", "NAN", "missing"}


@dataclass
class CellContext:
    """What the columns of one file share.

    Attributes
    ----------
    path : Path
    place : callable
        Names row i, counted from 0.
    commas : bool
        Whether decimal commas are allowed: not where commas separate fields.
    budget : Budget
        What the table may take in memory.
    dotted, comma : str
        Where the first number with a decimal point and with a decimal comma stood.
    """

    path: Path
    place: Callable[[int], str]
    commas: bool
    budget: Budget
    dotted: str = ""
    comma: str = ""

    def error(self, problem: str | Problem, row: int, column: str, role: str = "") -> TableError:
        """An error that names the place."""
        return TableError(self.path, problem, place=self.place(row), column=column, role=role)


@dataclass
class ColumnBuilder:
    """Build one column. Its first chunk decides what it holds; later chunks must agree.

    Attributes
    ----------
    name : str
    kind : {"number", "text", "either"}
    reading : CellContext
    blanks : bool
        Whether values may be missing: nan among numbers, the empty text among names.
    """

    name: str
    kind: Kind
    reading: CellContext
    blanks: bool = False
    n_rows: int = 0
    _chunks: list[NDArray[Any]] = field(default_factory=list)
    _seen: dict[str, str] = field(default_factory=dict)
    _may_be_numbers: bool = False

    def add(self, cells: Sequence[str]) -> None:
        """Append the cells of some rows."""
        if not cells:
            return
        if self.kind == "either":
            self.kind, self._may_be_numbers = self._find_kind(cells), True
        convert = self._names if self.kind == "text" else self._numbers
        self._chunks.append(self._with_blanks(cells) if self.blanks else convert(cells))
        self.n_rows += len(cells)

    def missing(self, cells: Sequence[str]) -> BoolArray:
        """Which cells hold no value; the first ones decide what the column holds."""
        if self.blanks:
            return np.zeros(len(cells), dtype=np.bool_)
        if self.kind == "either":
            self.kind, self._may_be_numbers = self._find_kind(cells), True
        marks = MISSING if self.kind == "text" else MISSING_NUMBER
        return np.array([cell.strip() in marks for cell in cells], dtype=np.bool_)

    def _with_blanks(self, cells: Sequence[str]) -> NDArray[Any]:
        """Cells of a column whose values may be missing."""
        text = self.kind == "text"
        gone = np.array([c.strip() in (MISSING if text else MISSING_NUMBER) for c in cells])
        filled = np.array(cells, dtype=object)
        filled[gone] = BLANK if text else "0"
        column: NDArray[Any] = (self._names if text else self._numbers)(filled.tolist())
        column[gone] = "" if text else np.nan
        return column

    def finish(self) -> NDArray[Any]:
        """The whole column."""
        chunks, self._chunks = self._chunks, []
        if len(chunks) == 1:
            return chunks[0]
        return np.concatenate(chunks) if chunks else np.empty(0)

    def _numbers(self, cells: Sequence[str]) -> FloatArray:
        joined = "".join(cells)
        if "_" in joined or not joined.isascii():  # float() accepts more than numbers in a table
            self._check_numbers(cells)
        try:
            values = np.array(cells, dtype=np.float64)
        except ValueError:
            values = self._with_commas(cells)
        else:
            if "." in joined and not self.reading.dotted and self.reading.commas:
                self._note_dot(cells)
        if not np.isfinite(values).all():
            self._refuse(cells, int(np.flatnonzero(~np.isfinite(values))[0]))
        return values

    def _with_commas(self, cells: Sequence[str]) -> FloatArray:
        """Numbers with decimal commas, where they are allowed and all alike."""
        self._check_numbers(cells)
        reading = self.reading
        k = next(k for k, cell in enumerate(cells) if "," in cell)
        row = self.n_rows + k
        if not reading.comma:
            reading.comma = f"{cells[k].strip()!r} in {reading.place(row)}"
        if any("." in cell for cell in cells):
            self._note_dot(cells)
        if reading.dotted:
            raise reading.error(
                f"{cells[k].strip()!r} has a decimal comma, but {reading.dotted} has a point; "
                "write all numbers alike",
                row,
                self.name,
            )
        return np.array([cell.replace(",", ".") for cell in cells], dtype=np.float64)

    def _note_dot(self, cells: Sequence[str]) -> None:
        k = next(k for k, cell in enumerate(cells) if "." in cell)
        place = self.reading.place(self.n_rows + k)
        self.reading.dotted = f"{cells[k].strip()!r} in {place}, column {self.name!r},"
        if self.reading.comma:
            raise self.reading.error(
                f"{cells[k].strip()!r} has a decimal point, but {self.reading.comma} has a comma; "
                "write all numbers alike",
                self.n_rows + k,
                self.name,
            )

    def _check_numbers(self, cells: Sequence[str]) -> None:
        for k, cell in enumerate(cells):
            if not self._is_number(cell):
                self._refuse(cells, k)

    def _is_number(self, cell: str) -> bool:
        if NUMBER.fullmatch(cell):
            return True
        return self.reading.commas and WITH_COMMA.fullmatch(cell) is not None

    def _refuse(self, cells: Sequence[str], k: int) -> None:
        cell = cells[k].strip()
        if cell in MISSING_NUMBER:
            problem: str | Problem = missing(cell)
        elif WITH_COMMA.fullmatch(cell):
            problem = (
                f"{cell!r} is not a number: decimal commas are read only where semicolons or "
                "tabs separate the fields"
            )
        elif cell.lstrip("+-").casefold() in {"inf", "infinity"}:
            problem = f"{cell!r} is not finite; drop the row or fill in a number"
        else:
            problem = not_a_number(cell)
        raise self.reading.error(problem, self.n_rows + k, self.name)

    def _find_kind(self, cells: Sequence[str]) -> Kind:
        """A column of text may become a category, but not if it is numbers with a mistake."""
        try:
            np.array(cells, dtype=np.float64)
            return "number"
        except ValueError:
            pass
        first: dict[bool, int] = {}
        for k, cell in enumerate(cells):
            if cell.strip() not in MISSING_NUMBER:
                first.setdefault(self._is_number(cell), k)
        if len(first) == 2 and WITH_COMMA.fullmatch(cells[first[False]]):
            self._refuse(cells, first[False])
        if len(first) == 2:
            text, number = cells[first[False]].strip(), cells[first[True]].strip()
            raise self.reading.error(
                f"{shorten(text)} is not a number, but {number!r} in "
                f"{self.reading.place(self.n_rows + first[True])} is; correct the cell, leave the "
                "column out, or declare it categorical",
                self.n_rows + first[False],
                self.name,
                role="categorical",
            )
        return "text" if False in first else "number"

    def _names(self, cells: Sequence[str]) -> NDArray[Any]:
        names = [cell.strip() for cell in cells]
        if not MISSING.isdisjoint(names):
            k = next(k for k, name in enumerate(names) if name in MISSING)
            raise self.reading.error(missing(names[k]), self.n_rows + k, self.name)
        new = [name for name in set(names) if name not in self._seen]
        if self._may_be_numbers and self.n_rows:
            self._check_new(names, new)
        letters = sum(sys.getsizeof(name) for name in new)
        self.reading.budget.take(letters + NAME_BYTES * len(new), " with its names", self.name)
        keep = self._seen.setdefault
        column: NDArray[Any] = np.array([keep(name, name) for name in names], dtype=object)
        return column

    def _check_new(self, names: list[str], new: list[str]) -> None:
        for name in new:
            if self._is_number(name):
                raise self.reading.error(
                    f"{name!r} is a number, but the cells above hold names, such as "
                    f"{next(iter(self._seen))!r}; correct it, or declare the column categorical",
                    self.n_rows + names.index(name),
                    self.name,
                    role="categorical",
                )


def drop_rows(
    builders: Sequence[ColumnBuilder],
    columns: Sequence[Sequence[str]],
    missing: MissingRows,
) -> tuple[list[Sequence[str]], BoolArray]:
    """Leave out the rows with a missing value; gives the cells that stay, and which rows do."""
    marks = {
        builder.name: builder.missing(cells)
        for builder, cells in zip(builders, columns, strict=True)
    }
    stays = missing.keep(marks)
    if stays.all():
        return list(columns), stays
    return [list(itertools.compress(cells, stays)) for cells in columns], stays


def missing(cell: str) -> Problem:
    """What to do about a missing value."""
    found = f" (found {cell!r})" if cell else ""
    advice = "fill it in, or drop the row together with its own label"
    return Problem(f"the value is missing{found}", advice, "missing")


def not_a_number(cell: str) -> Problem:
    """A cell of text among numbers."""
    return Problem(f"{shorten(cell)} is not a number", role="number")


def shorten(cell: str) -> str:
    """A cell as it can be shown in one line."""
    return repr(cell if len(cell) <= 40 else cell[:37] + "...")
