"""Where each row of a table stands in its file."""

import numpy as np

from ...kernels.types import BoolArray, IntArray


class Places:
    """The line or the row of a sheet on which each row of a table starts.

    Parameters
    ----------
    word : str
        What is counted: "line" or "row".
    """

    def __init__(self, word: str) -> None:
        self.n_rows = 0
        self._word = word
        self._chunks: list[IntArray] = []
        self._regular = True

    def add(self, starts: IntArray) -> None:
        """Append the places of some rows."""
        expected = self.n_rows + 2
        self._regular &= bool(starts[0] == expected and starts[-1] == expected + len(starts) - 1)
        self._chunks.append(starts)
        self.n_rows += len(starts)

    def keep(self, stays: BoolArray) -> None:
        """Leave out some of the rows that were added last."""
        last = self._chunks[-1][stays]
        self.n_rows += len(last) - len(stays)
        self._regular &= len(last) == len(stays)
        self._chunks[-1] = last

    def name(self, row: int) -> str:
        """The place of a row, counted from 0, as a person reads it."""
        for chunk in self._chunks:
            if row < len(chunk):
                return f"{self._word} {chunk[row]}"
            row -= len(chunk)
        raise IndexError(row)

    def irregular(self) -> IntArray | None:
        """The places, where they are not simply counted from 2."""
        return None if self._regular else np.concatenate(self._chunks)
