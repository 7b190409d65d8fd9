"""Columns to a design matrix: numbers as they are, categories as indicators."""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from ...exceptions import TableError
from ...kernels.types import FloatArray
from ..settings import READ, ReadSettings
from .kmers import Kmers, count_words, learn_alphabet
from .limits import BYTES
from .table import ColumnTable


class DesignColumn(NamedTuple):
    """A column of a table as the model uses it.

    Attributes
    ----------
    name : str
    levels : tuple of str or None
        The categories, the first of which is the one others are compared with; None for numbers.
    kmers : Kmers or None
        The words that are counted, where the column holds sequences.
    """

    name: str
    levels: tuple[str, ...] | None = None
    kmers: Kmers | None = None

    @property
    def is_text(self) -> bool:
        """Whether the column holds names or sequences rather than numbers."""
        return self.levels is not None or self.kmers is not None

    @property
    def n_terms(self) -> int:
        """How many columns it has in the design matrix."""
        if self.kmers is not None:
            return self.kmers.n_words
        return 1 if self.levels is None else max(len(self.levels) - 1, 0)

    @property
    def terms(self) -> list[str]:
        """Names of its columns in the design matrix."""
        if self.kmers is not None:
            return [f"{self.name}[{word}]" for word in self.kmers.words]
        if self.levels is None:
            return [self.name]
        return [f"{self.name}[T.{level}]" for level in self.levels[1:]]


def learn_columns(
    table: ColumnTable,
    names: Sequence[str],
    categorical: Collection[str] = (),
    settings: ReadSettings = READ,
    kmers: Mapping[str, Kmers] | None = None,
) -> list[DesignColumn]:
    """Find out which columns are categories, and what their levels are."""
    columns = []
    for name in names:
        if kmers is not None and name in kmers:
            learned = learn_alphabet(table, name, kmers[name])
            columns.append(DesignColumn(name, kmers=learned))
            continue
        if table.is_number(name) and name not in categorical:
            columns.append(DesignColumn(name))
            continue
        levels = sorted(set(table.columns[name]))
        if len(levels) > settings.most_levels:
            raise TableError(
                table.path,
                f"holds {len(levels)} different names, such as {levels[0]!r} and {levels[1]!r}; "
                f"at most {settings.most_levels} can be categories: leave it out of the features",
                column=name,
                role="excluded",
            )
        if len(levels) == 1:
            raise TableError(
                table.path, f"holds only {levels[0]!r}: it can explain nothing", column=name
            )
        if len(levels) == table.n_rows:
            raise TableError(
                table.path,
                f"holds another name in every row, such as {levels[0]!r} and {levels[1]!r}, like "
                "an identifier: no row is left to estimate anything from; leave it out of the "
                "features",
                column=name,
                role="excluded",
            )
        columns.append(DesignColumn(name, tuple(levels)))
    return columns


def design_matrix(table: ColumnTable, columns: Sequence[DesignColumn]) -> FloatArray:
    """Stack the columns; categories become one indicator per level but the first.

    Numbers are written straight into the matrix, so that memory holds the table and the matrix,
    and nothing else.
    """
    _check_matrix(table, columns)
    X = np.empty((table.n_rows, sum(column.n_terms for column in columns)))
    j = 0
    for column in columns:
        if column.kmers is not None:
            count_words(table, column.name, column.kmers, X[:, j : j + column.n_terms])
        elif column.levels is None:
            X[:, j] = table.numbers(column.name)
        else:
            codes = _codes(table, column)
            for k in range(1, len(column.levels)):
                X[:, j + k - 1] = codes == k
        j += column.n_terms
    return X


def _check_matrix(table: ColumnTable, columns: Sequence[DesignColumn]) -> None:
    """Categories of one letter become many columns: count what they take before they do.

    One column of the matrix for each column of the table is counted when that is read.
    """
    if table.budget is None:
        return
    n_terms = sum(column.n_terms for column in columns)
    widest = max(columns, key=lambda column: column.n_terms)
    way = ""
    if widest.levels is not None:
        way = (
            f"{widest.name!r} has {len(widest.levels)} categories: merge some, leave it out of the "
            "features, or pass an encoded matrix to ShuffledRegressor in Python"
        )
    if widest.kmers is not None:
        way = f"{widest.name!r} has {widest.n_terms:,} words: choose shorter ones"
    matrix = f" as a matrix of {n_terms:,} columns"
    further = max(n_terms - len(columns), 0)
    table.budget.take(BYTES * table.n_rows * further, matrix, way=way)


def _codes(table: ColumnTable, column: DesignColumn) -> FloatArray:
    levels = column.levels or ()
    number = {level: float(k) for k, level in enumerate(levels)}
    names = table.columns[column.name]
    if table.is_number(column.name):
        shown = ", ".join(map(repr, levels[:3]))
        problem = f"holds numbers, but the model was fitted to the categories {shown}, ..."
        raise TableError(table.path, problem, column=column.name)
    codes = np.array([number.get(name, -1.0) for name in names])
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        row = int(unknown[0])
        shown = ", ".join(map(repr, levels[:5])) + (", ..." if len(levels) > 5 else "")
        problem = f"{names[row]!r} is not among the categories of the model: {shown}"
        raise table.error(problem, row, column.name)
    return codes
