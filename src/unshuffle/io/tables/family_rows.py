"""Tables of labels that are not plain numbers: two classes, times with events; weights, offsets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..settings import READ, ReadSettings
from .design import design_matrix, learn_columns
from .roles import FitTable, Roles, check_label, choose_features
from .source import open_table


@dataclass(frozen=True)
class FamilyRoles(Roles):
    """Roles of columns, with those that other families than the normal one have.

    Attributes
    ----------
    event, offset, exposure, weight : str or None
    text_label : bool
        Whether labels are names of classes.
    """

    event: str | None = None
    offset: str | None = None
    exposure: str | None = None
    weight: str | None = None
    text_label: bool = False

    def beside(self) -> dict[str, str]:
        """Columns of numbers beside rows, by the name that `fit` has for them."""
        roles = {"offset": self.offset, "exposure": self.exposure, "sample_weight": self.weight}
        return {role: name for role, name in roles.items() if name is not None}

    def named(self) -> dict[str, str]:
        """Roles other than features and blocks, each with its column."""
        more = {"event": self.event, "weight": self.weight}
        more |= {"offset": self.offset, "exposure": self.exposure}
        return super().named() | {role: name for role, name in more.items() if name is not None}


@dataclass(frozen=True, eq=False)
class FamilyTable:
    """What a fit of a family needs from a table.

    Attributes
    ----------
    rows : FitTable
        Its labels are text where they are names of classes.
    event : array of bool or None
    beside : dict of arrays
        Weights, offsets and exposures that were named.
    """

    rows: FitTable
    event: NDArray[Any] | None
    beside: dict[str, NDArray[Any]]


def read_family_rows(
    paths: Path | Sequence[Path], roles: FamilyRoles, settings: ReadSettings = READ
) -> FamilyTable:
    """Read a table that holds rows and labels side by side."""
    source = open_table(paths, settings)
    label = check_label(source, roles.label, source.names)
    features = choose_features(source, roles)
    names = [roles.event, *roles.read_as_text()]
    numbers = [roles.match_prob, *roles.beside().values()]
    (names if roles.text_label else numbers).append(label)
    text = {name for name in names if name is not None}
    table = source.read(
        list(dict.fromkeys([*features, *roles.named().values()])),
        text,
        {n for n in numbers if n is not None},
        drop_missing=roles.drop_missing,
    )
    columns = learn_columns(table, features, roles.categorical, settings, roles.kmers)
    rows = FitTable(
        table,
        columns,
        design_matrix(table, columns),
        label,
        table.columns[label] if roles.text_label else table.numbers(label),
        None if roles.group is None else table.columns[roles.group],
        None if roles.known is None else table.truths(roles.known),
        None if roles.match_prob is None else table.probabilities(roles.match_prob),
        group=roles.group or "",
        ids=None if roles.id is None else table.columns[roles.id],
    )
    event = None if roles.event is None else table.truths(roles.event)
    beside = {role: table.numbers(name) for role, name in roles.beside().items()}
    return FamilyTable(rows, event, beside)
