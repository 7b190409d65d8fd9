"""One self-contained page with every finished experiment."""

import base64
from collections.abc import Iterable
from html import escape
from importlib.resources import files
from typing import Any

import pandas as pd

from .experiment import Experiment, Reading
from .files import Shelf, plain_settings

QUICK = (
    '<p class="quick">Quick settings: fewer repeats than in the paper, so that numbers and verdict '
    "may change. Run without <code>--quick</code> for those of the paper.</p>\n"
)
MARKS = {"holds": "✓", "holds in part": "◐", "does not hold": "✗"}


def write_page(shelf: Shelf, experiments: Iterable[Experiment]) -> None:
    """Write index.html from what is on the shelf."""
    finished = [
        (experiment, stamp)
        for experiment in experiments
        if (stamp := shelf.stamp(experiment)) is not None
    ]
    sections, lines = [], []
    for experiment, stamp in finished:
        table = shelf.table(experiment)
        reading = experiment.read(table)
        lines.append(_overview_line(experiment, reading))
        sections.append(
            _section(
                experiment, reading, experiment.summarise(table), shelf.picture(experiment), stamp
            )
        )
    template = (files(__package__) / "page.html").read_text(encoding="utf-8")
    page = template.replace("{{overview}}", "\n".join(lines))
    page = page.replace("{{sections}}", "\n".join(sections))
    shelf.write_page(page)


def _overview_line(experiment: Experiment, reading: Reading) -> str:
    return (
        f'<tr><td>{escape(experiment.figure)}</td><td><a href="#{experiment.name}">'
        f"{escape(experiment.title)}</a></td><td>{escape(reading.claim)}</td>"
        f"<td>{_badge(reading.verdict)}</td></tr>"
    )


def _section(
    experiment: Experiment,
    reading: Reading,
    summary: pd.DataFrame,
    picture: bytes,
    stamp: dict[str, Any],
) -> str:
    image = base64.b64encode(picture).decode("ascii")
    made = stamp["made with"]
    settings = ", ".join(f"{key} = {value}" for key, value in made["settings"].items())
    name = experiment.name
    quick = made["settings"] == plain_settings(experiment.quick)
    note = QUICK if quick else ""
    return f"""
<section id="{name}">
<h2>{escape(experiment.figure)}: {escape(experiment.title)} {_badge(reading.verdict)}</h2>
{note}<img src="data:image/png;base64,{image}" alt="{escape(experiment.title)}: picture of the table below">
<dl>
<dt>The paper says</dt><dd>{escape(reading.claim)}</dd>
<dt>Published</dt><dd>{escape(reading.published)}</dd>
<dt>Here</dt><dd>{escape(reading.ours)}</dd>
<dt>Rule of the verdict</dt><dd>{escape(reading.rule)}</dd>
<dt>What it shows</dt><dd>{escape(reading.comment)}</dd>
</dl>
<details><summary>Table</summary><div class="wide">{summary.to_html(index=False, border=0)}</div></details>
<p class="small">{escape(settings)}; seed {made["seed"]}; unshuffle {escape(made["version"])};
{stamp["seconds"]} s. <a href="{name}.csv">{name}.csv</a>, <a href="{name}.svg">{name}.svg</a></p>
</section>"""


def _badge(verdict: str) -> str:
    kind = verdict.replace(" ", "-")
    return f'<span class="badge {kind}">{MARKS[verdict]} {verdict}</span>'
