"""Can this fit be trusted? The verdict and its reasons, each with its number and its threshold."""

from dataclasses import dataclass
from html import escape
from typing import Literal

Level = Literal["trust", "caution", "reject"]
COLOURS = {"trust": "#1b7837", "caution": "#7d5700", "reject": "#b2182b"}
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

    def _repr_html_(self) -> str:
        # White on colour is readable in light and dark notebooks.
        badge = f"background:{COLOURS[self.level]};color:#fff;padding:2px 10px;border-radius:10px"
        reasons = "".join(f"<li>{_with_advice(reason)}</li>" for reason in self.reasons)
        return f'<p><b style="{badge}">{self.level}</b> {headline(self)}</p><ul>{reasons}</ul>'


def headline(verdict: Verdict) -> str:
    """What follows from a verdict, in one sentence."""
    if not verdict.reasons:
        return "The order is known, so nothing had to be checked."
    n_against = sum(reason.level == verdict.level for reason in verdict.reasons)
    counted = f"{n_against} of {len(verdict.reasons)} checks"
    return {
        "trust": "Use the coefficients and their intervals: all checks passed.",
        "caution": f"Read the reasons before using the coefficients: {counted} advise caution.",
        "reject": f"Do not use the coefficients: {counted} reject the fit.",
    }[verdict.level]


def _with_advice(reason: Reason) -> str:
    advice = f" <i>What to do: {escape(reason.advice)}</i>" if reason.advice else ""
    return f"{escape(reason.text)}.{advice}"


def judge(reasons: list[Reason]) -> Verdict:
    """The worst reason decides."""
    ranked = tuple(sorted(reasons, key=lambda reason: -ORDER.index(reason.level)))
    return Verdict(ranked[0].level if ranked else "trust", ranked)
