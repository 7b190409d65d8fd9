"""Text and categories in data frames, as columns of indicators."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .frames import NamedMatrix, library_of
from .settings import READ

if TYPE_CHECKING:
    from .tables.design import DesignColumn


def has_categories(X: Any) -> bool:
    """Whether a data frame has columns of text or of categories."""
    if library_of(X) is None or not hasattr(X, "columns"):
        return False
    if library_of(X) == "pandas" and not X.columns.is_unique:
        return False
    return any(_is_category(column) for column in _columns(X).values())


def learn_categories(X: Any) -> "list[DesignColumn]":
    """Which columns of a data frame are categories, and what their levels are, sorted."""
    from .tables.design import DesignColumn  # with all readers of tables, which arrays do not need

    found = []
    for name, column in _columns(X).items():
        if not _is_category(column):
            found.append(DesignColumn(name))
            continue
        values = _texts(name, column)
        levels = tuple(sorted(set(values)))
        if len(levels) == len(values) > 1:
            raise ValueError(
                f"column {name!r} of X holds another name in every row, such as {levels[0]!r} and "
                f"{levels[1]!r}: it can explain nothing; leave it out"
            )
        if len(levels) > READ.most_levels:
            raise ValueError(
                f"column {name!r} of X holds {len(levels)} different names, such as {levels[0]!r} "
                f"and {levels[1]!r}; at most {READ.most_levels} can be categories: leave it out"
            )
        if len(levels) == 1:
            raise ValueError(
                f"column {name!r} of X holds only {levels[0]!r}: it can explain nothing; leave it "
                "out"
            )
        found.append(DesignColumn(name, levels))
    return found


def encode_categories(X: Any, design: "Sequence[DesignColumn]") -> NamedMatrix:
    """The numbers of a data frame, with one indicator per level but the first."""
    given, names = _columns(X), [column.name for column in design]
    missing = [name for name in names if name not in given]
    if missing:
        raise ValueError(f"X has no column {missing[0]!r}; the fit used the columns {names}")
    matrix, j = np.empty((len(X), sum(column.n_terms for column in design))), 0
    for column in design:
        if column.levels is None:
            matrix[:, j] = _numbers(column.name, given[column.name])
        else:
            codes = _codes(column, _texts(column.name, given[column.name]))
            for k in range(1, len(column.levels)):
                matrix[:, j + k - 1] = codes == k
        j += column.n_terms
    return NamedMatrix(matrix, tuple(term for column in design for term in column.terms))


def _columns(X: Any) -> dict[str, Any]:
    import narwhals as nw

    return {
        str(column.name): column for column in nw.from_native(X, eager_only=True).iter_columns()
    }


def _is_category(column: Any) -> bool:
    """Text or categories; text that is partly numbers is a mistake, and stays one."""
    import narwhals as nw

    if column.dtype in {nw.Categorical, nw.Enum}:
        return True
    if column.dtype not in {nw.String, nw.Object}:
        return False
    values = [value for value in column.to_list() if isinstance(value, str)]
    return bool(values) and not any(_reads_as_number(value) for value in values)


def _reads_as_number(value: str) -> bool:
    try:
        float(value)
    except ValueError:
        return False
    return True


def _texts(name: str, column: Any) -> list[str]:
    values = column.to_list()
    for row, value in enumerate(values):
        if value is None or (isinstance(value, float) and math.isnan(value)):
            raise ValueError(
                f"column {name!r} of X has no value in row {row}; give missing categories a name "
                "of their own, or drop those rows on both sides"
            )
    return [str(value) for value in values]


def _numbers(name: str, column: Any) -> NDArray[Any]:
    values = column.to_list()
    for row, value in enumerate(values):
        if isinstance(value, str) and not _reads_as_number(value):
            raise ValueError(
                f"column {name!r} of X holds {value!r} in row {row}, which is not a number, beside "
                "numbers; correct it, or drop those rows on both sides"
            )
    return np.array([np.nan if value is None else value for value in values], dtype=np.float64)


def _codes(column: "DesignColumn", values: list[str]) -> NDArray[Any]:
    levels = column.levels or ()
    number = {level: k for k, level in enumerate(levels)}
    for row, value in enumerate(values):
        if value not in number:
            raise ValueError(
                f"column {column.name!r} of X holds {value!r} in row {row}, which was not in the "
                f"fit; its categories are {list(levels[:8])}"
            )
    return np.array([number[value] for value in values])
