"""Candidate pairs of any linkage tool, read into two columns of record numbers and a probability.

Known by their columns are splink (``unique_id_l``, ``unique_id_r``, ``match_probability`` or
``match_weight``), fastLink (``inds.a``, ``inds.b``, ``posterior``; rows counted from 1) and
recordlinkage (a pandas MultiIndex). All others name their columns.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..io.frames import library_of, plain_columns
from ..kernels.types import BoolArray, FloatArray, IntArray

SPLINK = ("unique_id_l", "unique_id_r")
FASTLINK = (("inds.a", "inds.b"), ("inds_a", "inds_b"))
PROBABILITIES = ("match_probability", "posterior", "probability")
WEIGHT = "match_weight"
WITH_PROBABILITY = (*PROBABILITIES, WEIGHT)


@dataclass(frozen=True, eq=False)
class PairTable:
    """Pairs as a tool wrote them.

    Attributes
    ----------
    left, right : lists
        Ids of the records of each pair.
    probability : array of shape (n_pairs,)
    others : dict of arrays
        The columns without a role.
    names : tuple of str
        What the two columns of ids are called.
    ids : {"column", "index", "row"}
        What the ids name: values of a column, the index of a data frame, or rows from 1.
    first_row : int
        Number of the first row in messages: 1 for files, 0 in Python.
    """

    left: list[Hashable]
    right: list[Hashable]
    probability: FloatArray
    others: dict[str, Any]
    names: tuple[str, str]
    ids: str
    first_row: int = 0


def read_pairs(
    pairs: Any,
    columns: Sequence[str] | None,
    probability: Any,
    id_names: tuple[Any, Any],
    first_row: int = 0,
) -> PairTable:
    """Find ids and probability in a table of pairs, whose rows count from `first_row`."""
    if hasattr(pairs, "as_pandas_dataframe"):  # splink's own frame
        pairs = pairs.as_pandas_dataframe()
    if columns is None and _has_two_levels(pairs):
        return _read_multi_index(pairs, probability)
    if not isinstance(pairs, dict) and (library_of(pairs) is None or len(pairs.shape) != 2):
        raise ValueError(
            "pairs must be a data frame of pandas, polars or pyarrow, or a pandas object with a "
            f"MultiIndex of two levels; got {type(pairs).__name__}"
        )
    table = dict(pairs) if isinstance(pairs, dict) else plain_columns(pairs)
    names, ids = find_columns(list(table), id_names, columns)
    value, used = _probability(table, probability, first_row=first_row)
    others = {name: column for name, column in table.items() if name not in {*names, *used}}
    left, right = (_plain_list(table[name]) for name in names)
    return PairTable(left, right, value, others, names, ids, first_row)


def rows_of(
    ids: list[Hashable], records: Sequence[Hashable], side: str, column: str, first_row: int = 0
) -> IntArray:
    """Number of the record that each id names; -1 where none does."""
    number: dict[Hashable, int] = {}
    for row, name in enumerate(records):
        if number.setdefault(name, row) != row:
            raise ValueError(
                f"the {side} records have the id {name!r} more than once ({column}, rows "
                f"{number[name] + first_row} and {row + first_row}); each record needs an id of "
                "its own"
            )
    return np.array([number.get(name, -1) for name in ids], dtype=np.int64)


def refuse_unknown(
    rows: IntArray, ids: list[Hashable], records: Sequence[Hashable], side: str
) -> None:
    """Every pair must name records that are there."""
    unknown = np.flatnonzero(rows < 0)
    if not len(unknown):
        return
    names = list(dict.fromkeys(ids[k] for k in unknown))
    kinds = {type(names[0]).__name__, type(records[0]).__name__ if len(records) else ""}
    as_text = {str(name) for name in records[:10_000]}
    hint = (
        f"; ids are {' in one and '.join(sorted(kinds))} in the other: make them alike"
        if len(kinds) > 1 and any(str(name) in as_text for name in names)
        else f"; drop these pairs, or give the {side} file that the pairs were made from"
    )
    shown = ", ".join(repr(name) for name in names[:5]) + (", ..." if len(names) > 5 else "")
    raise ValueError(
        f"{len(unknown)} pairs name {len(names)} ids that no {side} record has: {shown}{hint}"
    )


def merge_duplicates(
    left: IntArray, right: IntArray, probability: FloatArray, n_right: int, first_row: int = 0
) -> IntArray:
    """Numbers of the pairs that are kept, in the order of their records.

    The same pair twice must have one probability. The order of the table means nothing, so that
    it does not decide between ties either.
    """
    key = left * n_right + right
    _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
    differ = np.flatnonzero(probability != probability[first][inverse])
    if len(differ):
        k = int(differ[0])
        raise ValueError(
            f"a pair stands more than once with different probabilities, "
            f"{probability[first[inverse[k]]]:g} and {probability[k]:g} (rows "
            f"{first[inverse[k]] + first_row} and {k + first_row} of the pairs); keep one of them"
        )
    kept: IntArray = first
    return kept


def as_truths(values: Any, name: str) -> tuple[BoolArray, BoolArray]:
    """Which entries of a column of checks were filled in, and which say that a link is right."""
    plain = _plain_list(values)
    checked = np.array([not _is_missing(value) for value in plain], dtype=bool)
    right = np.zeros(len(plain), dtype=bool)
    for k in np.flatnonzero(checked):
        if plain[k] not in (True, False, 0, 1):
            raise ValueError(
                f"{name} must hold true, false or nothing, got {plain[k]!r} in row {k}"
            )
        right[k] = bool(plain[k])
    return checked, right


def _is_missing(value: Any) -> bool:
    return value is None or type(value).__name__ == "NAType" or value != value  # noqa: PLR0124


def _has_two_levels(pairs: Any) -> bool:
    index = pairs if type(pairs).__name__ == "MultiIndex" else getattr(pairs, "index", None)
    return library_of(pairs) == "pandas" and getattr(index, "nlevels", 1) == 2


def _read_multi_index(pairs: Any, probability: Any) -> PairTable:
    bare = type(pairs).__name__ == "MultiIndex"
    index = pairs if bare else pairs.index
    if bare:
        table: dict[str, Any] = {}
    elif hasattr(pairs, "columns"):
        table = {str(name): pairs[name].to_numpy() for name in pairs.columns}
    else:
        table = {"probability": pairs.to_numpy()}
    value, used = _probability(table, probability, len(index))
    left, right = (index.get_level_values(level).tolist() for level in (0, 1))
    others = {name: column for name, column in table.items() if name not in used}
    return PairTable(left, right, value, others, ("level 0", "level 1"), "index")


def find_columns(
    names: list[str], id_names: tuple[Any, Any], given: Sequence[str] | None = None
) -> tuple[tuple[str, str], str]:
    """The two columns of ids, and what they name: values of a column, or rows from 1."""
    if given is not None:
        if isinstance(given, str) or len(given) != 2:
            raise ValueError(f"columns must name two columns of pairs, got {given!r}")
        missing = [name for name in given if name not in names]
        if missing:
            raise ValueError(f"pairs has no column {missing[0]!r}; it has {', '.join(names[:12])}")
        return (str(given[0]), str(given[1])), "column"
    named = (f"{id_names[0]}_l", f"{id_names[1] or id_names[0]}_r")
    for known in (named, SPLINK):
        if set(known) <= set(names):
            return known, "column"
    for known in FASTLINK:
        if set(known) <= set(names):
            return known, "row"
    raise ValueError(
        f"pairs has the columns {', '.join(names[:12])}: which two hold the ids of the records? "
        "Name them: columns=('id of left', 'id of right')"
    )


def _probability(
    table: dict[str, Any], given: Any, n_pairs: int | None = None, *, first_row: int = 0
) -> tuple[FloatArray, set[str]]:
    """The probability of each pair, and the columns that it was read from."""
    if given is not None and not isinstance(given, str):
        values = np.asarray(given, dtype=np.float64)
        expected = n_pairs if n_pairs is not None else len(next(iter(table.values())))
        if values.shape != (expected,):
            raise ValueError(
                f"probability has shape {values.shape} for {expected} pairs; give one each"
            )
        return _check(values, "probability"), set()
    if given is not None and given not in table:
        raise ValueError(f"pairs has no column {given!r}; it has {', '.join(list(table)[:12])}")
    name = given or next((name for name in PROBABILITIES if name in table), None)
    if name is not None and name != WEIGHT:
        return _check(_floats(table[name], name), name, first_row), {name, WEIGHT} & set(table)
    if WEIGHT in table:  # splink's: the logarithm of the odds to the base 2
        weight = _floats(table[WEIGHT], WEIGHT)
        return _check(1.0 / (1.0 + np.exp2(-np.clip(weight, -1000, 1000))), WEIGHT), {WEIGHT}
    raise ValueError(
        "pairs has no probability: expected a column match_probability, match_weight or posterior, "
        "or probability='name of the column'"
    )


def _check(values: FloatArray, name: str, first_row: int = 0) -> FloatArray:
    missing = np.flatnonzero(np.isnan(values))
    if len(missing):
        raise ValueError(
            f"{len(missing)} pairs have no probability, the first in row {missing[0] + first_row} "
            f"of {name!r}; drop them"
        )
    wrong = np.flatnonzero((values < 0.0) | (values > 1.0))
    if not len(wrong):
        return values
    low, high = float(values.min()), float(values.max())
    found = (
        f"{name!r} has values from {low:.4g} to {high:.4g}, row {wrong[0] + first_row} the first "
        "outside 0..1"
    )
    if high > 1.0 and low >= 0.0 and high <= 100.0 and not low < 0.0:
        raise ValueError(
            f"{found}; divide percentages by 100, and turn log odds w into probabilities first: "
            "2**w / (1 + 2**w) for splink's match weights, exp(w) / (1 + exp(w)) for natural ones"
        )
    raise ValueError(
        f"{found}: these look like log odds w; turn them into probabilities first: "
        "2**w / (1 + 2**w) for splink's match weights, exp(w) / (1 + exp(w)) for natural ones"
    )


def _floats(values: Any, name: str) -> FloatArray:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"the column {name!r} of pairs does not hold numbers: {error}") from error


def _plain_list(values: Any) -> list[Any]:
    return list(values.tolist()) if hasattr(values, "tolist") else list(values)
