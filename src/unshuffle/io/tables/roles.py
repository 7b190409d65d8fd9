"""The role of each column, and the arrays that a fit needs from them."""

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ...exceptions import TableError
from ...kernels.types import BoolArray, FloatArray
from ..settings import READ, ReadSettings
from .design import DesignColumn, design_matrix, learn_columns
from .source import TableSource, open_table
from .table import ColumnTable

# Letters of a name, and names, among which one that is nearly right is looked for.
LONGEST_GUESS, MOST_GUESSES = 100, 5000
# The index of a data frame, which pandas writes into Parquet files; no column of the user's.
PANDAS_INDEX = "__index_level_"


@dataclass(frozen=True)
class Roles:
    """The role of each column; the names are the user's.

    Attributes
    ----------
    label, group, known, match_prob : str or None
    features : tuple of str
        Empty for all columns without another role.
    categorical : tuple of str
        Features that are categories although they look like numbers.
    blocks : tuple of str
        Columns of blocks to compare rows within and between; they are read as text.
    match_features : tuple of str
        Clues of whether a label is the row's own; their values may be missing.
    """

    label: str | None = None
    features: tuple[str, ...] = ()
    group: str | None = None
    known: str | None = None
    match_prob: str | None = None
    categorical: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    match_features: tuple[str, ...] = ()

    def several(self) -> tuple[tuple[str, str], ...]:
        """Roles that several columns may have, with each of the columns."""
        return (
            *(("block", name) for name in self.blocks),
            *(("match feature", name) for name in self.match_features),
        )

    def named(self) -> dict[str, str]:
        """Roles other than features and blocks, each with its column."""
        roles = {
            "label": self.label,
            "group": self.group,
            "known": self.known,
            "match probability": self.match_prob,
        }
        return {role: name for role, name in roles.items() if name is not None}


@dataclass(frozen=True, eq=False)
class FitTable:
    """What a fit needs from a table.

    Attributes
    ----------
    table : ColumnTable
    columns : list of DesignColumn
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
    match_features : dict of arrays of shape (n,), or None
        Clues by name.
    """

    table: ColumnTable
    columns: list[DesignColumn]
    X: FloatArray
    label: str
    y: FloatArray
    groups: NDArray[Any] | None
    known: BoolArray | None = None
    match_prob: FloatArray | None = None
    label_groups: NDArray[Any] | None = None
    unpaired: bool = False
    group: str = ""
    match_features: dict[str, NDArray[Any]] | None = None

    @property
    def names(self) -> list[str]:
        """Names of the columns of `X`."""
        return [term for column in self.columns for term in column.terms]


def read_rows(
    paths: Path | Sequence[Path], roles: Roles, settings: ReadSettings = READ
) -> FitTable:
    """Read one table, of one file or several, that holds rows and labels side by side."""
    source = open_table(paths, settings)
    label = check_label(source, roles.label, source.names)
    features = choose_features(source, roles)
    names = (roles.group, roles.known, *roles.categorical, *roles.blocks)
    text = {name for name in names if name is not None}
    numbers = {name for name in (label, roles.match_prob) if name is not None}
    several = [name for _, name in roles.several()]
    table = source.read(
        [*features, *roles.named().values(), *several], text, numbers, roles.match_features
    )
    clues = {name: table.columns[name] for name in roles.match_features}
    columns = learn_columns(table, features, roles.categorical, settings)
    return FitTable(
        table,
        columns,
        design_matrix(table, columns),
        label,
        table.numbers(label),
        None if roles.group is None else table.columns[roles.group],
        None if roles.known is None else table.truths(roles.known),
        None if roles.match_prob is None else table.probabilities(roles.match_prob),
        group=roles.group or "",
        match_features=clues or None,
    )


def read_two(path: Path, labels: Path, roles: Roles, settings: ReadSettings = READ) -> FitTable:
    """Read features and labels from two tables that share nothing but a group."""
    source, of_labels = open_table(path, settings), open_table(labels, settings)
    group = [] if roles.group is None else [roles.group]
    for name in group:
        for table in (source, of_labels):
            check_column(table, name, "group")
    others = [name for name in of_labels.names if name not in group]
    only = others[0] if len(others) == 1 else None
    label = check_label(of_labels, roles.label or only, others)
    check_column(of_labels, label, "label")
    features = choose_features(source, Roles(None, roles.features, roles.group))
    if not roles.features and label in features:
        raise TableError(
            path,
            f"is here as well as in {labels}, where it is the label; name the features",
            column=label,
            role="features",
        )
    text = {*group, *roles.categorical}
    left = source.read([*features, *group], text)
    right = of_labels.read([label, *group], group, [label])
    columns = learn_columns(left, features, roles.categorical, settings)
    keys = (left.columns[group[0]], right.columns[group[0]]) if group else (None, None)
    return FitTable(
        left, columns, design_matrix(left, columns), label, right.numbers(label), keys[0],
        label_groups=keys[1], unpaired=True, group=roles.group or "",
    )  # fmt: skip


def choose_features(source: TableSource, roles: Roles) -> list[str]:
    """The columns that explain the label; no column may have two roles."""
    taken: dict[str, str] = {}
    for role, name in (*roles.named().items(), *roles.several()):
        check_column(source, name, role)
        if name in taken:
            twice = "is named twice" if taken[name] == role else f"is both {taken[name]} and {role}"
            raise TableError(source.path, twice, column=name)
        taken[name] = role
    for name in (*roles.features, *roles.categorical):
        check_column(source, name, "feature")
        if name in taken:
            raise TableError(
                source.path,
                f"has the role {taken[name]!r} and cannot be a feature as well; leave it out of "
                "the features",
                column=name,
                role="features",
            )
    if len(set(roles.features)) < len(roles.features):
        raise TableError(source.path, "a feature is named twice", role="features")
    rest = [n for n in source.names if n not in taken and not n.startswith(PANDAS_INDEX)]
    features = list(roles.features) or rest
    for name in roles.categorical:
        if name not in features:
            raise TableError(
                source.path,
                "is declared categorical but is not among the features",
                column=name,
                role="features",
            )
    if not features:
        raise TableError(source.path, "no column is left to be a feature")
    return features


def check_label(source: TableSource, label: str | None, names: Sequence[str]) -> str:
    """The label must be named; `names` are those to choose from."""
    if label is None:
        raise TableError(
            source.path, f"name the column of the labels, one of {_shown(names)}", role="label"
        )
    return label


def check_column(source: TableSource, name: str, role: str) -> None:
    """The column must exist; a name that is nearly right is suggested."""
    if name in source.names:
        return
    # Long names, of which comparing two takes minutes, are nobody's slip of the pen.
    short = [other for other in source.names if len(other) <= LONGEST_GUESS]
    near = difflib.get_close_matches(name[:LONGEST_GUESS], short[:MOST_GUESSES], n=1)
    hint = f"; did you mean {near[0]!r}?" if near else ""
    raise TableError(
        source.path, f"has no column {name!r} (asked for as {role}{hint}); it has: "
        f"{_shown(source.names)}"
    )  # fmt: skip


def _shown(names: Sequence[str]) -> str:
    most = READ.names_shown
    shown = (
        name if len(name) <= LONGEST_GUESS else f"{name[:LONGEST_GUESS]}..."
        for name in names[:most]
    )
    return ", ".join(shown) + (", ..." if len(names) > most else "")
