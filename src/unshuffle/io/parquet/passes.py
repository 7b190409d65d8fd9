"""Parquet files read in passes: labels, groups and features by themselves, or chunks of rows."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ...exceptions import TableError
from ...kernels.types import BoolArray, Features, FloatArray, IntArray
from ..settings import READ
from ..tables.cells import missing
from ..tables.limits import BYTES, check_size
from ..tables.roles import Roles, choose_features
from .files import (
    WAY,
    Batch,
    as_text,
    damage,
    find_files,
    open_coded,
    open_file,
    read_batches,
    table_budget,
)
from .names import Names
from .sizes import check_pages
from .table import ParquetFiles


class Chunk(NamedTuple):
    """Consecutive row groups of one file."""

    path: Path
    row_groups: tuple[int, ...]
    n_rows: int
    first_row: int


@dataclass(frozen=True)
class ParquetPasses:
    """Parquet files as one table of numbers; small enough to be sent to a worker.

    Attributes
    ----------
    files : tuple of Path
    label : str
    group, known : str or None
    features : tuple of str
    dtype : str
        float32 where all features are, else float64.
    n_rows : int
    """

    files: tuple[Path, ...]
    label: str
    group: str | None
    known: str | None
    features: tuple[str, ...]
    dtype: str
    n_rows: int

    def batches(self) -> Iterator[Features]:
        """Features, some rows at a time."""
        for batch in read_batches(self.files, self.features):
            matrix = np.empty((batch.rows.num_rows, len(self.features)), dtype=self.dtype)
            for j, name in enumerate(self.features):
                matrix[:, j] = batch.numbers(name)
            yield matrix

    def read_features(self) -> Features:
        """All features at once, for a table that fits into memory."""
        check_size(self.files[0], self.n_rows, len(self.features))
        budget = table_budget(self.files, way=WAY)
        budget.take(BYTES * self.n_rows * len(self.features))
        X = np.empty((self.n_rows, len(self.features)), dtype=self.dtype)
        first = 0
        for batch in self.batches():
            X[first : first + len(batch)] = batch
            first += len(batch)
        return X

    def labels(self) -> FloatArray:
        """The labels of all rows."""
        y = np.empty(self.n_rows)
        for rows, batch in self._column(self.label):
            y[rows] = batch.numbers(self.label)
        return y

    def known_rows(self) -> BoolArray:
        """Rows whose label is surely their own."""
        known = np.zeros(self.n_rows, dtype=np.bool_)
        if self.known is not None:
            for rows, batch in self._column(self.known):
                known[rows] = np.asarray(batch.column(self.known))
        return known

    def codes(self) -> IntArray:
        """Number of the group of each row, in order of first appearance."""
        codes = np.zeros(self.n_rows, dtype=np.int64)
        if self.group is None:
            return codes
        seen: dict[Any, int] = {}
        number = partial(_number, self.group, seen)
        names = Names(self.group, number, table_budget(self.files), seen)
        for rows, batch in self._column(self.group):
            codes[rows] = names.read(batch)
        return codes

    def chunks(self, rows_per_chunk: int) -> list[Chunk]:
        """Row groups in order, a few at a time."""
        chunks, first = [], 0
        for path in self.files:
            metadata = open_file(path).metadata
            group, n = list[int](), 0
            for k in range(metadata.num_row_groups):
                group.append(k)
                n += metadata.row_group(k).num_rows
                if n >= rows_per_chunk or k == metadata.num_row_groups - 1:
                    chunks.append(Chunk(path, tuple(group), n, first))
                    first, group, n = first + n, [], 0
        return chunks

    def read_chunk(self, chunk: Chunk, names: Mapping[str | None, str], number: str) -> Any:
        """The rows of a chunk as a data frame with some columns renamed and one of row numbers."""
        others = [name for name in (self.label, self.group, self.known) if name is not None]
        columns = [*self.features, *others]
        file, coded = open_coded(chunk.path, columns)
        above = [file.metadata.row_group(k).num_rows for k in range(chunk.row_groups[0])]
        budget = table_budget([chunk.path])
        budget.take(BYTES * chunk.n_rows * len(columns))
        with damage(chunk.path):
            check_pages(file, chunk.path, columns, budget, coded)
            table = file.read_row_groups(list(chunk.row_groups), columns=columns)
            table = as_text(table, budget)
        batch = Batch(chunk.path, sum(above), table)
        for name in (*self.features, self.label):
            batch.numbers(name)
        if self.known is not None:
            batch.column(self.known)
        frame = table.to_pandas(ignore_metadata=True).rename(columns=dict(names))
        return frame.assign(**{number: np.arange(chunk.first_row, chunk.first_row + len(frame))})

    def _column(self, name: str) -> Iterator[tuple[slice, Batch]]:
        first = 0
        for batch in read_batches(self.files, [name]):
            yield slice(first, first + batch.rows.num_rows), batch
            first += batch.rows.num_rows


def open_passes(
    paths: str | Path | Sequence[str | Path],
    *,
    label: str,
    group: str | None = None,
    known: str | None = None,
    features: Sequence[str] | None = None,
) -> ParquetPasses:
    """Check the files and their columns; no row is read.

    Where `features` is None, they are all columns without another role. All must be numbers.
    """
    if features is not None and not features:
        raise ValueError("features names no column; name at least one, or leave it out")
    files = ParquetFiles(tuple(path.resolve() for path in find_files(paths)))
    chosen = choose_features(files, Roles(label, tuple(features or ()), group, known))
    import pyarrow.types as kinds

    types = {name: files.schema.field(name).type for name in files.names}
    wrong = [n for n in (label, *chosen) if not _is_number(types[n])]
    if label in wrong:
        raise TableError(
            files.path, f"holds {_kind(types[label])}, but labels must be numbers", column=label
        )
    if wrong:
        listed = ", ".join(f"{name!r} ({_kind(types[name])})" for name in wrong)
        raise TableError(
            files.path,
            f"these columns hold no numbers: {listed}; encode them as numbers first, or name the "
            "features without them",
            role="features",
        )
    if known is not None and not kinds.is_boolean(types[known]):
        raise TableError(files.path, f"must hold true or false, got {types[known]}", column=known)
    if group is not None and kinds.is_nested(types[group]):
        raise TableError(
            files.path, f"is nested ({types[group]}); groups must be single values", column=group
        )
    narrow = all(kinds.is_float32(types[name]) for name in chosen)
    dtype = "float32" if narrow else "float64"
    check_size(files.path, files.n_rows, 2)  # labels, and as many numbers of groups
    table_budget(files.files).take(READ.bytes_in_passes * files.n_rows)
    return ParquetPasses(files.files, label, group, known, tuple(chosen), dtype, files.n_rows)


def _number(column: str, seen: dict[Any, int], batch: Batch, name: Any) -> int:
    """The number of a group that was not seen before."""
    if isinstance(name, float) and math.isnan(name):
        batch.refuse(missing("NaN"), np.isnan(batch.column(column)), column)
    return len(seen)


def _is_number(kind: Any) -> bool:
    import pyarrow.types as kinds

    return bool(kinds.is_floating(kind) or kinds.is_integer(kind))


def _kind(column_type: Any) -> str:
    """What a column holds, in the same words for every way to store it."""
    import pyarrow.types as kinds

    if kinds.is_dictionary(column_type):
        return _kind(column_type.value_type)
    if kinds.is_string(column_type) or kinds.is_large_string(column_type):
        return "text"
    return "dates" if kinds.is_temporal(column_type) else str(column_type)
