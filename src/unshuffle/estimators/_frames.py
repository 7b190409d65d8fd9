"""Data frames given to ``fit``: row names that agree, text as indicators, and some rows."""

from typing import Any

import numpy as np

from ..io.categories import encode_categories, has_categories, learn_categories
from ..io.frames import NamedMatrix, library_of
from ..io.row_names import refuse_other_row_names


def take_frame(blank: Any, X: Any, **columns: Any) -> Any:
    """The features as numbers; how text became numbers is kept on `blank` for predictions."""
    refuse_other_row_names(X, **columns)
    if not has_categories(X):
        return X
    blank.design_columns_ = learn_categories(X)
    return encode_categories(X, blank.design_columns_)


def take_rows(values: Any, rows: Any) -> Any:
    """Some rows of a table or a column of any library."""
    if values is None:
        return None
    if isinstance(values, NamedMatrix):
        return NamedMatrix(values.values[rows], values.columns)
    if library_of(values) is not None:
        import narwhals as nw

        native = nw.from_native(values, eager_only=True, allow_series=True)
        return nw.to_native(native[rows.tolist()])
    if isinstance(values, list | tuple):
        return [values[k] for k in rows]
    return np.asanyarray(values)[rows]
