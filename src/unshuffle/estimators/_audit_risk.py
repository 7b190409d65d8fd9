"""How safe a release is: by rows, by groups, and as a whole, with the numbers behind it."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..kernels.types import BoolArray, FloatArray, IntArray

LEVELS = ("safe", "at risk", "unsafe")  # from best to worst


@dataclass(frozen=True)
class AuditReason:
    """One check of a release.

    Attributes
    ----------
    level : {"safe", "at risk", "unsafe"}
    text : str
        The number and its thresholds, as a sentence.
    """

    level: str
    text: str


@dataclass(frozen=True)
class ZoneRisk:
    """What the attack finds in one group.

    Attributes
    ----------
    name : str
    n_rows : int
    found, by_guessing : float
        Share of the rows whose label is found (within tolerance) by the attack, and by guessing.
    exposed : float
        Share of the rows whose label the attacker names with confidence, and rightly.
    is_open : bool
        Whether all rows have the same label, or there is one row only: shuffling hides nothing.
    """

    name: str
    n_rows: int
    found: float
    by_guessing: float
    exposed: float
    is_open: bool


class RowRisks(NamedTuple):
    """What the attack finds of each row; nan where a row was never followed.

    Attributes
    ----------
    followed : array of int of shape (n,)
        In how many shuffles a row was followed.
    found, exposed, confidence : array of shape (n,)
        Shares of these in which its label was found, and named with confidence and rightly, and the
        mean of the attacker's confidence.
    """

    followed: IntArray
    found: FloatArray
    exposed: FloatArray
    confidence: FloatArray

    @property
    def at_risk(self) -> BoolArray:
        """Rows that are exposed in at least half of the shuffles in which they were followed."""
        with np.errstate(invalid="ignore"):
            return np.asarray(self.exposed >= 0.5)


def row_risks(
    n_rows: int,
    rows: list[IntArray],
    found: list[FloatArray],
    exposed: list[FloatArray],
    confidence: list[FloatArray],
) -> RowRisks:
    """Add up the shuffles, each with the rows it followed."""
    every = np.concatenate(rows)
    facts = [np.concatenate(values) for values in (found, exposed, confidence)]
    followed = np.bincount(every, minlength=n_rows)
    with np.errstate(invalid="ignore"):
        means = [np.bincount(every, values, n_rows) / followed for values in facts]
    return RowRisks(followed, *means)


def zone_risks(
    names: NDArray[Any], codes: IntArray, risks: RowRisks, guessed: FloatArray, is_open: BoolArray
) -> tuple[ZoneRisk, ...]:
    """The same by group, in the order of their numbers."""
    sizes = np.bincount(codes)
    seen = np.bincount(codes, risks.followed)
    shares = [
        np.bincount(codes, np.nan_to_num(values) * risks.followed)
        / np.where(seen > 0, seen, np.nan)
        for values in (risks.found, risks.exposed)
    ]
    by_guessing = np.bincount(codes, guessed) / sizes
    all_open = np.bincount(codes, is_open) == sizes
    return tuple(
        ZoneRisk(
            str(names[k]), int(sizes[k]), float(shares[0][k]), float(by_guessing[k]),
            float(shares[1][k]), bool(all_open[k]),
        )
        for k in range(len(sizes))
    )  # fmt: skip


def worst(reasons: tuple[AuditReason, ...]) -> str:
    """The level of a release: that of its worst check."""
    return max((reason.level for reason in reasons), key=LEVELS.index)


def level_of(value: float, at_risk: float, unsafe: float) -> str:
    """Where a share stands between two thresholds."""
    return "unsafe" if value >= unsafe else "at risk" if value >= at_risk else "safe"
