"""Parts on this machine: slices of an array, or files in a temporary folder."""

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import TypeVar

import numpy as np

from ..kernels.block_em import Features
from ..kernels.types import BoolArray, FloatArray, IntArray
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
    folder: Path,
) -> list[Part]:
    """Deal rows out to one file per part, in one reading of `batches`.

    Everything is written from front to back. In memory stand O(n) numbers and one batch.
    """
    part_of_group = assign_groups(codes, rows_per_part)
    used, part_of_group = np.unique(part_of_group, return_inverse=True)
    part_of_row = part_of_group[codes].astype(np.int32)
    paths = [folder / f"part-{k}" for k in range(len(used))]
    first = 0
    for batch in batches:
        _append(paths, part_of_row[first : first + len(batch)], np.asarray(batch, dtype=dtype))
        first += len(batch)
    if first != shape[0]:
        raise ValueError(f"{first} rows of features were read, but there are {shape[0]} labels")
    order = np.argsort(part_of_row, kind="stable")
    ends = np.cumsum(np.bincount(part_of_row, minlength=len(paths)))
    return [
        make_part(
            OnDisk(path, dtype, (len(numbers), shape[1])),
            y[numbers],
            codes[numbers],
            numbers,
            known[numbers],
        )
        for path, numbers in zip(paths, np.split(order, ends[:-1]), strict=True)
    ]


def _append(
    paths: list[Path], part_of_row: np.ndarray[tuple[int], np.dtype[np.int32]], batch: Features
) -> None:
    """Write each row of a batch to the end of its part's file."""
    order = np.argsort(part_of_row, kind="stable")
    limits = np.flatnonzero(np.diff(part_of_row[order], prepend=-1, append=-1))
    for first, last in pairwise(limits):
        rows = order[first:last]
        with paths[part_of_row[rows[0]]].open("ab") as file:
            np.ascontiguousarray(batch[rows]).tofile(file)


def batches_of(X: Features) -> Iterator[Features]:
    """Consecutive rows of an array."""
    rows = max(READ.numbers_per_batch // X.shape[1], 1)
    for first in range(0, len(X), rows):
        yield X[first : first + rows]
