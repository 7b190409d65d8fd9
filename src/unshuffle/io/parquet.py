"""Parquet files, read in row groups; pyarrow is loaded when they are."""

import glob
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.block_em import Features
from ..kernels.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    import pyarrow.parquet

NUMBERS_PER_BATCH = 1 << 20


class Chunk(NamedTuple):
    """Consecutive row groups of one file."""

    path: str
    row_groups: tuple[int, ...]
    n_rows: int
    first_row: int


@dataclass(frozen=True)
class Table:
    """Parquet files as one table.

    Attributes
    ----------
    files : tuple of str
    label : str
    group, known : str or None
    features : tuple of str
    dtype : str
        float32 where all features are, else float64.
    n_rows : int
    """

    files: tuple[str, ...]
    label: str
    group: str | None
    known: str | None
    features: tuple[str, ...]
    dtype: str
    n_rows: int

    def batches(self) -> Iterator[Features]:
        """Features, some rows at a time."""
        for batch in self._read(list(self.features)):
            columns = [_numbers(batch.column(j), name) for j, name in enumerate(self.features)]
            matrix = np.empty((batch.num_rows, len(columns)), dtype=self.dtype)
            for j, column in enumerate(columns):
                matrix[:, j] = column
            yield matrix

    def labels(self) -> FloatArray:
        """The labels of all rows."""
        y = np.empty(self.n_rows)
        for first, column in self._column(self.label):
            y[first : first + len(column)] = _numbers(column, self.label)
        return y

    def known_rows(self) -> BoolArray:
        """Rows whose label is surely their own."""
        known = np.zeros(self.n_rows, dtype=np.bool_)
        if self.known is not None:
            for first, column in self._column(self.known):
                known[first : first + len(column)] = _flags(column, self.known)
        return known

    def codes(self) -> IntArray:
        """Number of the group of each row, in order of first appearance."""
        codes = np.zeros(self.n_rows, dtype=np.int64)
        if self.group is None:
            return codes
        seen: dict[Any, int] = {}
        for first, column in self._column(self.group):
            if column.null_count:
                row = first + int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
                raise ValueError(
                    f"column {self.group!r} is missing in row {row}; every row needs a group: drop "
                    "such rows or give them a group of their own"
                )
            encoded = column.dictionary_encode()
            names = encoded.dictionary.to_pylist()
            if any(isinstance(name, float) and math.isnan(name) for name in names):
                raise ValueError(f"column {self.group!r} holds NaN; every row needs a group")
            lookup = np.array([seen.setdefault(name, len(seen)) for name in names], dtype=np.int64)
            codes[first : first + len(column)] = lookup[encoded.indices.to_numpy()]
        return codes

    def chunks(self, rows_per_chunk: int) -> list[Chunk]:
        """Row groups in order, a few at a time."""
        chunks, first = [], 0
        for path in self.files:
            metadata = _open(path).metadata
            group, n = list[int](), 0
            for k in range(metadata.num_row_groups):
                group.append(k)
                n += metadata.row_group(k).num_rows
                if n >= rows_per_chunk or k == metadata.num_row_groups - 1:
                    chunks.append(Chunk(path, tuple(group), n, first))
                    first, group, n = first + n, [], 0
        return chunks

    def columns(self) -> list[str]:
        """All columns that a fit reads."""
        rest = [name for name in (self.label, self.group, self.known) if name is not None]
        return [*self.features, *rest]

    def read(self, chunk: Chunk) -> "pyarrow.Table":
        """The rows of a chunk."""
        table = _open(chunk.path).read_row_groups(list(chunk.row_groups), columns=self.columns())
        for name in self.columns():
            if name != self.group:
                _check_missing(table.column(name), name)
        return table

    def _column(self, name: str) -> Iterator[tuple[int, Any]]:
        first = 0
        for batch in self._read([name]):
            yield first, batch.column(0)
            first += batch.num_rows

    def _read(self, columns: list[str]) -> Iterator[Any]:
        rows = max(NUMBERS_PER_BATCH // len(columns), 1)
        for path in self.files:
            yield from _open(path).iter_batches(rows, columns=columns)


def open_table(
    paths: str | Path | Sequence[str | Path],
    *,
    label: str,
    group: str | None = None,
    known: str | None = None,
    features: Sequence[str] | None = None,
) -> Table:
    """Look at the files and at their columns; nothing else is read.

    Where `features` are not named, they are all numeric columns that are nothing else.
    """
    import pyarrow as pa

    files = find_files(paths)
    schema = _open(files[0]).schema_arrow
    for path in files[1:]:
        if not _open(path).schema_arrow.equals(schema):
            raise ValueError(
                f"{path} has other columns than {files[0]}; all files must have the same columns "
                "of the same types"
            )
    taken = [name for name in (label, group, known) if name is not None]
    if features is None:
        found = [f.name for f in schema if _is_numeric(f.type) and f.name not in taken]
        features = [name for name in found if not name.startswith("__index_level_")]
    for name in (*features, *taken):
        if name not in schema.names:
            raise ValueError(
                f"there is no column {name!r} in {files[0]}; it has {', '.join(schema.names)}"
            )
    for name in (*features, label):
        if not _is_numeric(schema.field(name).type):
            raise ValueError(
                f"column {name!r} has type {schema.field(name).type}, which is not a number; "
                "encode it or leave it out"
            )
    if not features:
        raise ValueError(f"no feature is left beside {', '.join(taken)}; name the features")
    if label in features:
        raise ValueError(f"the label {label!r} cannot be a feature too")
    if known is not None and not pa.types.is_boolean(schema.field(known).type):
        raise ValueError(
            f"column {known!r} must hold true or false, got {schema.field(known).type}"
        )
    narrow = all(pa.types.is_float32(schema.field(name).type) for name in features)
    return Table(
        files,
        label,
        group,
        known,
        tuple(features),
        "float32" if narrow else "float64",
        sum(_open(path).metadata.num_rows for path in files),
    )


def find_files(paths: str | Path | Sequence[str | Path]) -> tuple[str, ...]:
    """Files as named; the contents of a folder and what a pattern matches in alphabetical order."""
    files = list[str]()
    for path in [paths] if isinstance(paths, str | Path) else paths:
        place = Path(path)
        if place.is_dir():
            found = sorted(str(file) for file in place.rglob("*.parquet"))
        elif place.exists():
            found = [str(place)]
        else:
            found = sorted(glob.glob(str(path), recursive=True))  # noqa: PTH207 (any folder)
        if not found:
            raise FileNotFoundError(f"there is no Parquet file at {path}")
        files += found
    if not files:
        raise ValueError("no Parquet file was named")
    return tuple(str(Path(file).resolve()) for file in files)


def _open(path: str) -> "pyarrow.parquet.ParquetFile":
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'pyarrow is missing; install it with: pip install "unshuffle[dask]"', name=error.name
        ) from error
    try:
        return pq.ParquetFile(path)
    except pa.ArrowInvalid as error:
        raise ValueError(f"{path} is no Parquet file: {error}") from error


def _is_numeric(kind: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_floating(kind) or pa.types.is_integer(kind))


def _numbers(column: Any, name: str) -> NDArray[Any]:
    _check_missing(column, name)
    return np.asarray(column.to_numpy(zero_copy_only=False))


def _flags(column: Any, name: str) -> BoolArray:
    _check_missing(column, name)
    return np.asarray(column.to_numpy(zero_copy_only=False), dtype=np.bool_)


def _check_missing(column: Any, name: str) -> None:
    if column.null_count:
        raise ValueError(
            f"column {name!r} has missing values; drop such rows on both sides (a label without "
            "its row belongs to nobody) or fill them in"
        )
