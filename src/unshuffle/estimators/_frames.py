"""Data frames given to ``fit``: row names that agree, and text as indicators."""

from typing import Any

from ..io.categories import encode_categories, has_categories, learn_categories
from ..io.row_names import refuse_other_row_names


def take_frame(blank: Any, X: Any, **columns: Any) -> Any:
    """The features as numbers; how text became numbers is kept on `blank` for predictions."""
    refuse_other_row_names(X, **columns)
    if not has_categories(X):
        return X
    blank.design_columns_ = learn_categories(X)
    return encode_categories(X, blank.design_columns_)
