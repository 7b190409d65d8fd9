"""Columns that were read, and how to name a row of theirs to a person."""

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import Problem, TableError
from ...kernels.types import BoolArray, FloatArray, IntArray
from .limits import Budget
from .missing import MissingRows

TRUE = frozenset({"1", "true", "t", "yes", "y"})
FALSE = frozenset({"0", "false", "f", "no", "n"})


@dataclass(frozen=True, eq=False)
class ColumnTable:
    """Some columns of a file, or of several files one below the other.

    Attributes
    ----------
    path : Path
        The file, or the first of several.
    columns : dict of arrays
        float64 for numbers (finite ones), object for text.
    n_rows : int
    is_text : bool
        Whether rows are lines of a text file.
    lines : array of shape (n_rows,) or None
        Line on which each row starts, where that is not the number of the row plus two.
    first_row : int
        Number of the first row, where rows are not lines: 1 in files, 0 in Python.
    pieces : tuple of (Path, int)
        Each file and the number of its rows, where there are several.
    budget : Budget or None
        What the table may take in memory, and what it has taken; None where no file holds it.
    missing : MissingRows or None
        The rows that were left out because a value in them is missing.
    remarks : tuple of str
        What a person should know about how the file was read.
    """

    path: Path
    columns: dict[str, NDArray[Any]]
    n_rows: int
    is_text: bool = False
    lines: IntArray | None = None
    first_row: int = 1
    pieces: tuple[tuple[Path, int], ...] = ()
    budget: Budget | None = None
    missing: MissingRows | None = None
    remarks: tuple[str, ...] = ()

    @cached_property
    def rows(self) -> IntArray:
        """Number of each row in its file or files, counted from 0."""
        return np.arange(self.n_rows) if self.missing is None else self.missing.kept

    @property
    def title(self) -> str:
        """Name of the file, or of the first one and the number of others."""
        more = len(self.pieces) - 1
        return f"{self.path.name} and {more} more" if more > 0 else self.path.name

    def error(self, problem: str | Problem, row: int, column: str) -> TableError:
        """An error that names the file and the place of a row (counted from 0)."""
        path, place = self.path, self.place(row)
        row = int(self.rows[row])
        for piece, n_rows in self.pieces:
            path, place = piece, f"row {row + self.first_row}"
            if row < n_rows:
                break
            row -= n_rows
        return TableError(path, problem, place=place, column=column)

    def place(self, row: int) -> str:
        """Where a row (counted from 0) stands in the table."""
        if not self.is_text:
            return f"row {self.rows[row] + self.first_row}"
        return f"line {row + 2 if self.lines is None else self.lines[row]}"

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers rather than text."""
        return self.columns[name].dtype.kind == "f"

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers; anything else is refused."""
        values = self.columns[name]
        if not self.is_number(name):
            raise self.error(Problem(f"{values[0]!r} is not a number", role="number"), 0, name)
        return values

    def truths(self, name: str) -> BoolArray:
        """A column of true and false, however they are written."""
        column = self.columns[name]
        truth: dict[Any, bool] = {}
        for value in dict.fromkeys(column):  # each once, however many rows hold it
            word = str(value).strip().casefold()
            if word not in TRUE | FALSE:
                row = int(np.flatnonzero(column == value)[0])
                raise self.error(f"{value!r} is neither true nor false; write 1 or 0", row, name)
            truth[value] = word in TRUE
        return np.array([truth[value] for value in column])

    def probabilities(self, name: str) -> FloatArray:
        """A column of numbers between 0 and 1."""
        values = self.numbers(name)
        wrong = np.flatnonzero((values < 0.0) | (values > 1.0))
        if len(wrong):
            found = values[wrong[0]]
            problem = f"{found:g} is not a probability between 0 and 1"
            raise self.error(problem, int(wrong[0]), name)
        return values
