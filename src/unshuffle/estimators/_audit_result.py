"""The result of an audit, and the numbers it depends on."""

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class AuditSettings:
    """The numbers of an audit."""

    # Where the attacker's confidence is cut into bands.
    edges: tuple[float, ...] = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 1.0)
    # Rows followed in a round: the posterior draws of each are kept.
    most_rows: int = 2000
    # By this much more than what it finds may the attacker's mean confidence be.
    overconfident: float = 0.2
    # Default tolerance, in standard deviations of the labels.
    tolerance: float = 0.1
    # Monte Carlo errors by which an attack must exceed guessing to be called better.
    errors_above_guessing: float = 3.0


AUDIT = AuditSettings()


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
        Share of rows whose own label the attacker names, and what guessing inside groups gives.
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
        gain = self.found.value - self.found_by_guessing.value
        error = float(np.hypot(self.found.error, self.found_by_guessing.error))
        if gain <= AUDIT.errors_above_guessing * error:
            return (
                f"the attack names {self.found} of the labels, no more than guessing inside groups "
                f"({self.found_by_guessing})"
            )
        return (
            f"the attack names {self.found} of the labels; guessing inside groups names "
            f"{self.found_by_guessing}"
        )
