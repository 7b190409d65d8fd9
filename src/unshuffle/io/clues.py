"""Clues as a user gives them, to columns of numbers.

Numbers stay as they are, categories become indicators of every level but the first. A missing
number is filled in with the mean, beside an indicator of being missing; a missing category is a
level of its own.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..data.groups import is_missing
from ..data.numbers import LARGEST, describe_dates, kind_of_times, refuse_masked
from ..kernels.types import FloatArray
from .frames import library_of, plain_column, plain_columns
from .settings import READ

MISSING = "(missing)"


def clue_matrix(given: Any, n_rows: int) -> tuple[FloatArray, list[str]]:
    """Columns of numbers, and their names.

    Parameters
    ----------
    given : data frame, series, mapping or array-like of shape (n,) or (n, q)
    n_rows : int
        How many rows there must be.
    """
    columns, names = [], []
    for name, values in _named(given).items():
        if len(values) != n_rows:
            raise ValueError(
                f"match_features has {len(values)} rows but X has {n_rows}; give one row of clues "
                "beside each row"
            )
        for term, column in _terms(name, values):
            names.append(term)
            columns.append(column)
    if not columns:
        raise ValueError("match_features has no columns; leave it out, or give at least one clue")
    return np.column_stack(columns), names


def _named(given: Any) -> Mapping[str, NDArray[Any]]:
    """Columns by name; z0, z1, ... where there are none."""
    if isinstance(given, Mapping):
        columns = {str(name): _array(values) for name, values in given.items()}
    elif library_of(given) is not None and hasattr(given, "columns"):
        columns = {name: _array(values) for name, values in plain_columns(given).items()}
        if len(columns) != given.shape[1]:
            raise ValueError("match_features has two columns of one name; give each its own")
    else:
        name = getattr(given, "name", None)
        array = _array(given)
        if array.ndim == 1:
            columns = {"z0" if name is None else str(name): array}
        elif array.ndim == 2:
            columns = {f"z{j}": column for j, column in enumerate(array.T)}
        else:
            raise ValueError(
                f"match_features has {array.ndim} dimensions; give one row of clues beside each row"
            )
    for name, values in columns.items():
        if values.ndim != 1:
            raise ValueError(f"match_features: {name!r} is not one value per row")
    return columns


def _array(values: Any) -> NDArray[Any]:
    """An array; categories of pandas are names, also where they are numbers."""
    values = plain_column(values)
    if str(getattr(values, "dtype", "")) == "category":
        return np.array([v if is_missing(v) else str(v) for v in values], dtype=object)
    refuse_masked(values, "match_features")
    return np.asarray(values)


def _terms(name: str, values: NDArray[Any]) -> list[tuple[str, FloatArray]]:
    """The columns of numbers that one clue becomes."""
    kind = kind_of_times(values)
    if kind is not None:
        raise ValueError(describe_dates(kind, f"match_features: column {name!r}"))
    if values.dtype.kind == "c":
        raise ValueError(f"match_features: column {name!r} is complex; give real numbers")
    numbers = _numbers(values)
    return _categories(name, values) if numbers is None else _with_missing(name, numbers)


def _numbers(values: NDArray[Any]) -> FloatArray | None:
    """Numbers with nan for what is missing; None where the column holds names."""
    if values.dtype.kind in "biuf":
        return values.astype(np.float64)
    if values.dtype.kind != "O":
        return None
    found = [np.nan if is_missing(value) else value for value in values]
    if any(isinstance(value, str | bytes) for value in found):
        return None
    try:
        return np.array(found, dtype=np.float64)
    except (TypeError, ValueError):
        return None


def _with_missing(name: str, numbers: FloatArray) -> list[tuple[str, FloatArray]]:
    missing = np.isnan(numbers)
    if missing.all():
        raise ValueError(f"match_features: all values of {name!r} are missing; leave it out")
    wrong = np.flatnonzero(np.abs(numbers) > LARGEST)  # infinity included
    if len(wrong):
        raise ValueError(
            f"match_features: {name!r} is {numbers[wrong[0]]:g} in row {wrong[0]}, which is too "
            "large to compute with; choose another unit, or leave the value out as missing"
        )
    if not missing.any():
        return [(name, numbers)]
    filled = np.where(missing, numbers[~missing].mean(), numbers)
    return [(name, filled), (f"{name}[missing]", missing.astype(np.float64))]


def _categories(name: str, values: NDArray[Any]) -> list[tuple[str, FloatArray]]:
    words = [MISSING if is_missing(value) or value == "" else str(value) for value in values]
    levels = sorted(set(words) - {MISSING})
    if len(levels) > READ.most_levels:
        raise ValueError(
            f"match_features: {name!r} holds {len(levels)} different names, such as {levels[0]!r} "
            f"and {levels[1]!r}; at most {READ.most_levels} can be categories: give how common "
            "each is, or leave the column out"
        )
    if MISSING in words:
        levels.append(MISSING)
    found = np.array(words, dtype=object)
    if len(levels) == 1:  # constant, to be dropped by its own name
        return [(name, np.ones(len(words)))]
    return [(f"{name}[T.{level}]", (found == level).astype(np.float64)) for level in levels[1:]]
