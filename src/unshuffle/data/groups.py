"""Groups and known rows as a user gives them, turned into numbers."""

from collections.abc import Hashable, Iterable
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..kernels.types import BoolArray, IntArray
from .numbers import refuse_masked


def encode_groups(groups: Any, n_rows: int, name: str = "groups") -> IntArray:
    """Number the groups 0, 1, ... in order of first appearance.

    The order of appearance, rather than of the names, makes a fit independent of what the
    groups are called. `name` is what messages call them, a plural.
    """
    if groups is None:
        return np.zeros(n_rows, dtype=np.int64)
    if isinstance(groups, str) or not hasattr(groups, "__len__"):
        raise ValueError(
            f"{name} must hold one group label per row, got {type(groups).__name__} {groups!r}"
        )
    if len(groups) != n_rows:
        raise ValueError(
            f"{name} has {len(groups)} entries but there are {n_rows} rows; "
            "give one group label per row"
        )
    if isinstance(groups, list | tuple):  # an array would turn 1 and "1" into the same label
        return _encode_objects(list(groups), name)
    if isinstance(groups, np.ma.MaskedArray):
        check_missing(np.flatnonzero(np.ma.getmaskarray(groups)), name)
    labels = np.asarray(groups)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(
            f"{name} must be one-dimensional, got shape {labels.shape}; "
            "combine several columns into one label first"
        )
    if labels.dtype.kind in "OV":
        return _encode_objects(labels.tolist(), name)
    if labels.dtype.kind in "fc":
        check_missing(np.flatnonzero(np.isnan(labels)), name)
    if labels.dtype.kind in "mM":
        check_missing(np.flatnonzero(np.isnat(labels)), name)
    return _first_appearance(labels)


def check_missing(rows: Iterable[int], name: str = "groups") -> None:
    """Refuse groups with missing values, naming the rows."""
    rows = list(rows)
    if rows:
        shown = ", ".join(str(int(row)) for row in rows[:5]) + (", ..." if len(rows) > 5 else "")
        one = "stratum" if name == "strata" else "group"
        raise ValueError(
            f"{name} has {len(rows)} missing value(s), in row(s) {shown}; every row needs a {one}: "
            f"drop those rows or give them a {one} of their own"
        )


def check_known(known: Any, n_rows: int) -> BoolArray:
    """Boolean mask of the rows whose label is surely theirs."""
    if known is None:
        return np.zeros(n_rows, dtype=bool)
    refuse_masked(known, "known")
    mask = np.asarray(known)
    if mask.ndim != 1 or len(mask) != n_rows:
        raise ValueError(
            f"known has shape {mask.shape} but there are {n_rows} rows; "
            "give one True or False per row"
        )
    if mask.dtype.kind == "O" and all(isinstance(value, bool | np.bool_) for value in mask):
        mask = mask.astype(bool)
    if mask.dtype.kind != "b":
        raise ValueError(
            f"known must be a boolean mask (True where the label is surely the row's own), "
            f"got dtype {mask.dtype}; convert row numbers with np.isin(np.arange(n), rows)"
        )
    return mask


def _first_appearance(labels: NDArray[Any]) -> IntArray:
    _, first, codes = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[codes]


def _encode_objects(labels: list[Hashable], name: str) -> IntArray:
    check_missing((i for i, label in enumerate(labels) if is_missing(label)), name)
    seen: dict[Hashable, int] = {}
    try:
        return np.array([seen.setdefault(label, len(seen)) for label in labels], dtype=np.int64)
    except TypeError as error:
        raise ValueError(f"group labels must be hashable: {error}") from error


def is_missing(label: Any) -> bool:
    """Whether a label is a missing value of any kind, or a tuple that holds one."""
    if label is None or type(label).__name__ in {"NAType", "NaTType", "MaskedConstant"}:
        return True
    if isinstance(label, tuple | frozenset):
        return any(is_missing(part) for part in label)
    if isinstance(label, Decimal):  # a signalling NaN raises an error when it is compared
        return label.is_nan()
    # NaN and NaT differ from themselves.
    return isinstance(label, Number | np.datetime64 | np.timedelta64) and bool(label != label)  # noqa: PLR0124
