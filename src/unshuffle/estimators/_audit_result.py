"""The result of an audit."""

from dataclasses import dataclass, field

import numpy as np

from ._audit_risk import AuditReason, RowRisks, ZoneRisk, level_of, worst
from ._audit_settings import AUDIT


@dataclass(frozen=True)
class Estimate:
    """A mean over shuffles, and its Monte Carlo standard error."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.1%} ± {self.error:.1%}"


@dataclass(frozen=True)
class Band:
    """Rows with about the same confidence of the attacker.

    Attributes
    ----------
    low, high : float
        Limits of the attacker's confidence.
    share : Estimate
        Share of the rows that fall in between.
    found : Estimate
        Share of those whose own label was found.
    guessed : Estimate
        Share that guessing inside groups would find among them.
    """

    low: float
    high: float
    share: Estimate
    found: Estimate
    guessed: Estimate


@dataclass(frozen=True)
class AuditResult:
    """What an attacker would learn from a release shuffled inside groups.

    Shares are of all rows. Errors are Monte Carlo errors over the shuffles: they measure how well
    the figures are known for this attack, not what a better attack would find.

    Attributes
    ----------
    n_rows, n_groups, n_shuffles : int
    smallest_group, n_alone : int
        Size of the smallest group, and rows that are alone in theirs: shuffling does not hide them.
    tolerance : float
        A label this near counts as found "within tolerance".
    found, found_by_guessing : Estimate
        Share of rows whose own label the attacker names, and what guessing inside groups gives;
        for a secret of categories, what naming the most frequent one of each group gives.
    near, near_by_guessing : Estimate
        The same for a label within tolerance of the own one.
    mean_confidence : Estimate
        Mean probability that the attacker gives to the labels it names.
    bands : tuple of Band
        By the attacker's confidence.
    coefficient_error : Estimate
        Length of (attacker's - true-order coefficients) over the length of the true-order ones,
        per standard deviation of the features. 0: the release reveals the coefficients; 1: it
        reveals nothing about them.
    naive_error : Estimate
        The same for least squares on the shuffled release.
    verdicts : dict
        How often the verdict of the attacker's own fit was "trust", "caution" and "reject".
    exposed : Estimate
        Share of rows whose label (within tolerance) the attacker names with a confidence of at
        least 75 %, and rightly. A label that half of all rows have exposes nobody.
    n_open : int
        Rows that no shuffle hides: alone in their group, or all labels of the group are the same,
        and not what half of all rows have.
    zones : tuple of ZoneRisk
        What is found in each group.
    rows : RowRisks or None
        What is found of each row.
    categories : tuple of str
        The values of a secret that is a category; empty for a number.
    """

    n_rows: int
    n_groups: int
    n_shuffles: int
    smallest_group: int
    n_alone: int
    tolerance: float
    found: Estimate
    found_by_guessing: Estimate
    near: Estimate
    near_by_guessing: Estimate
    mean_confidence: Estimate
    bands: tuple[Band, ...]
    coefficient_error: Estimate
    naive_error: Estimate
    verdicts: dict[str, int]
    exposed: Estimate = Estimate(float("nan"), float("nan"))
    n_open: int = 0
    zones: tuple[ZoneRisk, ...] = ()
    rows: RowRisks | None = field(default=None, repr=False, compare=False)
    categories: tuple[str, ...] = ()

    @property
    def level(self) -> str:
        """How safe the release is against this attack: "safe", "at risk" or "unsafe"."""
        return worst(self.reasons)

    @property
    def reasons(self) -> tuple[AuditReason, ...]:
        """The checks behind the level, each with its number and thresholds."""
        open_share, gain = self.n_open / self.n_rows, self._gain(self.near, self.near_by_guessing)
        limits = f"at risk from {AUDIT.at_risk:.0%}, unsafe from {AUDIT.unsafe:.0%}"
        exposed = level_of(self.exposed.value, AUDIT.at_risk, AUDIT.unsafe)
        hidden = level_of(open_share, 1 / self.n_rows, AUDIT.unsafe)
        better = "safe" if gain <= 0.0 else level_of(gain, 0.0, AUDIT.unsafe_gain)
        within = "" if self.categories else f" within {self.tolerance:.3g}"
        reasons = [
            AuditReason(
                exposed,
                f"{self.exposed} of the rows are exposed: their label is named{within} with a "
                f"confidence of at least {AUDIT.confident:.0%}, and rightly, and fewer than half "
                f"of all rows have it ({limits})",
            ),
            AuditReason(
                hidden,
                f"{self.n_open} of {self.n_rows} rows are hidden by no shuffle, because they are "
                f"alone in their group, or all of it has the same label, which fewer than half of "
                f"all rows have (at risk from one row, unsafe from {AUDIT.unsafe:.0%})",
            ),
            AuditReason(
                better,
                f"the attack finds {self.near} of the labels{within}, and {self._guessing} "
                f"{self.near_by_guessing} "
                f"(at risk if it is more by {AUDIT.errors_above_guessing:g} standard errors, "
                f"unsafe if it is also more by {AUDIT.unsafe_gain:.0%} of the rows)",
            ),
        ]
        if self.overconfident:
            reasons.append(
                AuditReason(
                    "at risk",
                    f"the attacker's mean confidence is {self.mean_confidence}, far above the "
                    "share found: the data are not in their true order, or the label is not linear "
                    "in the features, and the shares found are too low",
                )
            )
        return tuple(reasons)

    @property
    def _guessing(self) -> str:
        where = "inside groups" if self.n_groups > 1 else "among all rows"
        return f"naming the most frequent one {where}" if self.categories else f"guessing {where}"

    def _gain(self, found: Estimate, guessed: Estimate) -> float:
        """How much more than guessing is found; zero where that may be by chance.

        Beside the Monte Carlo error that is how much the share of so many guesses varies.
        """
        gain, share = found.value - guessed.value, guessed.value
        of_rows = share * (1.0 - share) / min(self.n_rows, AUDIT.most_rows)
        error = float(np.sqrt(found.error**2 + guessed.error**2 + of_rows))
        return gain if gain > AUDIT.errors_above_guessing * error else 0.0

    @property
    def overconfident(self) -> bool:
        """Whether the attacker's confidence is far above the share it finds.

        Then the model does not hold, or the data were not in their true order, and the shares
        found mean little.
        """
        return self.mean_confidence.value - self.found.value > AUDIT.overconfident

    @property
    def text(self) -> str:
        """One sentence."""
        if self.n_alone == self.n_rows:
            return (
                "every row is alone in its group, so that the release shows each label beside its "
                "own row; nothing is hidden"
            )
        if self.found_by_guessing.value == 1.0:
            return (
                "all rows of each group have the same label, so that the release shows the label "
                "of every row; nothing is hidden"
            )
        named = f"the attack names {self.found} of the labels"
        if self._gain(self.found, self.found_by_guessing) > 0.0:
            found = f"{named}; {self._guessing} names {self.found_by_guessing}"
        else:
            found = f"{named}, no more than {self._guessing} ({self.found_by_guessing})"
        if self.n_open:
            rows = "1 row is" if self.n_open == 1 else f"{self.n_open} rows are"
            found += f"; {rows} hidden by no shuffle"
        return found
