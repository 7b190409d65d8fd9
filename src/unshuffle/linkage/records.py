"""Linked records: what `fit` wants, and what was left out."""

from dataclasses import dataclass, field
from typing import Any

from ..kernels.types import BoolArray, FloatArray, IntArray
from .calibration import Calibration


@dataclass(frozen=True, eq=False)
class LinkedRecords:
    """Two files, linked one-to-one.

    ``model.fit(linked.X, linked.y, match_prob=linked.match_prob)`` fits them.

    Attributes
    ----------
    X : data frame with n_links rows
        Features of the left records that were linked, in their order.
    y : array of shape (n_links,)
        Label of the right record linked to each row of X.
    match_prob : array of shape (n_links,)
        Probability that the link is right: calibrated where links were checked, 1 for links that
        were checked and are right.
    known : array of bool of shape (n_links,)
        Links that were checked and are right.
    match_features : data frame or None
        Further columns of the pairs, one row per link.
    names : list of str
        Names of the features.
    left_rows, right_rows : arrays of shape (n_links,)
        Row of each link in the two files.
    unlinked_left, unlinked_right : arrays of int
        Rows of records without a link.
    tied : array of bool of shape (n_links,)
        Links whose records have another pair of the same probability: either could be the right
        one.
    calibration : Calibration or None
    counts : dict
        Records, pairs, links, ties, and what was left out.
    notes : list of str
        What a user should know: records swapped, pairs repeated, links taken greedily.
    """

    X: Any
    y: FloatArray
    match_prob: FloatArray
    known: BoolArray
    match_features: Any
    names: list[str]
    left_rows: IntArray
    right_rows: IntArray
    unlinked_left: IntArray
    unlinked_right: IntArray
    tied: BoolArray
    calibration: Calibration | None
    counts: dict[str, int]
    notes: list[str] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        c = self.counts
        lines = [
            f"LinkedRecords: {c['links']:,} one-to-one links from {c['pairs']:,} candidate pairs",
            f"  left: {c['left']:,} records, {len(self.unlinked_left):,} without a link; "
            f"right: {c['right']:,} records, {len(self.unlinked_right):,} without a link",
            f"  expected wrong links: {1.0 - self.match_prob.mean():.1%}"
            f"{self._calibrated()}; ties: {c['ties']:,}",
            f"  features: {', '.join(self.names[:8])}{', ...' if len(self.names) > 8 else ''}",
        ]
        return "\n".join(lines + [f"  note: {note}" for note in self.notes])

    def _calibrated(self) -> str:
        found = self.calibration
        if found is None:
            return " (probabilities as given)"
        name = {"isotonic": "isotonic regression", "platt": "logistic regression"}[found.method]
        return f" (by {name} on {found.n_checked} checked links, {found.n_wrong} wrong)"
