"""Which column plays which part, and the arrays a fit needs from them."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...exceptions import TableError
from ...kernels.types import BoolArray, FloatArray
from .design import Column, design_matrix, learn_columns
from .source import Source, open_table
from .table import Table


@dataclass(frozen=True)
class Roles:
    """The part each column plays; the names are the user's.

    Attributes
    ----------
    label, group, known, match_prob : str or None
    features : tuple of str
        Empty for all columns that play no other part.
    categorical : tuple of str
        Features that are categories although they look like numbers.
    """

    label: str | None = None
    features: tuple[str, ...] = ()
    group: str | None = None
    known: str | None = None
    match_prob: str | None = None
    categorical: tuple[str, ...] = ()

    def named(self) -> dict[str, str]:
        """Parts but features, each with its column."""
        parts = {
            "label": self.label,
            "group": self.group,
            "known": self.known,
            "match probability": self.match_prob,
        }
        return {part: name for part, name in parts.items() if name is not None}


@dataclass(frozen=True, eq=False)
class Rows:
    """What a table gives a fit.

    Attributes
    ----------
    table : Table
    columns : list of Column
        The features, and how they became columns of `X`.
    X : array of shape (n, d)
    label : str
    y : array of shape (n,)
    groups : array of str of shape (n,), or None
    known : array of bool of shape (n,), or None
    match_prob : array of shape (n,), or None
    label_groups : array of str, or None
        Groups of the labels, where they came as a table of their own.
    unpaired : bool
        Whether they did.
    group : str
        Name of the column of groups; empty where there is none.
    """

    table: Table
    columns: list[Column]
    X: FloatArray
    label: str
    y: FloatArray
    groups: NDArray[Any] | None
    known: BoolArray | None = None
    match_prob: FloatArray | None = None
    label_groups: NDArray[Any] | None = None
    unpaired: bool = False
    group: str = ""

    @property
    def names(self) -> list[str]:
        """Names of the columns of `X`."""
        return [term for column in self.columns for term in column.terms]


def read_rows(path: Path, roles: Roles) -> Rows:
    """Read one table that holds rows and labels side by side."""
    source = open_table(path)
    if roles.label is None:
        raise TableError(path, f"say with --label which column to explain: {_shown(source.names)}")
    features = choose_features(source, roles)
    names = (roles.group, roles.known, *roles.categorical)
    text = {name for name in names if name is not None}
    numbers = {name for name in (roles.label, roles.match_prob) if name is not None}
    table = source.read([*features, *roles.named().values()], text, numbers)
    columns = learn_columns(table, features, roles.categorical)
    return Rows(
        table,
        columns,
        design_matrix(table, columns),
        roles.label,
        table.numbers(roles.label),
        None if roles.group is None else table.columns[roles.group],
        None if roles.known is None else table.truths(roles.known),
        None if roles.match_prob is None else table.probabilities(roles.match_prob),
        group=roles.group or "",
    )


def read_two(path: Path, labels: Path, roles: Roles) -> Rows:
    """Read features and labels from two tables that share nothing but a group."""
    source, of_labels = open_table(path), open_table(labels)
    group = [] if roles.group is None else [roles.group]
    for name in group:
        for table in (source, of_labels):
            check_column(table, name, "group")
    others = [name for name in of_labels.names if name not in group]
    if roles.label is None and len(others) != 1:
        raise TableError(
            labels, f"say with --label which column holds the labels: {_shown(others)}"
        )
    label = others[0] if roles.label is None else roles.label
    check_column(of_labels, label, "label")
    features = choose_features(source, Roles(None, roles.features, roles.group))
    if not roles.features and label in features:
        raise TableError(
            path,
            f"holds {label!r} too, the label of {labels}; choose the features with --features",
            column=label,
        )
    text = {*group, *roles.categorical}
    left = source.read([*features, *group], text)
    right = of_labels.read([label, *group], group, [label])
    columns = learn_columns(left, features, roles.categorical)
    keys = (left.columns[group[0]], right.columns[group[0]]) if group else (None, None)
    return Rows(
        left, columns, design_matrix(left, columns), label, right.numbers(label), keys[0],
        label_groups=keys[1], unpaired=True, group=roles.group or "",
    )  # fmt: skip


def choose_features(source: Source, roles: Roles) -> list[str]:
    """The columns to explain the label with; no column may play two parts."""
    taken = roles.named()
    for part, name in taken.items():
        check_column(source, name, part)
    if len(set(taken.values())) < len(taken):
        parts = list(taken.items())
        part, other, name = next(
            (part, other, name)
            for k, (part, name) in enumerate(parts)
            for other, same in parts[:k]
            if same == name
        )
        raise TableError(source.path, f"is both {other} and {part}", column=name)
    for name in (*roles.features, *roles.categorical):
        check_column(source, name, "feature")
        played = next((part for part, other in taken.items() if other == name), None)
        if played is not None:
            raise TableError(
                source.path,
                f"is the {played} and cannot be a feature as well; take it out of --features",
                column=name,
            )
    if len(set(roles.features)) < len(roles.features):
        raise TableError(source.path, "a feature is named twice in --features")
    features = list(roles.features) or [n for n in source.names if n not in taken.values()]
    for name in roles.categorical:
        if name not in features:
            raise TableError(
                source.path, "is named in --categorical but not in --features", column=name
            )
    if not features:
        raise TableError(source.path, "no column is left to be a feature")
    return features


def check_column(source: Source, name: str, part: str) -> None:
    """The column must exist; a name that is nearly right is suggested."""
    if name in source.names:
        return
    near = difflib.get_close_matches(name, source.names, n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise TableError(
        source.path, f"has no column {name!r} (asked for as {part}{hint}); it has: "
        f"{_shown(source.names)}"
    )  # fmt: skip


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names[:12]) + (", ..." if len(names) > 12 else "")
