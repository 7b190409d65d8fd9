"""`from_pairs`: two files and a table of candidate pairs to linked records."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..io.frames import column_names, library_of, make_frame, plain_columns
from ..kernels.types import BoolArray, IntArray
from .pair_table import PairTable, as_truths, read_pairs
from .records import LinkedRecords
from .resolve import Candidates, Links, candidates_of, checks_of, link, no_checks


def from_pairs(
    pairs: Any,
    left: Any,
    right: Any,
    *,
    label: str | None = None,
    features: Sequence[str] | None = None,
    left_id: str | None = None,
    right_id: str | None = None,
    columns: Sequence[str] | None = None,
    probability: Any = None,
    checked: Any = None,
    calibration: str = "auto",
    threshold: float = 0.0,
    match_features: Sequence[str] = (),
) -> LinkedRecords:
    r"""Link two files one-to-one by a table of candidate pairs, and calibrate the probabilities.

    Of all one-to-one links among the pairs those are taken whose probabilities have the largest
    sum, which is the expected number of right links. The assignment is solved inside connected
    components of the pairs, so that never all pairs of records are compared.

    Where some links were checked, their probabilities are calibrated: by isotonic regression, or by
    a logistic regression on the logit (Platt), whichever predicts held-out checked links better.
    Links checked as wrong are taken out, and their records linked anew; links checked as right
    stay, with probability 1.

    Parameters
    ----------
    pairs : data frame, or pandas Series, DataFrame or MultiIndex with two levels
        Candidate pairs. Columns of splink (`unique_id_l`, `unique_id_r`, and `match_probability` or
        `match_weight`) and of fastLink (`inds.a`, `inds.b`, `posterior`; rows counted from 1) are
        recognised. Pairs of recordlinkage are a MultiIndex, whose levels refer to the index of
        `left` and `right`.
    left : data frame
        Records with the features.
    right : data frame
        Records with the label.
    label : str, optional
        Column of `right`; left out if there is only one beside the id.
    features : sequence of str, optional
        Columns of `left`; all but the id if left out.
    left_id, right_id : str, optional
        Columns of the ids of the records; "unique_id" if left out, and `right_id` like `left_id`.
    columns : pair of str, optional
        Columns of `pairs` with the ids of left and right records, where they are not recognised.
    probability : str or array of shape (n_pairs,), optional
        Column of `pairs`, where it is not recognised, or the probabilities themselves.
    checked : str or data frame, optional
        Links that somebody has checked, drawn at random from the links: a column of `pairs` that is
        true for right links, false for wrong ones and missing for all others; or a data frame with
        the two columns of ids and one, "right", of true and false.
    calibration : {"auto", "isotonic", "platt", "none"}, default="auto"
        "auto" chooses by cross-validation; "none" keeps the probabilities as given.
    threshold : float, default=0.0
        Pairs with a lower probability, as given, are no candidates.
    match_features : sequence of str, optional
        Columns of `pairs` that come along, one row per link.

    Returns
    -------
    linked : LinkedRecords
        With `X`, `y` and `match_prob`, and the records without a link.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from unshuffle import MomentRegressor
    >>> from unshuffle.linkage import from_pairs
    >>> rng = np.random.default_rng(0)
    >>> left = pd.DataFrame({"unique_id": np.arange(200), "age": rng.normal(40, 10, 200)})
    >>> right = pd.DataFrame({"unique_id": np.arange(200), "income": 30 + 0.5 * left["age"]})
    >>> pairs = pd.DataFrame({
    ...     "unique_id_l": np.repeat(np.arange(200), 2),
    ...     "unique_id_r": (np.arange(400) // 2 + np.arange(400) % 2) % 200,
    ...     "match_probability": np.tile([0.9, 0.2], 200),
    ... })
    >>> linked = from_pairs(pairs, left, right)
    >>> linked
    LinkedRecords: 200 one-to-one links from 400 candidate pairs
      left: 200 records, 0 without a link; right: 200 records, 0 without a link
      expected wrong links: 10.0% (probabilities as given); ties: 0
      features: age
    >>> model = MomentRegressor().fit(linked.X, linked.y, match_prob=linked.match_prob)
    """
    id_names = (left_id or "unique_id", right_id or left_id or "unique_id")
    table = read_pairs(pairs, columns, probability, id_names)
    if not 0.0 <= threshold <= 1.0:
        raise ValueError(f"threshold is a probability between 0 and 1, got {threshold}")
    records = [
        _ids(frame, table.ids, name, side)
        for frame, name, side in zip((left, right), id_names, ("left", "right"), strict=True)
    ]
    found = candidates_of(table, records[0], records[1], threshold)
    links = link(found, *_checks(checked, table, found, records), calibration)
    names = _features(left, features, id_names[0] if table.ids == "column" else None)
    label = _label(right, label, id_names[1] if table.ids == "column" else None)
    return LinkedRecords(
        X=_take(left, links.left, names),
        y=np.asarray(plain_columns(right)[label])[links.right],
        match_prob=links.match_prob,
        known=links.known,
        match_features=_clues(pairs, table, links, match_features),
        names=names,
        left_rows=links.left,
        right_rows=links.right,
        unlinked_left=_others(links.left, found.n_left),
        unlinked_right=_others(links.right, found.n_right),
        tied=links.tied,
        score=links.score,
        calibration=links.calibration,
        counts=count(table, found, links),
        notes=notes_of(found, links),
    )


def count(table: PairTable, found: Candidates, links: Links) -> dict[str, int]:
    """How many of everything."""
    return {
        "left": found.n_left,
        "right": found.n_right,
        "pairs": len(table.left),
        "repeated pairs": found.n_duplicates,
        "pairs below the threshold": found.n_impossible,
        "links": len(links.left),
        "ties": int(links.tied.sum()),
        "components": links.assignment.n_components,
        "largest component": links.assignment.largest,
        "greedy links": links.assignment.n_greedy,
        "checked and right": int(links.known.sum()),
        "checked and wrong": links.n_removed,
    }


def describe_links(found: Candidates, links: Links) -> str:
    """One sentence."""
    n, n_left, n_right = len(links.left), found.n_left, found.n_right
    return (
        f"{n:,} of {n_left:,} left and {n_right:,} right records are linked one-to-one, "
        f"{1.0 - links.match_prob.mean():.1%} of the links expected to be wrong, "
        f"{int(links.tied.sum()):,} tied with another pair"
    )


def notes_of(found: Candidates, links: Links) -> list[str]:
    """What a user should know."""
    notes = []
    if found.swapped:
        notes.append("the pairs name the right records first; they were turned round")
    if found.n_duplicates:
        notes.append(f"{found.n_duplicates:,} pairs stand more than once and were merged")
    greedy, largest = links.assignment.n_greedy, links.assignment.largest
    if greedy:
        notes.append(
            f"{greedy:,} links were taken greedily, since {largest:,} records hang together; leave "
            "out improbable pairs (threshold) for the best assignment"
        )
    return notes


def _checks(
    checked: Any, table: PairTable, found: Candidates, records: list[list[Any]]
) -> tuple[BoolArray, BoolArray]:
    """Which candidate pairs were checked, and which of them are right."""
    if checked is None:
        return no_checks(len(found.left))
    if isinstance(checked, str):
        if checked not in table.others:
            raise ValueError(f"pairs has no column {checked!r} for checked links")
        values, right = as_truths(table.others[checked], checked)
        return values[found.numbers], right[found.numbers]
    if library_of(checked) is None:
        raise ValueError(
            "checked must be the name of a column of pairs, or a data frame of checked links; got "
            f"{type(checked).__name__}"
        )
    return checks_of(plain_columns(checked), table, found, records)


def _ids(frame: Any, kind: str, name: str, side: str) -> list[Any]:
    """Ids of the records of a file."""
    if library_of(frame) is None:
        raise ValueError(
            f"{side} must be a data frame of pandas, polars or pyarrow, got {type(frame).__name__}"
        )
    if kind == "row":
        return list(range(1, len(frame) + 1))
    if kind == "index":
        if not hasattr(frame, "index"):
            raise ValueError(f"pairs with a MultiIndex need a pandas data frame as {side}")
        return list(frame.index.tolist())
    if name not in column_names(frame):
        raise ValueError(
            f"the {side} records have no column {name!r} with their ids; name it with {side}_id "
            f"(they have {', '.join(column_names(frame)[:8])})"
        )
    return list(np.asarray(plain_columns(frame)[name]).tolist())


def _features(left: Any, given: Sequence[str] | None, id_name: str | None) -> list[str]:
    names = column_names(left)
    if given is None:
        return [name for name in names if name != id_name]
    missing = [name for name in given if name not in names]
    if missing:
        raise ValueError(f"the left records have no column {missing[0]!r}")
    return list(given)


def _label(right: Any, given: str | None, id_name: str | None) -> str:
    names = [name for name in column_names(right) if name != id_name]
    if given is None and len(names) == 1:
        return names[0]
    if given is None or given not in names:
        found = "has no column " + repr(given) if given is not None else "needs a label"
        raise ValueError(f"right {found}; give label, one of {', '.join(names[:12])}")
    return given


def _take(frame: Any, rows: IntArray, names: list[str]) -> Any:
    """Some rows and columns, in the library of the frame."""
    import narwhals as nw

    native = nw.from_native(frame, eager_only=True).select(names)[rows.tolist()].to_native()
    return native.reset_index(drop=True) if hasattr(native, "reset_index") else native


def _clues(pairs: Any, table: PairTable, links: Links, names: Sequence[str]) -> Any:
    if not names:
        return None
    missing = [name for name in names if name not in table.others]
    if missing:
        raise ValueError(
            f"pairs has no column {missing[0]!r} for match_features; it has "
            f"{', '.join(list(table.others)[:12])}"
        )
    columns = {name: np.asarray(table.others[name])[links.pairs] for name in names}
    return make_frame(columns, library_of(pairs))


def _others(rows: IntArray, n: int) -> IntArray:
    free = np.ones(n, dtype=bool)
    free[rows] = False
    return np.flatnonzero(free)
