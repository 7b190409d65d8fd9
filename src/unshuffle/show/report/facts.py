"""What a report is told about the data, and what it finds out about the fit."""

import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from ... import __version__

PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass(frozen=True)
class DataFacts:
    """The data as they were understood.

    Attributes
    ----------
    source : str
        Where they came from, such as the name of a file.
    n_rows, n_groups, n_known : int
        Rows and groups of the fit, and rows whose label is surely their own.
    columns : tuple of str
        Features, in the order of the fit.
    label, group : str
        Names of the columns with labels and groups; empty where there is none.
    dropped_columns : dict of str to str
        Columns that were left out, and why.
    dropped_rows : dict of str to int
        Why rows were left out, and how many.
    row_names, group_names : sequence, optional
        Name and group of each row of the fit, for tables and pictures; numbers otherwise.
    """

    source: str
    n_rows: int
    n_groups: int
    n_known: int = 0
    columns: tuple[str, ...] = ()
    label: str = ""
    group: str = ""
    dropped_columns: Mapping[str, str] = field(default_factory=dict)
    dropped_rows: Mapping[str, int] = field(default_factory=dict)
    row_names: Sequence[object] | None = None
    group_names: Sequence[object] | None = None

    def __post_init__(self) -> None:
        for title, names in (("row_names", self.row_names), ("group_names", self.group_names)):
            if names is not None and len(names) != self.n_rows:
                raise ValueError(
                    f"{title} has {len(names)} entries but n_rows is {self.n_rows}; give one per "
                    "row of the fit"
                )


def facts_of(model: Any, columns: Sequence[str]) -> DataFacts:
    """What the model itself knows of its data."""
    pairing = getattr(model, "_pairing", None)
    for name in ("expected_labels_", "match_proba_"):
        if hasattr(model, name):
            n_rows = len(getattr(model, name))
            break
    else:
        raise ValueError(f"{type(model).__name__} tells nothing of its rows; pass data=DataFacts")
    n_known = 0 if pairing is None else pairing.problem.n_rows - pairing.problem.n_movable
    return DataFacts("", n_rows, getattr(model, "n_groups_", 1), n_known, tuple(columns))


def versions() -> dict[str, str]:
    """What the fit was made with."""
    found = {"unshuffle": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:  # installed by other means than a package
            found[package] = "unknown"
    return found | {"Python": platform.python_version()}
