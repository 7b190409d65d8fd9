"""Write docs/paper.md, and keep what `unshuffle reproduce all` found.

Usage: python -m docs.make_paper [FOLDER], from the root of the project. A FOLDER that `unshuffle
reproduce all` has filled goes into docs/results/paper.json; the page is written from that file.
"""

import sys
from pathlib import Path

from docs.tables import markdown, read_table, write_result

from unshuffle.paper.catalogue import EXPERIMENTS
from unshuffle.paper.files import Shelf

PAGE = Path(__file__).with_name("paper.md")
HEAD = """# The paper, reproduced

Every experiment of "Stochastic EM for Shuffled Linear Regression" (Abid & Zou, 2018) at its full
settings, made by `unshuffle reproduce all`; the command also writes the pictures and a page with
everything in it. `docs/make_paper.py` wrote this text from those tables.

A verdict says whether the claim holds in our table; the lines below it say what that is worth.
"""


def read_folder(folder):
    """Tables of every experiment, and what they say about the paper's claims."""
    shelf, readings, tables = Shelf(Path(folder)), [], {}
    for experiment in EXPERIMENTS.values():
        table, stamp = shelf.table(experiment), shelf.stamp(experiment)
        reading = experiment.read(table)
        tables[experiment.name] = experiment.summarise(table).to_dict("records")
        readings.append(
            {
                "name": experiment.name,
                "figure": experiment.figure,
                "title": experiment.title,
                "claim": reading.claim,
                "verdict": reading.verdict,
                "published": reading.published,
                "ours": reading.ours,
                "rule": reading.rule,
                "comment": reading.comment,
                "seed": stamp["made with"]["seed"],
                "seconds": round(stamp["seconds"]),
            }
        )
    return {"readings": readings} | tables


def section(reading):
    """One experiment on the page."""
    command = f"unshuffle reproduce {reading['name']} --seed {reading['seed']}"
    return f"""
## {reading["figure"]}: {reading["title"]}

**The claim, in our words.** {reading["claim"]}
**It {reading["verdict"]}.**

- Published: {reading["published"]}.
- Here: {reading["ours"]}
- Rule: it {reading["rule"]}.
- What it shows: {reading["comment"]}

{markdown(read_table("paper." + reading["name"]))}
`{command}`, {reading["seconds"]} s on two cores.
"""


def page():
    """The whole page."""
    return HEAD + "".join(section(reading) for reading in read_table("paper.readings"))


def main():
    """Keep a folder if one is named, then write."""
    if len(sys.argv) > 1:
        command = "unshuffle reproduce all && python -m docs.make_paper reproduction"
        write_result("paper", command, read_folder(sys.argv[1]))
    PAGE.write_text(page())


if __name__ == "__main__":
    main()
