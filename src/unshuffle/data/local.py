"""Parts on this machine: slices of an array, or of a temporary file without a name."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from typing import IO, TypeVar

import numpy as np

from ..kernels.types import BoolArray, Features, FloatArray, IntArray
from .part import OnDisk, Part, make_part
from .settings import READ
from .threads import Workers

Answer = TypeVar("Answer")


class LocalParts:
    """Parts that threads of this process work on."""

    def __init__(self, parts: list[Part], workers: Workers) -> None:
        self.parts = parts
        self.workers = workers

    def map(self, function: Callable[..., Answer], *arguments: object, name: str) -> list[Answer]:
        """Ask every part; answers in their order."""
        return self.workers.map(lambda part: function(part, *arguments), self.parts)


def assign_groups(codes: IntArray, rows_per_part: int) -> IntArray:
    """Number of the part of each group: groups in order, parts of about `rows_per_part` rows."""
    sizes = np.bincount(codes)
    return (np.cumsum(sizes) - sizes) // rows_per_part


def slice_array(
    X: Features, y: FloatArray, codes: IntArray, known: BoolArray, rows_per_part: int
) -> list[Part]:
    """Parts that look into X, which is not copied."""
    part_of_row = assign_groups(codes, rows_per_part)[codes]
    order = np.argsort(part_of_row, kind="stable")
    limits = np.flatnonzero(np.diff(part_of_row[order], prepend=-1, append=-1))
    parts = []
    for first, last in pairwise(limits):
        numbers = order[first:last]
        low, high = int(numbers[0]), int(numbers[-1]) + 1  # ascending, since the sort is stable
        index = (numbers - low).astype(np.int32)
        parts.append(
            make_part(X[low:high], y[numbers], codes[numbers], numbers, known[numbers], index)
        )
    return parts


def spill(
    batches: Iterable[Features],
    shape: tuple[int, int],
    dtype: str,
    y: FloatArray,
    codes: IntArray,
    known: BoolArray,
    rows_per_part: int,
    file: IO[bytes],
) -> list[Part]:
    """Deal rows out to the parts of a file, in one reading of `batches`.

    Each part is written from front to back. In memory stand O(n) numbers and one batch.
    """
    part_of_group = assign_groups(codes, rows_per_part)
    used, part_of_group = np.unique(part_of_group, return_inverse=True)
    part_of_row = part_of_group[codes].astype(np.int32)
    ends = np.cumsum(np.bincount(part_of_row, minlength=len(used)))
    starts = np.append(0, ends[:-1])
    first, places = 0, starts.copy()
    for batch in batches:
        rows = np.asarray(batch, dtype=dtype)
        _deal(file, places, part_of_row[first : first + len(batch)], rows)
        first += len(batch)
    file.flush()
    if first != shape[0]:
        raise ValueError(f"{first} rows of features were read, but there are {shape[0]} labels")
    order = np.argsort(part_of_row, kind="stable")
    return [
        make_part(
            OnDisk(file, dtype, (len(numbers), shape[1]), int(start)),
            y[numbers],
            codes[numbers],
            numbers,
            known[numbers],
        )
        for start, numbers in zip(starts, np.split(order, ends[:-1]), strict=True)
    ]


def _deal(
    file: IO[bytes],
    places: IntArray,
    part_of_row: np.ndarray[tuple[int], np.dtype[np.int32]],
    batch: Features,
) -> None:
    """Write each row of a batch to the place of its part, counted in rows, which moves on."""
    width = batch.itemsize * batch.shape[1]
    order = np.argsort(part_of_row, kind="stable")
    limits = np.flatnonzero(np.diff(part_of_row[order], prepend=-1, append=-1))
    for first, last in pairwise(limits):
        rows = order[first:last]
        part = part_of_row[rows[0]]
        file.seek(int(places[part]) * width)
        file.write(np.ascontiguousarray(batch[rows]).data)
        places[part] += len(rows)


def batches_of(X: Features) -> Iterator[Features]:
    """Consecutive rows of an array."""
    rows = max(READ.numbers_per_batch // X.shape[1], 1)
    for first in range(0, len(X), rows):
        yield X[first : first + rows]
