"""Columns to files, in one step each."""

import csv
import gzip
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ..outputs import FileKind, Output
from .source import PARQUET, TableSource, is_parquet, open_table
from .text import TextFile

SEPARATORS = {".csv": ",", ".tsv": "\t"}
TABLE = FileKind("a table")  # a table has no place for a mark


def check_writable_kind(path: Path) -> str:
    """Kind of a file to write, by its name: csv, tsv or parquet."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    zipped = suffixes[-1:] == [".gz"]
    kind = "".join(suffixes[-2:-1] if zipped else suffixes[-1:])
    if kind in SEPARATORS or (kind in PARQUET and not zipped):
        return kind
    raise TableError(path, "tables are written as .csv, .tsv, .csv.gz, .tsv.gz or .parquet")


def write_table(output: Output, columns: Mapping[str, NDArray[Any]]) -> None:
    """Write columns of equal length as the name of the file says."""
    kind = check_writable_kind(output.path)
    with output.replacing() as part:
        if kind in SEPARATORS:
            with _text(part, output.path) as file:
                write_rows(file, columns, SEPARATORS[kind])
        else:
            import pyarrow as pa
            import pyarrow.parquet as pq

            table = pa.table({name: _native(values) for name, values in columns.items()})
            pq.write_table(table, part)


def write_rows(file: IO[str], columns: Mapping[str, NDArray[Any]], separator: str = ",") -> None:
    """Write columns of equal length as text; missing numbers are left blank."""
    writer = csv.writer(file, delimiter=separator, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(zip(*(_cells(values) for values in columns.values()), strict=True))


def as_csv(columns: Mapping[str, NDArray[Any]]) -> bytes:
    """Columns of equal length as the bytes of a CSV file."""
    file = io.StringIO()
    write_rows(file, columns)
    return file.getvalue().encode()


def write_with_labels(
    source_path: Path, label: str, permutation: NDArray[np.int64], output: Output
) -> None:
    """Copy a table, cell by cell, with the labels in another order; the original stays."""
    source = check_copy(source_path, output.path)
    if isinstance(source, TextFile):
        separator = SEPARATORS[check_writable_kind(output.path)]
        _copy_text(source, label, permutation, output, separator)
    else:
        _copy_parquet(source_path, label, permutation, output)


def check_copy(source_path: Path, out: Path) -> TableSource:
    """Refuse to write another kind than the original is."""
    source = open_table(source_path)
    is_text = check_writable_kind(out) in SEPARATORS
    if not (isinstance(source, TextFile) if is_text else is_parquet(source_path)):
        raise TableError(
            out, f"must be of the same kind as {source_path.name}: text to text, Parquet to Parquet"
        )
    return source


def _copy_text(
    source: TextFile, label: str, permutation: NDArray[np.int64], output: Output, separator: str
) -> None:
    j = source.names.index(label)
    labels = [row[j] for rows, _ in source.chunks() for row in rows]
    moved = iter([labels[k] for k in permutation])
    if source.separator == ";":
        separator = ";"
    with output.replacing() as part, _text(part, output.path) as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        writer.writerow(source.names)
        for rows, _ in source.chunks():
            writer.writerows([*row[:j], next(moved), *row[j + 1 :]] for row in rows)


def _copy_parquet(path: Path, label: str, permutation: NDArray[np.int64], output: Output) -> None:
    import pyarrow.parquet as pq

    from ..parquet.whole import read_whole

    table = read_whole(path)
    j = table.schema.get_field_index(label)
    moved = table.column(label).take(permutation)
    with output.replacing() as part:
        pq.write_table(table.set_column(j, table.schema.field(j), moved), part)


@contextmanager
def _text(part: Path, path: Path) -> Iterator[IO[str]]:
    with part.open("wb") as raw, ExitStack() as stack:
        binary: Any = raw
        if path.suffix.lower() == ".gz":
            # Neither name nor time inside, so that one seed gives one file.
            binary = stack.enter_context(gzip.GzipFile("", "wb", fileobj=raw, mtime=0))
        yield stack.enter_context(io.TextIOWrapper(binary, encoding="utf-8", newline=""))


def _cells(values: NDArray[Any] | Sequence[Any]) -> Iterable[Any]:
    plain = values.tolist() if isinstance(values, np.ndarray) else values
    return ["" if isinstance(value, float) and math.isnan(value) else value for value in plain]


def _native(values: NDArray[Any]) -> Any:
    return values.tolist() if values.dtype.kind == "O" else values
