"""Two tables that share a group key: how many rows and labels each group has, and what follows."""

from numbers import Real
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import _num_samples

from ..data.groups import encode_groups
from ..io.frames import plain_column
from ..kernels.types import FloatArray, IntArray

UNMATCHED = ("refuse", "drop-groups", "model")
SHOWN = 5  # groups named in a message


class KeyedTables(NamedTuple):
    """Groups of rows and of labels, numbered alike.

    Attributes
    ----------
    of_rows, of_labels : arrays of shape (n_rows,) and (n_labels,)
        Number of the group.
    n_rows, n_labels : arrays of shape (n_groups,)
        How many of each a group has.
    names : list
        Keys of the groups, in the order of their numbers.
    """

    of_rows: IntArray
    of_labels: IntArray
    n_rows: IntArray
    n_labels: IntArray
    names: list[Any]

    @property
    def unequal(self) -> IntArray:
        """Groups with more rows than labels, or fewer."""
        return np.flatnonzero(self.n_rows != self.n_labels)

    @property
    def beside(self) -> IntArray:
        """For each row the number of a label of its group, in order of appearance."""
        beside = np.empty(len(self.of_rows), dtype=np.int64)
        beside[np.argsort(self.of_rows, kind="stable")] = np.argsort(self.of_labels, kind="stable")
        return beside


class Kept(NamedTuple):
    """What is left after groups with unequal counts were dropped.

    Attributes
    ----------
    rows, labels : arrays of int
        Numbers of the rows and labels kept; ``labels[k]`` stands beside ``rows[k]``.
    n_groups, n_rows, n_labels : int
        What was dropped.
    """

    rows: IntArray
    labels: IntArray
    n_groups: int
    n_rows: int
    n_labels: int


def check_unmatched(unmatched: Any) -> str:
    """One of the three settings."""
    if not isinstance(unmatched, str) or unmatched not in UNMATCHED:
        allowed = ", ".join(repr(name) for name in UNMATCHED)
        raise ValueError(f"unmatched must be one of {allowed}; got {unmatched!r}")
    return unmatched


def check_match_share(match_share: Any) -> tuple[float, float]:
    """Bounds of the share of rows whose label is among those given; "estimate" is 0 to 1."""
    if isinstance(match_share, str) and match_share == "estimate":
        return 0.0, 1.0
    bounds = (match_share, match_share) if isinstance(match_share, Real) else match_share
    pair = isinstance(bounds, tuple | list) and len(bounds) == 2
    if pair and all(isinstance(value, Real) for value in bounds):
        low, high = (float(value) for value in bounds)
        if 0.0 <= low <= high <= 1.0 and high > 0.0:
            return low, high
    raise ValueError(
        "match_share must be 'estimate', a share above 0 and up to 1, or bounds (low, high) "
        f"within 0 and 1; got {match_share!r}"
    )


def key_tables(X: Any, y: Any, groups_X: Any, groups_y: Any) -> KeyedTables:
    """Number the groups of two tables alike; without keys there is one group.

    Groups are compared by name. Keys that never meet are refused.
    """
    groups_X, groups_y = plain_column(groups_X), plain_column(groups_y)
    n_rows, n_labels = _num_samples(X), _num_samples(y)
    if (groups_X is None) != (groups_y is None):
        missing = "groups_X" if groups_X is None else "groups_y"
        raise ValueError(f"{missing} is missing: give the group of each row and of each label")
    if groups_X is None:
        return KeyedTables(
            np.zeros(n_rows, dtype=np.int64),
            np.zeros(n_labels, dtype=np.int64),
            np.array([n_rows]),
            np.array([n_labels]),
            [None],
        )
    rows, labels = _plain(groups_X), _plain(groups_y)
    for name, given, size in (("groups_X", rows, n_rows), ("groups_y", labels, n_labels)):
        if len(given) != size:
            raise ValueError(f"{name} has {len(given)} entries for {size}; give one group each")
    codes = encode_groups(rows + labels, n_rows + n_labels)
    n_groups = int(codes.max()) + 1
    first = np.full(n_groups, n_rows + n_labels)
    np.minimum.at(first, codes, np.arange(len(codes)))
    both = rows + labels
    tables = KeyedTables(
        codes[:n_rows],
        codes[n_rows:],
        np.bincount(codes[:n_rows], minlength=n_groups),
        np.bincount(codes[n_rows:], minlength=n_groups),
        [both[k] for k in first],
    )
    _refuse_strangers(tables)
    return tables


def refuse_unequal(tables: KeyedTables) -> None:
    """Each group needs as many labels as rows; the message names the settings that go on."""
    unequal = tables.unequal
    if not len(unequal):
        return
    if tables.names == [None]:
        raise ValueError(
            f"X has {tables.n_rows[0]} rows but y has {tables.n_labels[0]} labels; "
            "unmatched='model' fits tables in which some rows have no label, or some labels no row"
        )
    shown = "; ".join(
        f"{tables.names[g]!r} has {tables.n_rows[g]} rows and {tables.n_labels[g]} labels"
        for g in unequal[:SHOWN]
    )
    beyond = len(unequal) - SHOWN
    more = f"; and {_counted(beyond, 'more group')}" if beyond > 0 else ""
    raise ValueError(
        f"each group needs as many labels as rows, but {shown}{more}; to go on, "
        f"unmatched='drop-groups' leaves out {_counted(len(unequal), 'group')} of "
        f"{len(tables.names)}, and unmatched='model' fits all with rows and labels that have no "
        "partner"
    )


def keep_equal(tables: KeyedTables) -> Kept:
    """Drop the groups with unequal counts."""
    equal = tables.n_rows == tables.n_labels
    if not equal.any():
        raise ValueError(
            f"unmatched='drop-groups' leaves nothing: none of {len(equal)} groups has as many "
            "labels as rows; unmatched='model' fits such groups"
        )
    rows, labels = equal[tables.of_rows], equal[tables.of_labels]
    of_rows, of_labels = np.flatnonzero(rows), np.flatnonzero(labels)
    kept = tables._replace(of_rows=tables.of_rows[rows], of_labels=tables.of_labels[labels])
    return Kept(
        of_rows,
        of_labels[kept.beside],
        int((~equal).sum()),
        int((~rows).sum()),
        int((~labels).sum()),
    )


def refuse_too_few(n_pairs: float, n_coefficients: int, n_rows: int, n_labels: int) -> None:
    """The noise needs more pairs than there are coefficients."""
    if n_pairs <= n_coefficients:
        raise ValueError(
            f"at most {n_pairs:.3g} of {n_rows} rows and {n_labels} labels can belong together, "
            f"and there are {n_coefficients} coefficients; give more rows and labels that share "
            "a group, a larger match_share, or fewer features"
        )


def labels_as_floats(y: FloatArray) -> FloatArray:
    """Labels of a table of their own, which may be more or fewer than the rows."""
    if y.ndim != 1:
        raise ValueError(f"y must be one-dimensional, got shape {y.shape}")
    if not np.isfinite(y).all():
        place = int(np.argmin(np.isfinite(y)))
        raise ValueError(
            f"y holds {y[place]} at place {place}; a table of labels needs no entry for a label "
            "that is lost: leave those lines out"
        )
    return y


def _refuse_strangers(tables: KeyedTables) -> None:
    """Keys of two tables that have none in common were most likely written differently."""
    if np.any((tables.n_rows > 0) & (tables.n_labels > 0)):
        return
    names = [[tables.names[g] for g in np.flatnonzero(n)] for n in (tables.n_rows, tables.n_labels)]
    shown = [", ".join(repr(name) for name in side[:3]) for side in names]
    alike = [{str(name).strip().casefold() for name in side} for side in names]
    hint = (
        "they differ in type, blanks or upper and lower case only, so write both alike"
        if alike[0] & alike[1]
        else "check that both columns hold the same key"
    )
    raise ValueError(
        f"groups_X and groups_y have no group in common: {shown[0]} against {shown[1]}; {hint}"
    )


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _plain(groups: Any) -> list[Any]:
    """Group labels as Python objects, which compare across tables and print without ado."""
    return list(groups.tolist()) if hasattr(groups, "tolist") else list(groups)
