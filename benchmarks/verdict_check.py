"""`python -m benchmarks.verdict_check`: are trusted fits sound, on sets that set no threshold?"""

import sys
import warnings

from unshuffle import warm_up

from .run import show
from .verdict_sets import CHECKING, collect
from .verdict_thresholds import SOUND

LEVELS = ("trust", "caution", "reject")


def table(rows):
    """By kind of shuffle: how many fits each level has, and how many of them are sound."""
    lines = []
    for kind in (*CHECKING.shuffles, "all"):
        some = [row for row in rows if kind in {row["shuffle"], "all"}]
        line = {"shuffle": kind, "sets": len(some)}
        for level in LEVELS:
            errors = [row["error"] for row in some if row["level"] == level]
            line[level] = len(errors)
            line[f"{level}, sound"] = sum(error < SOUND for error in errors)
        if line["trust"]:
            line["share"] = f"{line['trust, sound'] / line['trust']:.1%}"
        lines.append(line)
    return lines


def grid(n_sets=300):
    """The checking family, measured afresh."""
    return table(collect(CHECKING, n_sets, again=True))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    show(grid(int(sys.argv[1]) if len(sys.argv) > 1 else 300))
