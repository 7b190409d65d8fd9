"""An experiment, and its result in words."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

if TYPE_CHECKING:
    from matplotlib.figure import Figure
    from pandas import DataFrame

Tick: TypeAlias = Callable[[int, int], None]
Verdict: TypeAlias = Literal["holds", "holds in part", "does not hold"]


@dataclass(frozen=True)
class Reading:
    """An experiment in words.

    Attributes
    ----------
    claim : str
        What the paper says, in our words.
    published : str
        The numbers it printed, where it printed any.
    ours : str
        The same numbers from our table.
    rule : str
        When the claim holds, and when in part; otherwise it does not hold.
    verdict : str
        What follows from the rule.
    comment : str
        What the table really shows, read beside the controls.
    """

    claim: str
    published: str
    ours: str
    rule: str
    verdict: Verdict
    comment: str


@dataclass(frozen=True)
class Experiment:
    """One figure of the paper.

    Attributes
    ----------
    name : str
        What the command line calls it.
    figure : str
        Its number in the paper.
    title : str
    settings, quick : object
        The paper's settings, and a version that takes less than a minute.
    run : callable
        ``run(settings, seed, tick)`` gives the tidy table; ``tick(done, total)`` reports progress.
    draw : callable
        The paper's picture from the table.
    summarise : callable
        The short table shown below the picture.
    read : callable
        The table in words.
    """

    name: str
    figure: str
    title: str
    settings: Any
    quick: Any
    run: Callable[[Any, int, Tick], "DataFrame"]
    draw: Callable[["DataFrame"], "Figure"]
    summarise: Callable[["DataFrame"], "DataFrame"]
    read: Callable[["DataFrame"], Reading]


def judge(holds: bool, in_part: bool) -> Verdict:
    """The verdict from two answers: does all of the claim hold, does some of it?"""
    if holds:
        return "holds"
    return "holds in part" if in_part else "does not hold"
