"""Where the rows of a streamed fit come from, and how they become parts."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ..data import cluster
from ..data.groups import check_known, encode_groups
from ..data.local import LocalParts, batches_of, slice_array, spill
from ..data.numbers import as_floats
from ..data.part import Part, make_part
from ..data.survey import Parts
from ..data.threads import Workers
from ._validation import check_lengths, refuse_no_numbers
from .streaming import Streaming

if TYPE_CHECKING:
    from ..io.parquet import Chunk, ParquetPasses


@dataclass(frozen=True)
class SourceSettings:
    """When a table is read in passes."""

    large: int = 200_000_000  # numbers in X and y: 1.6 GB in double precision


SOURCES = SourceSettings()


class PassesSource(Protocol):
    """A table with labels and groups."""

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""

    @property
    def names(self) -> list[Any]:
        """Names of the features; numbers where they have none."""

    def parts(self, streaming: Streaming, n_jobs: int) -> Any:
        """Parts for the length of a fit, as a context manager."""


@dataclass(frozen=True, eq=False)
class ArraySource:
    """An array in memory or on disk."""

    X: NDArray[Any]
    y: Any
    groups: Any
    known: Any
    names: list[Any]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.X.shape[0], self.X.shape[1]

    @contextmanager
    def parts(self, streaming: Streaming, n_jobs: int) -> Iterator[Parts]:
        """Slices of the array; files where it is on disk and its groups are scattered."""
        if streaming.scheduler is not None:
            raise ValueError(
                "scheduler is for Dask collections and Parquet files; an array is fitted on the "
                "machine that it is on"
            )
        check_lengths(self.X, self.y, self.groups)
        y = as_floats(self.y, "y")
        if y.ndim != 1:
            raise ValueError(f"y must hold one number per row, got shape {y.shape}")
        codes, known = encode_groups(self.groups, len(y)), check_known(self.known, len(y))
        size = streaming.rows_per_part
        direct = self.X.flags.c_contiguous and self.X.dtype in (np.float32, np.float64)
        with Workers(n_jobs) as workers:
            if direct and (_in_memory(self.X) or np.all(codes[:-1] <= codes[1:])):
                yield LocalParts(slice_array(self.X, y, codes, known, size), workers)
                return
            dtype = "float32" if self.X.dtype == np.float32 else "float64"
            # A file without a name: the system removes it however the process ends.
            with tempfile.TemporaryFile(dir=streaming.folder) as file:
                batches = batches_of(self.X)
                cut = spill(batches, self.shape, dtype, y, codes, known, size, file)
                yield LocalParts(cut, workers)


@dataclass(frozen=True, eq=False)
class ParquetSource:
    """Parquet files, on this machine or read by the workers of a cluster."""

    table: "ParquetPasses"

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return self.table.n_rows, len(self.table.features)

    @property
    def names(self) -> list[Any]:
        """Names of the features."""
        return list(self.table.features)

    @contextmanager
    def parts(self, streaming: Streaming, n_jobs: int) -> Iterator[Parts]:
        """Files of whole groups, or parts on workers."""
        if streaming.scheduler is not None:
            with cluster.connected(streaming.scheduler, n_jobs) as client:
                chunks = self.table.chunks(streaming.rows_per_part)
                read = partial(read_chunk, self.table)
                frame = cluster.frame_from_files(read, chunks, read(chunks[0]).iloc[:0])
                yield cluster.bring_groups_together(
                    client, frame, self.names, self.table.n_rows, part_of
                )
            return
        table = self.table
        with (
            Workers(n_jobs) as workers,
            tempfile.TemporaryFile(dir=streaming.folder) as file,
        ):
            cut = spill(
                table.batches(), self.shape, table.dtype, table.labels(), table.codes(),
                table.known_rows(), streaming.rows_per_part, file,
            )  # fmt: skip
            yield LocalParts(cut, workers)


@dataclass(frozen=True, eq=False)
class DaskSource:
    """A Dask data frame with columns for labels, groups and known rows."""

    frame: Any
    names: list[Any]
    sizes: list[int]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and features."""
        return sum(self.sizes), len(self.names)

    @contextmanager
    def parts(self, streaming: Streaming, n_jobs: int) -> Iterator[Parts]:
        """Parts on the workers of a cluster."""
        with cluster.connected(streaming.scheduler, n_jobs) as client:
            frame = cluster.number_rows(self.frame, self.sizes)
            yield cluster.bring_groups_together(client, frame, self.names, self.shape[0], part_of)


def find_source(
    streaming: Any, X: Any, y: Any, groups: Any, known: Any, settings: SourceSettings = SOURCES
) -> PassesSource | None:
    """The source of a fit in passes; None where the fit is in memory."""
    wanted = isinstance(streaming, Streaming)
    if streaming != "never" and cluster.is_dask(X):
        frame, names = cluster.table_of(X, y, groups, known)
        # Counted once, since counting reads the data, and on the joined table, since a selection
        # of columns can be cut into other partitions than the table.
        sizes = cluster.partition_sizes(frame)
        if wanted or is_large(sum(sizes), len(names), settings):
            return DaskSource(frame, names, sizes)
        return None
    if wanted or (streaming == "auto" and is_large(*shape_of(X), settings)):
        return array_source(X, y, groups, known)
    return None


def reads_in_passes(streaming: Any, X: Any, settings: SourceSettings = SOURCES) -> bool:
    """Whether a fit reads its data in passes: as asked for, or by the size of X."""
    if isinstance(streaming, Streaming):
        return True
    return streaming == "auto" and is_large(*shape_of(X), settings)


def arbitrary_groups(X: Any, rows_per_part: int) -> Any:
    """Groups that only cut the rows into parts."""
    if cluster.is_dask(X):
        return cluster.partition_numbers(X)
    return np.arange(len(X)) // rows_per_part


def array_source(X: Any, y: Any, groups: Any, known: Any) -> PassesSource:
    """An array or a data frame, in memory or on disk."""
    refuse_no_numbers(X, "X")
    matrix = np.asarray(X)
    if matrix.ndim != 2 or matrix.dtype.kind not in "fiub":
        raise ValueError(
            f"X must be a table of numbers, got {matrix.ndim} dimension(s) of type {matrix.dtype}"
        )
    columns = getattr(X, "columns", range(matrix.shape[1]))
    return ArraySource(matrix, y, groups, known, list(columns))


def into_memory(estimator: Any, *data: Any, settings: SourceSettings = SOURCES) -> tuple[Any, ...]:
    """Dask collections as arrays and data frames of this process, if they are small enough."""
    if not any(cluster.is_dask(item) for item in data):
        return data
    # An estimator that can read in passes has already chosen not to.
    n, d = (0, 0) if hasattr(estimator, "streaming") else shape_of(data[0])
    if is_large(n, d, settings):
        raise ValueError(
            f"{type(estimator).__name__} holds its data in memory, and {n} rows of {d} "
            "features are more than it takes from Dask; use StochasticEMRegressor, which reads "
            "them in passes, or fit a sample"
        )
    return cluster.compute_together(*data)


def shape_of(X: Any) -> tuple[int, int]:
    """Rows and columns of a table; lists are small."""
    if cluster.is_dask(X):
        return sum(cluster.partition_sizes(X)), cluster.n_columns(X)
    shape: tuple[Any, ...] = getattr(X, "shape", ())
    return (int(shape[0]), int(shape[1])) if len(shape) == 2 else (0, 0)


def is_large(n: int, d: int, settings: SourceSettings = SOURCES) -> bool:
    """Whether a table is read in passes; its size alone decides, not where it is."""
    return n * (d + 1) > settings.large


def record_features(estimator: Any, source: PassesSource) -> None:
    """Set what scikit-learn records of the features."""
    estimator.n_features_in_ = source.shape[1]
    if all(isinstance(name, str) for name in source.names):
        estimator.feature_names_in_ = np.asarray(source.names, dtype=object)


def part_of(piece: cluster.Piece) -> Part:
    """The part that rows on a worker make up."""
    return make_part(piece.X, piece.y, piece.codes, piece.numbers, piece.known)


def read_chunk(table: "ParquetPasses", chunk: "Chunk") -> Any:
    """Rows of a file as a numbered data frame, for a worker to shuffle."""
    names = {
        table.label: cluster.LABEL,
        table.group: cluster.GROUP,
        table.known: cluster.KNOWN,
    }
    return table.read_chunk(chunk, names, cluster.NUMBER)


def _in_memory(X: NDArray[Any]) -> bool:
    base: Any = X
    while base is not None:
        if isinstance(base, np.memmap):
            return False
        base = getattr(base, "base", None)
    return True
