"""What a report shows about the data and the software."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ... import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class DataFacts:
    """The data of a fit.

    Attributes
    ----------
    source : str
        Where they came from, such as the name of a file.
    n_rows, n_groups, n_known : int
        Rows and groups of the fit, and rows whose label is known to be their own.
    columns : tuple of str
        Features, in the order of the fit.
    label, group, strata : str
        Names of the columns with labels, groups and strata; empty where there is none.
    row_names, group_names : sequence, optional
        Name and group of each row of the fit, for tables and pictures.
    partner_names : sequence, optional
        Names of what a row can be matched with, where these are not rows but labels of a table of
        their own; the names of the rows otherwise.
    positions : sequence of str, optional
        Place of each row on a plate: a letter and a number, such as A1; before it may stand the
        name of the plate, as in "plate 2:A1".
    records : mapping of str to sequence, optional
        Columns that are shown of a row beside those of its partner.
    """

    source: str
    n_rows: int
    n_groups: int
    n_known: int = 0
    columns: tuple[str, ...] = ()
    label: str = ""
    group: str = ""
    row_names: Sequence[object] | None = None
    group_names: Sequence[object] | None = None
    partner_names: Sequence[object] | None = None
    positions: Sequence[str] | None = None
    records: Mapping[str, Any] | None = None
    strata: str = ""

    def __post_init__(self) -> None:
        given: dict[str, Sequence[object] | None] = {
            "row_names": self.row_names,
            "group_names": self.group_names,
            "partner_names": self.partner_names,
            "positions": self.positions,
        }
        given |= {f"records[{title!r}]": values for title, values in (self.records or {}).items()}
        for title, names in given.items():
            if names is not None and len(names) != self.n_rows:
                raise ValueError(
                    f"{title} has {len(names)} entries but n_rows is {self.n_rows}; give one per "
                    "row of the fit"
                )


def facts_of(model: Any, columns: Sequence[str], n_known: int) -> DataFacts:
    """What a model knows of its data."""
    per_row = getattr(model, "expected_labels_", getattr(model, "match_proba_", None))
    if per_row is None:
        raise ValueError(
            f"{type(model).__name__} keeps nothing of its rows, so that there is no report on them"
        )
    n_groups = getattr(model, "n_groups_", 1)
    return DataFacts("", len(per_row), n_groups, n_known, tuple(columns))


def versions() -> dict[str, str]:
    """Versions of the software."""
    found = {"unshuffle": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # not installed as a package
            found[package] = "unknown"
    return found | {"Python": platform.python_version()}
