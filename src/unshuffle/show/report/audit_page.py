"""The page about an audit: how safe a release is, the numbers behind it, zones and rows at risk."""

import math
from collections.abc import Mapping, Sequence
from importlib.resources import files
from typing import Any

from ... import __version__
from ...io.marks import is_page_by
from ...io.outputs import FileKind
from ..markup import Cell, Column, definitions, text
from ..settings import SHOW

GENERATOR = "unshuffle audit"
AUDIT_PAGE = FileKind("a page about an audit", is_page_by(GENERATOR))
MARKS = {"safe": "✓", "at risk": "!", "unsafe": "✕"}
# The styles are those of the report, which names them by verdicts.
STYLES = {"safe": "trust", "at risk": "caution", "unsafe": "reject"}
LEADS = {
    "safe": "This attack finds no more than a guess would, and exposes hardly any row.",
    "at risk": "This attack finds something: read which rows and zones before you publish.",
    "unsafe": "Do not publish the release as it is: this attack finds labels of too many rows.",
}
LIMITS = (
    "All figures are estimates for this attack, with Monte Carlo errors over shuffles. An attacker "
    "who knows more may find more: the level is no guarantee."
)
SHARES = {"found", "by_guessing", "exposed", "confidence"}  # columns of the tables
MOST_ROWS = 500  # of a table on the page; the CSV files have them all
HEAD = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="generator" content="{generator}">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; \
style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{title}</title>
<style>
{style}
th {{ padding: .4rem .9rem; }}
th.t {{ text-align: left; }}
.reasons + p {{ margin-top: 1rem; }}
</style>
</head>
<body>
<header><div><h1>{title}</h1><p class="source">{source} · unshuffle {version}</p></div></header>
<main>
"""


def build_audit_page(
    result: Any, *, label: str, source: str, zones: Mapping[str, Sequence[Any]],
    rows: Mapping[str, Sequence[Any]],
) -> str:  # fmt: skip
    """One page about an audit.

    Parameters
    ----------
    result : AuditResult
    label : str
        Name of the secret.
    source : str
        Name of the table.
    zones, rows : dict of columns
        What is at risk, the worst first; the first column names it.

    Returns
    -------
    page : str
        HTML without scripts, which loads nothing.
    """
    head = HEAD.format(
        generator=GENERATOR, title=text(f"Can the shuffle of {label} be undone?", 300),
        source=text(source, 300), version=text(__version__), style=_style(),
    )  # fmt: skip
    sections = (
        ("How safe is the release?", _level(result)),
        (f"Rows whose {label} is found", _shares(result)),
        ("Groups at risk", _listed(zones, "No group has an exposed row.")),
        ("Rows at risk", _listed(rows, "No row is exposed in half of the shuffles.")),
        ("The audit", _facts(result)),
    )
    body = "\n".join(
        f"<section><h2>{text(title, 200)}</h2>{part}</section>" for title, part in sections
    )
    return f"{head}{body}\n</main>\n</body>\n</html>\n"


def _level(result: Any) -> str:
    reasons = "".join(
        f'<li class="{STYLES[reason.level]}"><p class="check"><span class="mark" '
        f'aria-hidden="true">{MARKS[reason.level]}</span> <span class="level">{reason.level}</span>'
        f"</p><p>{text(_sentence(reason.text), 500)}</p></li>"
        for reason in result.reasons
    )
    return (
        f'<div class="verdict {STYLES[result.level]}"><p class="word"><span class="mark" '
        f'aria-hidden="true">{MARKS[result.level]}</span> {result.level.capitalize()}</p>'
        f'<div><p class="lead">{LEADS[result.level]}</p><p>{text(_sentence(result.text), 500)}</p>'
        f'</div></div><ul class="reasons">{reasons}</ul><p>{LIMITS}</p>'
    )


def _shares(result: Any) -> str:
    columns = [Column("", number=False), Column("By the attack"), Column("By guessing")]
    rows = [[Cell("exactly"), Cell(str(result.found)), Cell(_share(result.found_by_guessing))]]
    if not result.categories:
        near = f"within {result.tolerance:.3g}"
        rows.append([Cell(near), Cell(str(result.near)), Cell(_share(result.near_by_guessing))])
    rows.append([Cell("exposed"), Cell(str(result.exposed)), Cell("-")])
    return _table(columns, rows)


def _listed(columns: Mapping[str, Sequence[Any]], none: str) -> str:
    titles, lines = list(columns), list(zip(*columns.values(), strict=True))
    if not lines:
        return f"<p>{none}</p>"
    shown = lines[:MOST_ROWS]
    note = f"<p>The worst {MOST_ROWS:,} of {len(lines):,}; the CSV file has all.</p>"
    cells = [
        [Cell(_cell(title, value)) for title, value in zip(titles, line, strict=True)]
        for line in shown
    ]
    kinds = [
        Column(title.replace("_", " ").capitalize(), number=not isinstance(lines[0][j], str))
        for j, title in enumerate(titles)
    ]
    return (note if len(lines) > MOST_ROWS else "") + _table(kinds, cells)


def _facts(result: Any) -> str:
    facts = {
        "Rows": result.n_rows,
        "Groups": result.n_groups,
        "Smallest group": result.smallest_group,
        "Rows alone in their group": result.n_alone,
        "Shuffles attacked": result.n_shuffles,
        "Coefficients off by": f"{result.coefficient_error} (least squares: {result.naive_error})",
        "The attacker's verdicts": ", ".join(f"{k} {v}" for k, v in result.verdicts.items()),
    }
    if result.categories:
        facts["Categories"] = ", ".join(result.categories)
    return definitions(facts)


def _table(columns: Sequence[Column], rows: Sequence[Sequence[Cell]]) -> str:
    kinds = ["" if column.number else " class=t" for column in columns]
    heads = "".join(
        f'<th scope="col"{kind}>{text(column.title)}</th>'
        for column, kind in zip(columns, kinds, strict=True)
    )
    body = "\n".join(
        "<tr>" + "".join(f"<td{k}>{text(c.text)}" for c, k in zip(row, kinds, strict=True))
        for row in rows
    )
    kind = "scroll tall" if len(rows) > SHOW.rows_before_scrolling else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region"><table><thead><tr>{heads}</tr></thead>'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def _share(estimate: Any) -> str:
    return f"{estimate.value:.1%}"


def _cell(title: str, value: Any) -> str:
    """Shares in per cent, and labels in full, since they are what a row is recognised by."""
    if not isinstance(value, float):
        return str(value)
    if math.isnan(value):
        return "-"
    return f"{value:.0%}" if title in SHARES else f"{value:.10g}"


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:] + "."


def _style() -> str:
    return (files(__package__) / "page.css").read_text(encoding="utf-8").strip()
