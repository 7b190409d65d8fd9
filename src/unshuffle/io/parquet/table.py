"""Parquet files read as whole columns, for a fit in memory."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import Problem, TableError
from ..settings import READ, ReadSettings
from ..tables.cells import missing
from ..tables.header import check_names
from ..tables.limits import CELL, check_size, check_width
from ..tables.missing import NONE_WHOLE, MissingRows
from ..tables.table import ColumnTable
from .files import WAY, Batch, common_schema, is_text, open_file, read_batches, table_budget
from .names import Names

if TYPE_CHECKING:
    import pyarrow as pa


@dataclass(frozen=True)
class ParquetFiles:
    """Parquet files of flat columns, one below the other.

    Attributes
    ----------
    files : tuple of Path
    settings : ReadSettings
    """

    files: tuple[Path, ...]
    settings: ReadSettings = READ

    @property
    def path(self) -> Path:
        """The first file, which messages about all of them name."""
        return self.files[0]

    @cached_property
    def schema(self) -> "pa.Schema":
        """Names and types of the columns, which all files share."""
        schema = common_schema(self.files, self.settings)
        check_width(self.path, len(schema.names), self.settings)
        check_names(self.path, schema.names)
        return schema

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema.names)

    @cached_property
    def sizes(self) -> list[int]:
        """Rows that each file declares."""
        return [open_file(path, self.settings).metadata.num_rows for path in self.files]

    @property
    def n_rows(self) -> int:
        """Rows that the files declare."""
        return sum(self.sizes)

    def read(
        self,
        columns: Sequence[str],
        text: Collection[str] = (),
        numbers: Collection[str] = (),
        *,
        blanks: Collection[str] = (),
        drop_missing: bool = False,
    ) -> ColumnTable:
        """Read some columns; those in `text` are names, the others have the type in the files.

        Values of those in `blanks` may be missing.
        """
        for name in columns:
            self._check_type(name)
        check_size(self.path, self.n_rows, len(columns), self.settings)
        budget = table_budget(self.files, self.settings, WAY)
        budget.take(CELL * self.n_rows * len(columns))
        if not self.n_rows:
            raise TableError(self.path, "has no rows")
        names = {
            name: Names(name, _name, budget)
            for name in columns
            if name in text or is_text(self.schema.field(name).type)
        }
        found: dict[str, NDArray[Any]] = {
            name: np.empty(self.n_rows, dtype=object if name in names else np.float64)
            for name in columns
        }
        whole = [name for name in columns if name not in blanks]
        first, missing = 0, MissingRows() if drop_missing else None
        for batch in read_batches(self.files, columns, self.settings, budget):
            if missing is not None:
                batch = batch.without_missing(whole, missing)  # noqa: PLW2901
            rows = slice(first, first + batch.rows.num_rows)
            for name in columns:
                if name in blanks:
                    found[name][rows] = _with_blanks(batch, name, names.get(name))
                elif name in names:
                    found[name][rows] = _without_blanks(batch, name, names[name].read(batch))
                else:
                    found[name][rows] = batch.numbers(name)
            first = rows.stop
        if not first:
            raise TableError(self.path, NONE_WHOLE)
        pieces = tuple(zip(self.files, self.sizes, strict=True))
        found = {name: values[:first] for name, values in found.items()}
        return ColumnTable(self.path, found, first, pieces=pieces, budget=budget, missing=missing)

    def _check_type(self, name: str) -> None:
        import pyarrow.types as kinds

        kind = self.schema.field(name).type
        inner = kind.value_type if kinds.is_dictionary(kind) else kind
        flat = (kinds.is_integer, kinds.is_floating, kinds.is_boolean, kinds.is_decimal, is_text)
        if not any(is_kind(inner) for is_kind in flat):
            nested = "a nested column" if kinds.is_nested(kind) else f"of type {kind}"
            found = f"is {nested}; only numbers, truth values and text can be read"
            problem = Problem(found, "leave it out of the features, or convert it", "excluded")
            raise TableError(self.path, problem, column=name)


def _without_blanks(batch: Batch, name: str, column: NDArray[Any]) -> NDArray[Any]:
    blank = column == ""
    if blank.any():
        batch.refuse(missing(""), blank, name)
    return column


def _with_blanks(batch: Batch, name: str, names: Names | None) -> NDArray[Any]:
    """A column whose values may be missing: nan among numbers, the empty text among names."""
    import pyarrow as pa

    values = batch.rows.column(batch.rows.schema.get_field_index(name))
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if names is not None:
        return names.read(batch, values.fill_null("") if values.null_count else values)
    if pa.types.is_boolean(values.type):
        values = values.cast(pa.int8())
    numbers: NDArray[Any] = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    return numbers


def _name(batch: Batch, value: Any) -> str:
    """A group or category as text, the same whether a file stores it as 1, 1.0 or "1"."""
    if isinstance(value, bool):
        return str(value).lower()
    if value is None or value != value:  # noqa: PLR0124 (NaN is a missing value)
        return ""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
