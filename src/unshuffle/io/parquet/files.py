"""Parquet files, opened within limits; a damaged one is one plain error that names it."""

import glob
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...exceptions import Problem, TableError
from ...kernels.types import IntArray
from ..settings import READ, ReadSettings
from ..tables.cells import missing
from ..tables.limits import Budget, make_budget
from ..tables.missing import MissingRows
from .sizes import check_description, check_pages, is_plain

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq


WAY_IN_PASSES = "write it again without compression and dictionaries"
WAY = f"choose fewer columns, {WAY_IN_PASSES}, or fit it in passes (a checkpoint, or Streaming)"


class Batch(NamedTuple):
    """Some rows of a file.

    Attributes
    ----------
    path : Path
    before : int
        Rows of the file above these.
    rows : pyarrow.RecordBatch or pyarrow.Table
    kept : array of int or None
        Numbers, among the rows that were read, of those in `rows`, where some are left out.
    """

    path: Path
    before: int
    rows: Any
    kept: IntArray | None = None

    def without_missing(self, columns: Sequence[str], missing: MissingRows) -> "Batch":
        """The rows that have a value in every column."""
        stays = missing.keep({name: self._is_missing(name) for name in columns})
        return self._replace(rows=self.rows.filter(stays), kept=np.flatnonzero(stays))

    def _is_missing(self, name: str) -> NDArray[np.bool_]:
        import pyarrow as pa
        import pyarrow.compute as pc

        values = self.rows.column(self.rows.schema.get_field_index(name))
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        blank = pc.is_null(values, nan_is_null=True)
        if is_text(values.type):
            blank = pc.or_(blank, pc.fill_null(pc.equal(pc.utf8_trim_whitespace(values), ""), True))
        return np.asarray(blank)

    def column(self, name: str) -> Any:
        """A column without missing values."""
        values = self.rows.column(self.rows.schema.get_field_index(name))
        if values.null_count:
            self.refuse(missing(""), np.asarray(values.is_null()), name)
        return values

    def numbers(self, name: str) -> NDArray[Any]:
        """A column of finite numbers: float32 where the file holds that, else float64."""
        import pyarrow as pa

        values = self.column(name)
        if pa.types.is_dictionary(values.type):
            values = values.cast(values.type.value_type)
        if not pa.types.is_float32(values.type):
            values = values.cast(pa.float64(), safe=False)
        numbers = np.asarray(values)
        finite = np.isfinite(numbers)
        if not finite.all():
            found = numbers[~finite][0]
            problem: str | Problem = f"{found} is not finite"
            if np.isnan(found):
                problem = missing("NaN")
            self.refuse(problem, ~finite, name)
        return numbers

    def refuse(self, problem: str | Problem, wrong: NDArray[np.bool_], name: str) -> None:
        """Raise an error that names the first row that is wrong."""
        row = int(np.argmax(wrong))
        place = f"row {self.before + (row if self.kept is None else int(self.kept[row])) + 1}"
        raise TableError(self.path, problem, place=place, column=name)


def find_files(paths: str | Path | Sequence[str | Path]) -> tuple[Path, ...]:
    """Files as named; the contents of a folder and what a pattern matches in alphabetical order."""
    files = list[Path]()
    for path in [paths] if isinstance(paths, str | Path) else paths:
        place = Path(path)
        if place.is_dir():
            found = sorted(place.rglob("*.parquet"))
        elif place.exists():
            found = [place]
        else:
            found = [Path(name) for name in sorted(glob.glob(str(path), recursive=True))]  # noqa: PTH207
        if not found:
            kind = "folder" if place.is_dir() else "path"
            raise FileNotFoundError(f"there is no Parquet file at the {kind} {path}")
        files += found
    if not files:
        raise ValueError("no Parquet file was named")
    return tuple(files)


def open_file(path: Path, settings: ReadSettings = READ) -> "pq.ParquetFile":
    """Open a file; what it declares of itself must stay within limits."""
    try:
        import pyarrow.parquet as pq
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            'Parquet files need pyarrow: pip install "unshuffle[frames]"', name=error.name
        ) from error
    with damage(path):
        check_description(path, settings)
        return pq.ParquetFile(
            _named(path),
            thrift_string_size_limit=settings.parquet_header,
            thrift_container_size_limit=settings.parquet_entries,
            pre_buffer=False,  # else the columns of the whole file are in memory at once
        )


class Coded(NamedTuple):
    """An open file, and which of its columns are read as codes."""

    file: Any
    columns: tuple[str, ...]


def open_coded(path: Path, columns: Sequence[str], settings: ReadSettings = READ) -> Coded:
    """Open a file to read some columns, texts as codes: one long text may stand in every row."""
    import pyarrow.parquet as pq

    file = open_file(path, settings)
    schema, metadata = file.schema_arrow, file.metadata
    text = {name for name in columns if is_text(schema.field(name).type)}
    with damage(path):
        for k in range(metadata.num_row_groups if text else 0):
            group = metadata.row_group(k)
            chunks = (group.column(j) for j in range(group.num_columns))
            text -= {chunk.path_in_schema for chunk in chunks if not is_plain(chunk)}
        coded = tuple(sorted(text))
        opened = pq.ParquetFile(
            _named(path), metadata=metadata, read_dictionary=coded, pre_buffer=False
        )
    return Coded(opened, coded)


def _named(path: Path) -> Any:
    """A path, or an open file where its name is not UTF-8, which pyarrow takes for granted."""
    import pyarrow as pa

    try:
        str(path).encode()
    except UnicodeEncodeError:
        return pa.OSFile(os.fsencode(path))
    return path


def is_text(kind: Any) -> bool:
    """Whether a column holds text, as it stands or as codes."""
    import pyarrow.types as kinds

    inner = kind.value_type if kinds.is_dictionary(kind) else kind
    return bool(kinds.is_string(inner) or kinds.is_large_string(inner))


def as_text(table: Any, budget: Budget) -> Any:
    """Codes of text as text; what each row then takes is counted first."""
    import pyarrow.compute as pc

    for j, field in enumerate(table.schema):
        if not is_text(field.type):
            continue
        for chunk in table.column(j).chunks:
            coded = chunk.dictionary_encode()
            lengths = np.asarray(pc.fill_null(pc.binary_length(coded.dictionary), 0))
            taken = int(lengths[np.asarray(pc.fill_null(coded.indices, 0))].sum(dtype=np.int64))
            budget.take(taken, " with its names", field.name)
        table = table.set_column(j, field.name, table.column(j).cast(field.type.value_type))
    return table


def table_budget(
    files: Sequence[Path], settings: ReadSettings = READ, way: str = WAY_IN_PASSES
) -> Budget:
    """What the table in some Parquet files may take in memory."""
    return make_budget(files, way, settings)


@contextmanager
def damage(path: Path) -> Iterator[None]:
    """Turn any error of pyarrow into one that names the file."""
    import pyarrow as pa

    try:
        yield
    except (pa.ArrowException, OSError) as error:
        first = str(error).splitlines()[0]
        raise TableError(path, f"cannot be read as Parquet: {first}") from error


def common_schema(files: Sequence[Path], settings: ReadSettings = READ) -> "pa.Schema":
    """Names and types of the columns, which all files must share."""
    schema = open_file(files[0], settings).schema_arrow
    for path in files[1:]:
        other = open_file(path, settings).schema_arrow
        if not other.equals(schema):
            raise TableError(
                path,
                f"{_difference(schema, other)} in {files[0]}; files of one table must have the "
                "same columns, in the same order and of the same types",
            )
    return schema


def read_batches(
    files: Sequence[Path],
    columns: Sequence[str],
    settings: ReadSettings = READ,
    budget: Budget | None = None,
) -> Iterator[Batch]:
    """Some columns of all files, in order; a file must hold as many rows as it declares."""
    budget = budget or table_budget(files, settings)
    at_once = max(settings.numbers_at_once // len(columns), 1)
    for path in files:
        (file, coded), done = open_coded(path, columns, settings), 0
        declared = file.metadata.num_rows
        with damage(path):
            longest = check_pages(file, path, columns, budget, coded)
            rows_at_once = min(at_once, max(settings.parquet_text // max(longest, 1), 1))
            for rows in file.iter_batches(rows_at_once, columns=list(columns)):
                if done + rows.num_rows > declared:
                    raise TableError(path, f"declares {declared} rows but holds more")
                yield Batch(path, done, rows)
                done += rows.num_rows
        if done != declared:
            raise TableError(path, f"declares {declared} rows but holds {done}")


def _difference(schema: "pa.Schema", other: "pa.Schema") -> str:
    """How the columns of a file differ from those of the first one."""
    for name in schema.names:
        if name not in other.names:
            return f"has no column {name!r}, which is"
    for field in other:
        if field.name not in schema.names:
            return f"has a column {field.name!r}, which is not"
        expected = schema.field(field.name).type
        if field.type != expected:
            return f"column {field.name!r} has type {field.type}, but type {expected}"
    return "has its columns in another order than"
