"""`python -m benchmarks.verdict_check`: are trusted fits sound, on sets that set no threshold?"""

import argparse
import warnings

from unshuffle import warm_up

from .run import show
from .verdict_sets import CHECKING, OTHER_NOISE, collect
from .verdict_thresholds import SOUND

LEVELS = ("trust", "caution", "reject")
FAMILIES = {family.name: family for family in (CHECKING, OTHER_NOISE)}


def table(rows, by="shuffle", kinds=CHECKING.shuffles):
    """By kind of shuffle: how many fits each level has, and how many of them are sound."""
    lines = []
    for kind in (*kinds, "all"):
        some = [row for row in rows if kind in {row[by], "all"}]
        line = {by: kind, "sets": len(some)}
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


def main():
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.verdict_check", description=__doc__)
    parser.add_argument("sets", nargs="?", type=int, default=300)
    parser.add_argument("--family", choices=FAMILIES, default=CHECKING.name)
    asked = parser.parse_args()
    family = FAMILIES[asked.family]
    rows = collect(family, asked.sets, again=True)
    show(table(rows, kinds=family.shuffles))
    if len(family.laws) > 1:
        show(table(rows, "law", family.laws))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    main()
