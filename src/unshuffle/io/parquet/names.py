"""Names of groups and categories from Parquet files, each made once and counted."""

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ..settings import READ
from ..tables.limits import NAME_BYTES, Budget
from .files import Batch, is_text

FEW_BYTES = 1 << 20  # of values that are converted together


@dataclass(eq=False)
class Names:
    """The names in one column, batch after batch.

    Attributes
    ----------
    column : str
    make : callable
        Of a batch and a value in it; gives what stands for the value.
    budget : Budget
    made : dict
        What stands for each value that was seen.
    """

    column: str
    make: Callable[[Batch, Any], Any]
    budget: Budget
    made: dict[Any, Any] = field(default_factory=dict)
    _last: Any = None
    _last_made: NDArray[Any] = field(default_factory=lambda: np.empty(0, dtype=object))

    def read(self, batch: Batch, column: Any = None) -> NDArray[Any]:
        """What stands for the value of each row; `column` in place of the batch's own."""
        column = batch.column(self.column) if column is None else column
        coded = column.dictionary_encode()
        values, codes = coded.dictionary, np.asarray(coded.indices)
        if len(values) > len(codes):  # the file's, of which these rows use a part
            used, codes = np.unique(codes, return_inverse=True)
            values = values.take(used)
        # Batches of one group of rows share their dictionary.
        if self._last is None or not values.equals(self._last):
            self._last, self._last_made = values, self._make(batch, values)
        return np.asarray(self._last_made[codes])

    def _make(self, batch: Batch, values: Any) -> NDArray[Any]:
        self._check_length(batch, values)
        found: NDArray[Any] = np.empty(len(values), dtype=object)
        for k, value in enumerate(_plain(values)):
            if value not in self.made:
                n_bytes = sys.getsizeof(value) + NAME_BYTES
                self.budget.take(n_bytes, " with its names", self.column)
                self.made[value] = self.make(batch, value)
            found[k] = self.made[value]
        return found

    def _check_length(self, batch: Batch, values: Any) -> None:
        import pyarrow.compute as pc

        if not is_text(values.type) or not len(values):
            return
        longest = int(pc.max(pc.binary_length(values)).as_py())
        if longest > READ.longest_field:
            raise TableError(
                batch.path,
                f"holds a text of {longest:,} bytes; names have at most {READ.longest_field:,}",
                column=self.column,
            )


def _plain(values: Any) -> Iterable[Any]:
    """Values of Python; one by one where they are long, so that a budget can end it in time."""
    if values.nbytes <= FEW_BYTES:
        plain: list[Any] = values.to_pylist()
        return plain
    return (value.as_py() for value in values)
