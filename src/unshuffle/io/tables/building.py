"""Columns of a table whose cells are text, built from one chunk of rows after another."""

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...exceptions import TableError
from ...kernels.types import IntArray
from .cells import CellContext, ColumnBuilder, Kind, drop_rows
from .limits import BYTES, CELL, Budget
from .missing import NONE_WHOLE, MissingRows
from .places import Places


def kinds_of(
    columns: Sequence[str], text: Collection[str], numbers: Collection[str]
) -> dict[str, Kind]:
    """What each column may hold: names, numbers, or either."""
    return {
        name: "text" if name in text else "number" if name in numbers else "either"
        for name in columns
    }


class ColumnBuilders:
    """The columns that are read.

    Parameters
    ----------
    path : Path
    kinds : dict of str to Kind
    places : Places
        Lines or rows of the file, for messages.
    budget : Budget
    blanks : collection of str
        Columns whose values may be missing.
    missing : MissingRows or None
        Counts rows that are left out; None where a missing value is an error.
    commas : bool
        Whether decimal commas are allowed: not where commas separate fields.
    """

    def __init__(
        self,
        path: Path,
        kinds: dict[str, Kind],
        places: Places,
        budget: Budget,
        *,
        blanks: Collection[str],
        missing: MissingRows | None,
        commas: bool,
    ) -> None:
        self.path, self.places, self.budget, self.missing = path, places, budget, missing
        reading = CellContext(path, places.name, commas, budget)
        self._builders = [
            ColumnBuilder(name, kind, reading, name in blanks) for name, kind in kinds.items()
        ]

    @property
    def kinds(self) -> list[Kind]:
        """What the columns hold, as far as that is known."""
        return [builder.kind for builder in self._builders]

    def take(self, n_rows: int) -> None:
        """Count the cells of some rows, and where they stand, before they are made."""
        self.budget.take(n_rows * (CELL * len(self._builders) + BYTES))

    def add(self, cells: list[Sequence[str]], numbers: IntArray) -> None:
        """Take cells by column, of rows with these numbers."""
        self.places.add(numbers)
        if self.missing is not None:
            cells, stays = drop_rows(self._builders, cells, self.missing)
            self.places.keep(stays)
        for builder, column in zip(self._builders, cells, strict=True):
            builder.add(column)

    def finish(self) -> dict[str, NDArray[Any]]:
        """The columns by name; a table without rows is refused."""
        if not self.places.n_rows:
            problem = NONE_WHOLE if self.missing else "has a header but no rows"
            raise TableError(self.path, problem)
        return {builder.name: builder.finish() for builder in self._builders}
