"""Parquet, through pyarrow; what the file says of its size is checked first."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from .cells import missing
from .limits import check_size, check_width
from .table import Table
from .text import check_names

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

ROWS_AT_ONCE = 1 << 16
LARGEST_HEADER = 64 << 20  # bytes of what a file says of itself


@dataclass(frozen=True)
class ParquetSource:
    """A Parquet file of flat columns.

    Attributes
    ----------
    path : Path
    """

    path: Path

    @cached_property
    def _file(self) -> "pq.ParquetFile":
        import pyarrow as pa
        import pyarrow.parquet as pq

        try:
            return pq.ParquetFile(
                self.path,
                thrift_string_size_limit=LARGEST_HEADER,
                thrift_container_size_limit=1_000_000,
            )
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error

    @cached_property
    def names(self) -> list[str]:
        """Names of the columns."""
        names = [str(name) for name in self._file.schema_arrow.names]
        check_width(self.path, len(names))
        check_names(self.path, names)
        return names

    def read(
        self, columns: Sequence[str], text: Collection[str] = (), numbers: Collection[str] = ()
    ) -> Table:
        """Read some columns; those in `text` are names, the others what the file says."""
        import pyarrow as pa

        check_names(self.path, self.names)
        for name in columns:
            self._check_type(name)
        metadata = self._file.metadata
        check_size(self.path, metadata.num_rows, len(columns))
        chunks: dict[str, list[NDArray[Any]]] = {name: [] for name in columns}
        n_rows = 0
        try:
            for batch in self._file.iter_batches(ROWS_AT_ONCE, columns=list(columns)):
                for name in columns:
                    values = batch.column(batch.schema.get_field_index(name))
                    chunks[name].append(self._values(name, values, name in text, n_rows))
                n_rows += batch.num_rows
        except (pa.ArrowException, OSError) as error:
            raise self._damaged(error) from error
        if n_rows != metadata.num_rows:
            raise TableError(self.path, f"says {metadata.num_rows} rows but holds {n_rows}")
        if not n_rows:
            raise TableError(self.path, "has no rows")
        return Table(
            self.path, {name: np.concatenate(chunks.pop(name)) for name in columns}, n_rows
        )

    def _check_type(self, name: str) -> None:
        import pyarrow.types as kinds

        kind = self._file.schema_arrow.field(name).type
        inner = kind.value_type if kinds.is_dictionary(kind) else kind
        flat = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal,
                kinds.is_string, kinds.is_large_string)  # fmt: skip
        if not any(is_kind(inner) for is_kind in flat):
            nested = "a nested column" if kinds.is_nested(kind) else f"of type {kind}"
            raise TableError(
                self.path,
                f"is {nested}; only numbers, truth values and text can be read: leave it out "
                "with --features, or convert it",
                column=name,
            )

    def _values(self, name: str, values: "pa.Array", as_text: bool, before: int) -> NDArray[Any]:
        import pyarrow as pa
        import pyarrow.types as kinds

        if values.null_count:
            row = before + int(np.flatnonzero(values.is_null().to_numpy(zero_copy_only=False))[0])
            raise self._error(missing(""), row, name)
        if kinds.is_dictionary(values.type):
            values = values.dictionary_decode()
        is_text = kinds.is_string(values.type) or kinds.is_large_string(values.type)
        if is_text or as_text:
            names: NDArray[Any] = np.array([_name(v) for v in values.to_pylist()], dtype=object)
            blank = np.flatnonzero(names == "")
            if len(blank):
                raise self._error(missing(""), before + int(blank[0]), name)
            return names
        numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(~np.isfinite(numbers))
        if len(wrong):
            found = numbers[wrong[0]]
            problem = missing("NaN") if np.isnan(found) else f"{found} is not finite"
            raise self._error(problem, before + int(wrong[0]), name)
        return np.asarray(numbers, dtype=np.float64)

    def _error(self, problem: str, row: int, name: str) -> TableError:
        return TableError(self.path, problem, place=f"row {row + 1}", column=name)

    def _damaged(self, error: Exception) -> TableError:
        first = str(error).splitlines()[0]
        return TableError(self.path, f"cannot be read as Parquet: {first}")


def _name(value: Any) -> str:
    """A group or category as text, the same whether a file stores it as 1, 1.0 or "1"."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
