"""Write docs/paper.md from a folder that `unshuffle reproduce all` has filled.

Usage: python docs/make_paper.py FOLDER
"""

import sys
from pathlib import Path

from unshuffle.paper.catalogue import EXPERIMENTS
from unshuffle.paper.files import Shelf

HEAD = """# The paper, reproduced

Every experiment of "Stochastic EM for Shuffled Linear Regression" (Abid & Zou, 2018) at its full
settings, made by `unshuffle reproduce all`; the command also writes the pictures and a page with
everything in it. This text is made from those tables by `docs/make_paper.py`.

A verdict says whether the claim holds in our table; what that is worth is said below it.
"""


def section(experiment, shelf):
    table, stamp = shelf.table(experiment), shelf.stamp(experiment)
    reading = experiment.read(table)
    summary = experiment.summarise(table)
    rows = [list(summary.columns), ["---"] * len(summary.columns), *summary.astype(str).to_numpy()]
    lines = "\n".join("| " + " | ".join(map(str, row)) + " |" for row in rows)
    seed = stamp["made with"]["seed"]
    return f"""
## {experiment.figure}: {experiment.title}

**The claim, in our words.** {reading.claim}
**It {reading.verdict}.**

- Published: {reading.published}.
- Here: {reading.ours}
- What it shows: {reading.comment}

{lines}

`unshuffle reproduce {experiment.name} --seed {seed}`, {stamp["seconds"]:.0f} s on two cores.
"""


def main(folder):
    shelf = Shelf(Path(folder))
    text = HEAD + "".join(section(e, shelf) for e in EXPERIMENTS.values())
    Path(__file__).with_name("paper.md").write_text(text)


if __name__ == "__main__":
    main(sys.argv[1])
