"""Columns that were read, and how to name a row of theirs to a person."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ...kernels.types import BoolArray, FloatArray, IntArray

TRUE = frozenset({"1", "true", "t", "yes", "y"})
FALSE = frozenset({"0", "false", "f", "no", "n"})


@dataclass(frozen=True, eq=False)
class Table:
    """Some columns of a file.

    Attributes
    ----------
    path : Path
    columns : dict of arrays
        float64 for numbers (finite ones), object for text.
    n_rows : int
    is_text : bool
        Whether rows are lines of a text file.
    lines : array of shape (n_rows,) or None
        Line on which each row begins, where that is not the number of the row plus two.
    first_row : int
        What the first row is called, where rows are not lines: 1 in files, 0 in Python.
    """

    path: Path
    columns: dict[str, NDArray[Any]]
    n_rows: int
    is_text: bool = False
    lines: IntArray | None = None
    first_row: int = 1

    def place(self, row: int) -> str:
        """Where a row (counted from 0) stands in the file."""
        if not self.is_text:
            return f"row {row + self.first_row}"
        return f"line {row + 2 if self.lines is None else self.lines[row]}"

    def is_number(self, name: str) -> bool:
        """Whether a column holds numbers rather than text."""
        return self.columns[name].dtype.kind == "f"

    def numbers(self, name: str) -> FloatArray:
        """A column of numbers; anything else is refused."""
        values = self.columns[name]
        if not self.is_number(name):
            raise TableError(
                self.path, f"{values[0]!r} is not a number", place=self.place(0), column=name
            )
        return values

    def truths(self, name: str) -> BoolArray:
        """A column of yes and no, however they are written."""
        words = [str(value).strip().casefold() for value in self.columns[name]]
        for row, word in enumerate(words):
            if word not in TRUE | FALSE:
                raise TableError(
                    self.path,
                    f"{self.columns[name][row]!r} is neither true nor false; write 1 or 0",
                    place=self.place(row),
                    column=name,
                )
        return np.array([word in TRUE for word in words])

    def probabilities(self, name: str) -> FloatArray:
        """A column of numbers between 0 and 1."""
        values = self.numbers(name)
        wrong = np.flatnonzero((values < 0.0) | (values > 1.0))
        if len(wrong):
            raise TableError(
                self.path,
                f"{values[wrong[0]]:g} is not a probability between 0 and 1",
                place=self.place(int(wrong[0])),
                column=name,
            )
        return values
