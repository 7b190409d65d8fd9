"""Rows in which a value is missing: left out where the user asks for it, and counted."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...kernels.types import BoolArray, IntArray

NONE_WHOLE = "every row misses a value in one of the columns"


@dataclass(eq=False)
class MissingRows:
    """Which rows of a table are left out because a value in them is missing.

    Attributes
    ----------
    n_rows : int
        Rows seen, kept or not.
    by_column : dict
        How many values are missing in each column that has some; a row may miss several.
    """

    n_rows: int = 0
    by_column: dict[str, int] = field(default_factory=dict)
    _kept: list[IntArray] = field(default_factory=list)

    @property
    def kept(self) -> IntArray:
        """Numbers of the rows that stay, counted from 0."""
        return np.concatenate(self._kept) if self._kept else np.empty(0, dtype=np.int64)

    @property
    def n_dropped(self) -> int:
        """Rows that are left out."""
        return self.n_rows - sum(map(len, self._kept))

    def append(self, further: "MissingRows") -> None:
        """Add the rows of a table that stands below."""
        self._kept += [self.n_rows + rows for rows in further._kept]
        self.n_rows += further.n_rows
        for name, count in further.by_column.items():
            self.by_column[name] = self.by_column.get(name, 0) + count

    def keep(self, missing: Mapping[str, NDArray[Any]]) -> BoolArray:
        """Count the missing values of some further rows, by column; gives the rows that stay."""
        stays = ~np.any(list(missing.values()), axis=0)
        for name, column in missing.items():
            if column.any():
                self.by_column[name] = self.by_column.get(name, 0) + int(column.sum())
        self._kept.append(self.n_rows + np.flatnonzero(stays))
        self.n_rows += len(stays)
        return np.asarray(stays)
