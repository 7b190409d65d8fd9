"""A part of the data: whole groups, arranged the same way whatever the partition."""

import mmap
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.block_em import PartRows, SmallIntArray
from ..kernels.match import rank_inside
from ..kernels.types import BoolArray, Features, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class OnDisk:
    """A matrix in an open file, mapped only while it is used.

    Attributes
    ----------
    file : binary file
        May have no name: it lives as long as it is open.
    dtype : str
    shape : tuple
    first : int
        Rows of the file before those of the matrix.
    """

    file: IO[bytes]
    dtype: str
    shape: tuple[int, int]
    first: int

    def open(self) -> Features:
        """Map the rows."""
        width = np.dtype(self.dtype).itemsize * self.shape[1]
        start, size = self.first * width, self.shape[0] * width
        before = start % mmap.ALLOCATIONGRANULARITY
        mapped = mmap.mmap(
            self.file.fileno(), size + before, access=mmap.ACCESS_READ, offset=start - before
        )
        matrix: Features = np.ndarray(self.shape, self.dtype, mapped, before)
        return matrix


@dataclass(frozen=True, eq=False)
class Part:
    """Some of the groups, with all their rows.

    Blocks come first (the rows of a group that can exchange labels, in the order of the whole
    table), then pinned rows. A block's stream is keyed by the number of its first row in the
    whole table, so that neither the cut into parts nor the names of the groups matter.

    Attributes
    ----------
    X : array of shape (m, d), m >= n, or OnDisk
        Features, float32 or float64.
    rows : PartRows
    numbers : array of shape (n,)
        Number of each arranged row in the whole table.
    n_groups : int
        Groups as the user counts them, pinned ones included.
    """

    X: Features | OnDisk
    rows: PartRows
    numbers: IntArray
    n_groups: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.rows.y)

    @property
    def n_movable(self) -> int:
        """Number of rows that can exchange labels."""
        return int(self.rows.starts[-1])

    @property
    def largest_block(self) -> int:
        """Rows of the largest block."""
        return int(np.diff(self.rows.starts).max(initial=0))

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return int(self.X.shape[1])

    def features(self) -> Features:
        """X as an array that compiled code takes."""
        matrix: Features = read_only(self.X.open() if isinstance(self.X, OnDisk) else self.X)
        return matrix

    def frozen_rows(self) -> PartRows:
        """The rows as arrays that compiled code takes."""
        return PartRows(*(read_only(field) for field in self.rows))


def read_only(array: NDArray[Any]) -> NDArray[Any]:
    """A view that cannot be written to.

    Arrays that came over a network or from a file cannot, others can; compiled code would
    need a version for either.
    """
    view = np.asarray(array).view()
    view.flags.writeable = False
    return view


def make_part(
    X: Features | OnDisk,
    y: FloatArray,
    codes: IntArray,
    numbers: IntArray,
    known: BoolArray,
    index: SmallIntArray | None = None,
) -> Part:
    """Arrange the rows of whole groups.

    Parameters
    ----------
    X : array or OnDisk
        Features; row i of the other arguments is row ``index[i]`` of it (row i by default).
    y : array of shape (n,)
    codes : array of shape (n,)
        Group of each row: any integers.
    numbers : array of shape (n,)
        Number of each row in the whole table.
    known : array of shape (n,)
        True where the label is surely the row's own.
    """
    _, codes = np.unique(codes, return_inverse=True)
    n_groups = int(codes.max(initial=-1)) + 1
    movable = np.bincount(codes[~known], minlength=n_groups)
    pinned = known | (movable[codes] < 2)
    order = np.lexsort((numbers, np.where(pinned, n_groups, codes)))
    sizes = movable[movable >= 2]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    y, numbers = np.asarray(y, dtype=np.float64)[order], numbers[order]
    ranked = np.empty(len(y), dtype=np.int64)
    rank_inside(y, starts, ranked)
    local = ranked[: starts[-1]] - np.repeat(starts[:-1], sizes)
    rows = PartRows(
        (order if index is None else index[order]).astype(np.int32),
        y,
        local.astype(np.int32),
        starts,
        numbers[starts[:-1]],
    )
    return Part(X, rows, numbers, n_groups)
