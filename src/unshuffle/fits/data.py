"""What a fit is made of: a table in memory, or parts of one that is read in passes."""

from dataclasses import dataclass, replace
from typing import TypeAlias

from ..data.clues import Clues
from ..data.problem import Problem
from ..data.survey import Parts
from ..data.threads import Workers
from ..inference.stratum_rates import StratumRates
from ..kernels.types import FloatArray, IntArray
from .checkpoint import NO_CHECKPOINT, CheckpointFile


@dataclass(frozen=True, eq=False)
class InMemory:
    """A table in memory.

    Attributes
    ----------
    problem : Problem
    workers : Workers
    match_prob : array of shape (n,) or None
        Probability that each (arranged) row's own label is right.
    label_numbers : array of shape (n,) or None
        Where labels came as a table of their own, so that their order means nothing: the number in
        that table of the label beside each row.
    clues : Clues or None
        What may say whether a row holds its own label.
    strata : StratumRates or None
        Rates of mismatches that `match_prob` comes from, of arranged rows.
    """

    problem: Problem
    workers: Workers
    match_prob: FloatArray | None = None
    label_numbers: IntArray | None = None
    clues: Clues | None = None
    strata: StratumRates | None = None

    def with_strata(self, strata: StratumRates) -> "InMemory":
        """The same table with other rates per stratum."""
        return replace(self, strata=strata, match_prob=strata.match_prob)

    @property
    def side_by_side(self) -> bool:
        """Whether labels were given beside rows."""
        return self.label_numbers is None

    @property
    def order_from(self) -> str | None:
        """Name of what was given that means that most labels are beside their own row."""
        if self.clues is not None:
            return "match_features"
        if self.strata is not None:
            return "a mismatch_rate per stratum"
        return None if self.match_prob is None else "match_prob"


@dataclass(frozen=True, eq=False)
class InPasses:
    """Parts of a table, on this machine or on the workers of a cluster.

    Attributes
    ----------
    parts : Parts
    checkpoint : CheckpointFile
        Where an interrupted fit continues from.
    """

    parts: Parts
    checkpoint: CheckpointFile = NO_CHECKPOINT


Data: TypeAlias = InMemory | InPasses
