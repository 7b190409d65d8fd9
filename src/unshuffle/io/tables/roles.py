"""The role of each column, and the arrays that a fit needs from them."""

import difflib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...exceptions import TableError
from ...kernels.types import BoolArray, FloatArray, IntArray
from ..positions import parse_position
from ..settings import READ, ReadSettings
from .cells import Kind
from .design import DesignColumn, design_matrix, learn_columns
from .kmers import Kmers
from .source import TableSource, open_table, unnamed_features
from .table import ColumnTable

# Letters of a name, and names, among which one that is nearly right is looked for.
LONGEST_GUESS, MOST_GUESSES = 100, 5000


@dataclass(frozen=True)
class Roles:
    """The role of each column; the names are the user's.

    Attributes
    ----------
    label, group, known, match_prob, strata : str or None
    features : tuple of str
        Empty for all columns without another role.
    categorical : tuple of str
        Features that are categories although they look like numbers.
    blocks : tuple of str
        Columns of blocks to compare rows within and between; they are read as text.
    id : str or None
        Names of the rows, for tables and reports; read as text.
    position : str or None
        Places of the rows on a plate, such as A1; it may be the column of names as well.
    shown : tuple of str
        Further columns that a report shows of a row; read as text.
    excluded : tuple of str
        Columns without a role, where the features are all others.
    kmers : dict of Kmers
        Columns of sequences; counts of their words are features.
    drop_missing : bool
        Whether rows with a missing value are left out, with the labels beside them.
    label_kind : {"number", "either", "text"}
        What the label may be; the categories of one that is text become numbers.
    match_features : tuple of str
        Clues of whether a label is the row's own; their values may be missing.
    blank_labels : bool
        Whether labels may be missing: rows without a label have nan.
    """

    label: str | None = None
    features: tuple[str, ...] = ()
    group: str | None = None
    known: str | None = None
    match_prob: str | None = None
    categorical: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()
    id: str | None = None
    position: str | None = None
    shown: tuple[str, ...] = ()
    excluded: tuple[str, ...] = ()
    kmers: Mapping[str, Kmers] = field(default_factory=dict)
    drop_missing: bool = False
    label_kind: Kind = "number"
    match_features: tuple[str, ...] = ()
    blank_labels: bool = False
    strata: str | None = None

    def several(self) -> tuple[tuple[str, str], ...]:
        """Roles that several columns may have, with each of the columns."""
        return (
            *(("block", name) for name in self.blocks),
            *(("match feature", name) for name in self.match_features),
            *(("column to show", name) for name in self.shown),
        )

    def named(self) -> dict[str, str]:
        """Roles other than features and blocks, each with its column."""
        roles = {
            "label": self.label,
            "group": self.group,
            "known": self.known,
            "match probability": self.match_prob,
            "stratum": None if self.strata == self.group else self.strata,
            "id": self.id,
            "position": None if self.position == self.id else self.position,
        }
        return {role: name for role, name in roles.items() if name is not None}

    def read_as_text(self) -> set[str]:
        """Columns whose values are names, whatever they look like."""
        single = (self.group, self.known, self.id, self.position, self.strata)
        several = (*self.categorical, *self.kmers, *self.blocks, *self.shown)
        return {name for name in (*single, *several) if name is not None}


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
    ids, label_ids : arrays of str, or None
        Names of the rows, and of the labels where they came as a table of their own.
    positions : array of str of shape (n,), or None
        Places of the rows on a plate.
    shown : tuple of str
        Further columns that a report shows.
    levels : tuple of str or None
        The categories of the label, in the order of their numbers; None for numbers.
    match_features : dict of arrays of shape (n,), or None
        Clues by name.
    strata : array of str of shape (n,), or None
        Strata with rates of mismatches of their own.
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
    ids: NDArray[Any] | None = None
    label_ids: NDArray[Any] | None = None
    positions: NDArray[Any] | None = None
    shown: tuple[str, ...] = ()
    levels: tuple[str, ...] | None = None
    match_features: dict[str, NDArray[Any]] | None = None
    strata: NDArray[Any] | None = None

    @property
    def row_numbers(self) -> IntArray:
        """Numbers of the rows in their file, from 1."""
        return self.table.rows + 1

    @property
    def partner_ids(self) -> NDArray[Any] | None:
        """Names of what a row can be matched with: rows, or labels of a table of their own."""
        return self.label_ids if self.unpaired else self.ids

    @property
    def recorded(self) -> list[str]:
        """Columns that a report shows of each row: those to show, then the features."""
        return [*self.shown, *(column.name for column in self.columns)]

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
    text = roles.read_as_text()
    numbers = {name for name in (label, roles.match_prob) if name is not None}
    if roles.label_kind != "number":
        numbers.discard(label)
        text |= {label} if roles.label_kind == "text" else set()
    several = [name for _, name in roles.several()]
    table = source.read(
        list(dict.fromkeys([*features, *roles.named().values(), *several])),
        text,
        numbers,
        blanks=(*roles.match_features, *([label] if roles.blank_labels else [])),
        drop_missing=roles.drop_missing,
    )
    clues = {name: table.columns[name] for name in roles.match_features}
    columns = learn_columns(table, features, roles.categorical, settings, roles.kmers)
    y, levels = _label_numbers(table, label, roles)
    return FitTable(
        table,
        columns,
        design_matrix(table, columns),
        label,
        y,
        None if roles.group is None else table.columns[roles.group],
        None if roles.known is None else table.truths(roles.known),
        None if roles.match_prob is None else table.probabilities(roles.match_prob),
        group=roles.group or "",
        ids=None if roles.id is None else table.columns[roles.id],
        positions=None if roles.position is None else _positions(table, roles.position),
        shown=roles.shown,
        levels=levels,
        match_features=clues or None,
        strata=None if roles.strata is None else table.columns[roles.strata],
    )


def as_secret(roles: Roles) -> Roles:
    """Let the label be text; one that is declared categorical is, whatever it looks like."""
    if roles.label not in roles.categorical:
        return replace(roles, label_kind="either")
    others = tuple(name for name in roles.categorical if name != roles.label)
    return replace(roles, categorical=others, label_kind="text")


def _label_numbers(
    table: ColumnTable, label: str, roles: Roles
) -> tuple[FloatArray, tuple[str, ...] | None]:
    """The label as numbers, and its categories where it is text."""
    if table.is_number(label) or roles.label_kind == "number":
        return table.numbers(label), None
    levels, codes = np.unique(table.columns[label].astype(str), return_inverse=True)
    return codes.astype(np.float64), tuple(map(str, levels))


def read_two(path: Path, labels: Path, roles: Roles, settings: ReadSettings = READ) -> FitTable:
    """Read features and labels from two tables that share nothing but a group."""
    source, of_labels = open_table(path, settings), open_table(labels, settings)
    group = [] if roles.group is None else [roles.group]
    for name in group:
        for table in (source, of_labels):
            check_column(table, name, "group")
    named = [] if roles.id is None else [roles.id]
    label_named = [name for name in named if name in of_labels.names and name != roles.label]
    others = [name for name in of_labels.names if name not in (*group, *label_named)]
    only = others[0] if len(others) == 1 else None
    label = check_label(of_labels, roles.label or only, others)
    check_column(of_labels, label, "label")
    of_rows = Roles(
        None, roles.features, roles.group, id=roles.id, excluded=roles.excluded, kmers=roles.kmers
    )
    features = choose_features(source, of_rows)
    if not roles.features and label in features:
        raise TableError(
            path,
            f"is here as well as in {labels}, where it is the label; name the features",
            column=label,
            role="features",
        )
    text = {*group, *roles.categorical, *named, *roles.kmers}
    left = source.read([*features, *group, *named], text)
    right = of_labels.read([label, *group, *label_named], [*group, *label_named], [label])
    columns = learn_columns(left, features, roles.categorical, settings, roles.kmers)
    keys = (left.columns[group[0]], right.columns[group[0]]) if group else (None, None)
    return FitTable(
        left, columns, design_matrix(left, columns), label, right.numbers(label), keys[0],
        label_groups=keys[1], unpaired=True, group=roles.group or "",
        ids=None if roles.id is None else left.columns[roles.id],
        label_ids=right.columns[label_named[0]] if label_named else None,
    )  # fmt: skip


def _positions(table: ColumnTable, name: str) -> NDArray[Any]:
    """A column of places on a plate; the first that is none is named."""
    column = table.columns[name]
    for value in dict.fromkeys(column):
        if parse_position(value) is None:
            row = int(np.flatnonzero(column == value)[0])
            problem = f"{value!r} is no place on a plate; write a letter and a number, such as A1"
            raise table.error(problem, row, name)
    return column


def choose_features(source: TableSource, roles: Roles) -> list[str]:
    """The columns that explain the label; no column may have two roles."""
    taken: dict[str, str] = {}
    for role, name in (*roles.named().items(), *roles.several()):
        check_column(source, name, role)
        if name in taken:
            twice = "is named twice" if taken[name] == role else f"is both {taken[name]} and {role}"
            raise TableError(source.path, twice, column=name)
        taken[name] = role
    for name in (*roles.features, *roles.categorical, *roles.kmers):
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
    taken |= check_excluded(source, roles, taken)
    rest = [name for name in unnamed_features(source) if name not in taken]
    features = list(dict.fromkeys((*roles.features, *roles.kmers))) if roles.features else rest
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


def check_excluded(source: TableSource, roles: Roles, taken: Mapping[str, str]) -> dict[str, str]:
    """The columns to leave out must exist and have no other role."""
    for name in roles.excluded:
        check_column(source, name, "column to leave out")
        role = taken.get(name) or (
            "feature" if name in (*roles.features, *roles.categorical, *roles.kmers) else ""
        )
        if role:
            raise TableError(
                source.path,
                f"is both {role} and left out; choose one",
                column=name,
                role="excluded",
            )
    return dict.fromkeys(roles.excluded, "column to leave out")


def check_label(source: TableSource, label: str | None, names: Sequence[str]) -> str:
    """The label must be named; `names` are those to choose from."""
    if label is None:
        raise TableError(
            source.path, f"name the column of the labels, one of {shown(names)}", role="label"
        )
    return label


def check_column(source: TableSource, name: str, role: str) -> None:
    """The column must exist; a name that is nearly right is suggested."""
    if name in source.names:
        return
    near = nearest(name, source.names)
    hint = f"; did you mean {near!r}?" if near else ""
    raise TableError(
        source.path, f"has no column {name!r} (asked for as {role}{hint}); it has: "
        f"{shown(source.names)}"
    )  # fmt: skip


def nearest(name: str, names: Sequence[str]) -> str:
    """The name that is nearly this one; empty where none is."""
    # Long names, of which comparing two takes minutes, are nobody's slip of the pen.
    short = [other for other in names if len(other) <= LONGEST_GUESS]
    alike = [other for other in short if other.casefold() == name.casefold()]
    near = alike or difflib.get_close_matches(name[:LONGEST_GUESS], short[:MOST_GUESSES], n=1)
    return near[0] if near else ""


def shown(names: Sequence[str]) -> str:
    """Some of many names, none of them too long."""
    most = READ.names_shown
    cut = (
        name if len(name) <= LONGEST_GUESS else f"{name[:LONGEST_GUESS]}..."
        for name in names[:most]
    )
    return ", ".join(cut) + (", ..." if len(names) > most else "")
