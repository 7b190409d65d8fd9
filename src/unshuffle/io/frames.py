"""Data frames of any library in, and the same library back out (narwhals does the work)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.numbers import kind_of_times
from ..kernels.types import FloatArray

LIBRARIES = ("pandas", "polars", "pyarrow")


@dataclass(frozen=True, eq=False)
class NamedMatrix:
    """Numbers with names, for callers without a data frame library.

    Attributes
    ----------
    values : array of shape (n, d)
    columns : tuple of str
    """

    values: FloatArray
    columns: tuple[str, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        """Rows and columns."""
        return self.values.shape

    def __len__(self) -> int:
        return len(self.values)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.array(self.values, dtype=dtype, copy=copy)


def library_of(*data: Any) -> str | None:
    """Name of the data frame library that the first frame or series comes from."""
    for item in data:
        library = type(item).__module__.partition(".")[0]
        if library in LIBRARIES:
            return library
    return None


def column_names(frame: Any) -> list[str]:
    """Names of the columns of a data frame of any library."""
    import narwhals as nw

    return list(nw.from_native(frame, eager_only=True).columns)


def plain_columns(frame: Any) -> dict[str, Any]:
    """The columns of a data frame of any library by their names, as `plain_column` gives them."""
    import narwhals as nw

    series = nw.from_native(frame, eager_only=True).iter_columns()
    return {str(column.name): plain_column(column.to_native()) for column in series}


def plain_column(values: Any) -> Any:
    """A series, column or one-column frame of polars or pyarrow as an array.

    pandas is left as it is: scikit-learn knows it, and its index types keep their meaning.
    """
    if library_of(values) not in {"polars", "pyarrow"}:
        return values
    import narwhals as nw

    native = nw.from_native(values, eager_only=True, allow_series=True, pass_through=True)
    if isinstance(native, nw.DataFrame):
        if native.shape[1] != 1:
            raise ValueError(
                f"expected one column, got a frame of {native.shape[1]}: {native.columns[:5]}"
            )
        native = native[native.columns[0]]
    if not isinstance(native, nw.Series):  # an array of pyarrow that is not chunked
        return np.array(values.to_pylist())
    if native.dtype.is_numeric() and not native.is_null().any():
        return native.to_numpy()
    if native.dtype.is_numeric():
        return native.cast(nw.Float64()).to_numpy()
    plain = native.to_list()
    if native.dtype == nw.Boolean and None not in plain:
        return np.array(plain, dtype=bool)
    return _objects(plain)


def column_of_dates(frame: Any) -> tuple[Any, str] | None:
    """Name of the first column of dates or durations, and which of the two; None without any."""
    if library_of(frame) == "pandas":
        kinds = [kind_of_times(frame.iloc[:, j]) for j in range(frame.shape[1])]
        return next(((n, k) for n, k in zip(frame.columns, kinds, strict=True) if k), None)
    import narwhals as nw

    for name, dtype in nw.from_native(frame, eager_only=True).schema.items():
        if dtype.is_temporal():
            return name, "durations" if dtype == nw.Duration else "dates"
    return None


def make_frame(columns: Mapping[str, Any], library: str | None) -> Any:
    """A data frame of the library named; pandas where none is."""
    if library in {None, "pandas"}:
        import pandas as pd

        return pd.DataFrame(dict(columns))
    import narwhals as nw

    plain = {name: np.asarray(values).tolist() for name, values in columns.items()}
    backend: Any = library
    return nw.from_dict(plain, backend=backend).to_native()


def feature_names(names: Sequence[str] | None, n: int) -> list[str]:
    """The names, or x0, x1, ... where there are none."""
    return [f"x{j}" for j in range(n)] if names is None else [str(name) for name in names]


def _objects(values: list[Any]) -> NDArray[Any]:
    column: NDArray[Any] = np.empty(len(values), dtype=object)
    column[:] = values
    return column
