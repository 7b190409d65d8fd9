"""Which rows of a fit need a decision by people, and in which order."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.types import FloatArray, IntArray
from ..settings import ShowSettings
from .rows import FitRows

# Kinds of rows, in the order in which people should look at them.
UNCLEAR, MISMATCHED, OFF, OWN, KNOWN = range(5)
KINDS = ("unclear", "another's", "far off", "own", "known")
SUSPECT = 0.5  # a row with a lower probability is a suspect, as in `suspects`
OPEN = (UNCLEAR, MISMATCHED, OFF)  # what needs a decision


@dataclass(frozen=True, eq=False)
class Listing:
    """Rows of the review, those that need a decision first.

    Attributes
    ----------
    rows : array of shape (m,)
        Numbers of the rows, counted from 0.
    kinds : array of shape (n,)
        Kind of every row of the fit, an index into `KINDS`.
    proba, sound : arrays of shape (n,)
        Probability that the label given beside a row is its own, and that it also is not far off.
    partners, shares : arrays of shape (m, k)
        Rows whose label a listed row may hold, and how probable that is; -1 and nan where there
        are fewer.
    """

    rows: IntArray
    kinds: IntArray
    proba: FloatArray
    sound: FloatArray
    partners: IntArray
    shares: FloatArray

    @property
    def n_open(self) -> int:
        """Number of rows of the fit that need a decision."""
        return int(np.isin(self.kinds, OPEN).sum())

    def first(self, n: int) -> "Listing":
        """The same with the first `n` rows alone."""
        return Listing(
            self.rows[:n], self.kinds, self.proba, self.sound, self.partners[:n], self.shares[:n]
        )


def list_rows(model: Any, rows: FitRows, limits: ShowSettings) -> Listing:
    """Rows by what there is to decide: unclear ones, then mismatched ones, then the others.

    Inside each kind, those whose probability is nearest to one half come first. Where there is
    no room for all, suspects stay: rows that rather hold another's label than their own.
    """
    proba = np.asarray(model.match_proba_)
    off = np.asarray(getattr(model, "off_proba_", np.zeros(len(proba))))
    sound = proba - off  # the label is the row's own, and not far off
    low, high = limits.surely_mismatched, limits.surely_own
    kinds = np.select([sound < low, sound < high], [MISMATCHED, UNCLEAR], OWN)
    kinds[(kinds != OWN) & (off > 1.0 - proba)] = OFF
    if rows.groups is not None:
        kinds[(rows.groups < 0) & (kinds == OWN)] = KNOWN
    distance = np.abs(sound - 0.5)
    kept = np.lexsort((distance, kinds, sound >= SUSPECT))[: limits.most_matches]
    listed = kept[np.lexsort((distance[kept], kinds[kept]))].astype(np.int64)
    none = np.full((len(listed), limits.most_partners), -1, dtype=np.int64)
    partners, shares = none, np.full(none.shape, np.nan)
    if hasattr(model, "likely_partners"):
        asked = np.flatnonzero(np.isin(kinds[listed], (UNCLEAR, MISMATCHED)))
        if len(asked):
            found = model.likely_partners(listed[asked], limits.most_partners)
            partners[asked], shares[asked] = found
    return Listing(listed, kinds, proba, sound, partners, shares)
