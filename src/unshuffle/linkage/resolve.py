"""From candidate pairs to one-to-one links with calibrated probabilities."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..kernels.types import BoolArray, FloatArray, IntArray
from .assignment import Assignment, assign
from .calibration import METHODS, Calibration, calibrate
from .pair_table import PairTable, as_truths, merge_duplicates, refuse_unknown, rows_of

RIGHT = ("right", "is_match", "match", "correct")  # what a column of checks is called


@dataclass(frozen=True, eq=False)
class Candidates:
    """Distinct pairs by the numbers of their records.

    Attributes
    ----------
    left, right : arrays of shape (n_pairs,)
    probability : array of shape (n_pairs,)
    numbers : array of shape (n_pairs,)
        Rows of the table of pairs.
    n_left, n_right, n_duplicates, n_impossible : int
        Records, and pairs left out: repeated ones, and those of probability 0 or below a threshold.
    swapped : bool
        Whether the table names the right records first.
    """

    left: IntArray
    right: IntArray
    probability: FloatArray
    numbers: IntArray
    n_left: int
    n_right: int
    n_duplicates: int
    n_impossible: int
    swapped: bool


@dataclass(frozen=True, eq=False)
class Links:
    """One-to-one links.

    Attributes
    ----------
    left, right : arrays of shape (n_links,)
        Numbers of the records, in the order of the left records.
    match_prob : array of shape (n_links,)
    known : array of bool of shape (n_links,)
        Links that were checked and are right.
    tied : array of bool of shape (n_links,)
    pairs : array of shape (n_links,)
        Rows of the table of pairs.
    calibration : Calibration or None
    assignment : Assignment
    n_removed : int
        Links that were checked and are wrong.
    score : array of shape (n_links,)
        Probability as given.
    """

    left: IntArray
    right: IntArray
    match_prob: FloatArray
    known: BoolArray
    tied: BoolArray
    pairs: IntArray
    calibration: Calibration | None
    assignment: Assignment
    n_removed: int
    score: FloatArray


def candidates_of(
    table: PairTable,
    left: Sequence[Hashable],
    right: Sequence[Hashable],
    threshold: float,
) -> Candidates:
    """Look up the records of the pairs; the same pair twice, and impossible ones, are left out."""
    if not len(table.left):
        raise ValueError("there are no pairs; check the table, or its filter")
    names = table.names
    rows = (
        rows_of(table.left, left, "left", names[0], table.first_row),
        rows_of(table.right, right, "right", names[1], table.first_row),
    )
    swapped = False
    if min(rows[0].min(), rows[1].min()) < 0:
        # A tool may order the two files by their names.
        other = (
            rows_of(table.right, left, "left", names[1], table.first_row),
            rows_of(table.left, right, "right", names[0], table.first_row),
        )
        if min(other[0].min(), other[1].min()) >= 0:
            rows, swapped = other, True
    if not swapped:
        refuse_unknown(rows[0], table.left, left, "left")
        refuse_unknown(rows[1], table.right, right, "right")
    kept = merge_duplicates(rows[0], rows[1], table.probability, len(right), table.first_row)
    n_duplicates = len(table.left) - len(kept)
    possible = kept[(table.probability[kept] > 0.0) & (table.probability[kept] >= threshold)]
    if not len(possible):
        raise ValueError(
            f"none of {len(kept)} pairs has a probability above {threshold:g}; lower the threshold"
        )
    return Candidates(
        rows[0][possible], rows[1][possible], table.probability[possible], possible,
        len(left), len(right), n_duplicates, len(kept) - len(possible), swapped,
    )  # fmt: skip


def link(found: Candidates, checked: BoolArray, right: BoolArray, calibration: str) -> Links:
    """Resolve pairs one-to-one, calibrate, and use what was checked.

    The calibration is learnt from links as they come out of the pairs alone, which is what a
    sample for checking is drawn from. Then pairs that are known to be wrong are taken out, those
    known to be right are kept, and the records that became free are linked anew.
    """
    if calibration not in {"auto", "none", *METHODS}:
        raise ValueError(
            f"calibration must be 'auto', 'isotonic', 'platt' or 'none', got {calibration!r}"
        )
    sure = checked & right
    _refuse_contradictions(found, sure)
    assignment, n_removed, curve = assign(found.left, found.right, found.probability), 0, None
    if checked.any():
        sample = assignment.chosen[checked[assignment.chosen]]
        n_removed = int(np.sum(~right[sample]))
        if calibration != "none":
            curve = calibrate(found.probability[sample], right[sample], calibration)
        assignment = _with_checks(found, sure, checked & ~right)
    elif calibration in METHODS:
        raise ValueError(f"calibration={calibration!r} needs checked links; give checked")
    chosen = assignment.chosen[np.argsort(found.left[assignment.chosen], kind="stable")]
    tied = assignment.tied[np.argsort(found.left[assignment.chosen], kind="stable")]
    probability = found.probability[chosen]
    match_prob = probability if curve is None else curve(probability)
    return Links(
        found.left[chosen], found.right[chosen], np.where(sure[chosen], 1.0, match_prob),
        sure[chosen], tied, found.numbers[chosen], curve, assignment, n_removed, probability,
    )  # fmt: skip


def _with_checks(found: Candidates, sure: BoolArray, wrong: BoolArray) -> Assignment:
    """The best links without wrong pairs, and with those that are surely right."""
    left_taken, right_taken = np.zeros(found.n_left, bool), np.zeros(found.n_right, bool)
    left_taken[found.left[sure]] = True
    right_taken[found.right[sure]] = True
    free = ~(wrong | (left_taken[found.left] | right_taken[found.right]))
    rest = np.flatnonzero(free)
    again = assign(found.left[rest], found.right[rest], found.probability[rest])
    known = np.flatnonzero(sure)
    chosen = np.concatenate([known, rest[again.chosen]])
    tied = np.concatenate([np.zeros(len(known), dtype=bool), again.tied])
    order = np.argsort(chosen)
    return Assignment(
        chosen[order], tied[order], again.n_components + len(known), again.largest, again.n_greedy
    )


def _refuse_contradictions(found: Candidates, sure: BoolArray) -> None:
    for rows, side in ((found.left[sure], "left"), (found.right[sure], "right")):
        twice = np.flatnonzero(np.bincount(rows) > 1) if len(rows) else rows
        if len(twice):
            raise ValueError(
                f"{len(twice)} {side} records are in two pairs that were checked as right, the "
                f"first in row {twice[0]}; each record has one partner"
            )


def no_checks(n_pairs: int) -> tuple[Any, Any]:
    """Where nothing was checked."""
    return np.zeros(n_pairs, dtype=bool), np.zeros(n_pairs, dtype=bool)


def checks_of(
    held: dict[str, Any], table: PairTable, found: Candidates, records: list[list[Any]]
) -> tuple[BoolArray, BoolArray]:
    """Which candidates are in a table of checked links, and which of them are right."""
    verdict = next((name for name in RIGHT if name in held), None)
    if verdict is None or not set(table.names) <= set(held):
        raise ValueError(
            f"checked links need the columns {table.names[0]!r}, {table.names[1]!r} and 'right' "
            f"(true or false); there are {', '.join(list(held)[:8])}"
        )
    left, right = (list(np.asarray(held[name]).tolist()) for name in table.names)
    plain = PairTable(left, right, np.ones(len(left)), {}, table.names, table.ids)
    rows = candidates_of(plain, records[0], records[1], 0.0)
    filled, truth = as_truths(held[verdict], verdict)
    filled, truth = filled[rows.numbers], truth[rows.numbers]
    key, wanted = (side.left * found.n_right + side.right for side in (found, rows))
    order = np.argsort(key)
    place = order[np.minimum(np.searchsorted(key[order], wanted), len(key) - 1)]
    there = filled & (key[place] == wanted)  # pairs that are no candidates say nothing about links
    checked, is_right = no_checks(len(key))
    checked[place[there]] = True
    is_right[place[there]] = truth[there]
    return checked, is_right
