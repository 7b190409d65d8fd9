"""Can this fit be trusted? The verdict and its reasons, each with its number and its threshold."""

from dataclasses import dataclass
from typing import Literal

Level = Literal["trust", "caution", "reject"]
ORDER: tuple[Level, ...] = ("trust", "caution", "reject")


@dataclass(frozen=True)
class Reason:
    """The result of one check.

    Attributes
    ----------
    level : {"trust", "caution", "reject"}
        The verdict if this were the only check.
    check : str
        Name of the check.
    value : float
        The number measured.
    threshold : float
        The value from which on it counts against the fit.
    text : str
        One sentence: the number, and which values are good.
    advice : str
        What to do; empty where the number is good.
    """

    level: Level
    check: str
    value: float
    threshold: float
    text: str
    advice: str = ""


@dataclass(frozen=True)
class Verdict:
    """Whether a fit can be trusted.

    Attributes
    ----------
    level : {"trust", "caution", "reject"}
        The worst of the reasons' levels.
    reasons : tuple of Reason
        The worst first.
    """

    level: Level
    reasons: tuple[Reason, ...]

    @property
    def text(self) -> str:
        """One line: the level, and the reason that decided it."""
        decisive = next((r for r in self.reasons if r.level == self.level), None)
        return self.level if decisive is None else f"{self.level}: {decisive.text}"

    def __str__(self) -> str:
        return self.text


def judge(reasons: list[Reason]) -> Verdict:
    """The worst reason decides."""
    ranked = tuple(sorted(reasons, key=lambda reason: -ORDER.index(reason.level)))
    return Verdict(ranked[0].level if ranked else "trust", ranked)
