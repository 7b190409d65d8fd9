"""The section of a report in which people decide about rows."""

from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np

from ..markup import Cell, Column, number, sortable_table, text
from ..settings import ShowSettings
from .decisions import KINDS, Listing, list_rows
from .facts import DataFacts
from .review_data import review_data
from .rows import FitRows

NAME = "matches"
HINT = (
    "Rows are counted from 1, without the header. The match probability is that the label given "
    "beside a row is its own. The likely partner is the row whose label this one has in the most "
    "likely matching or, where it keeps its own there, the most probable other row."
)


class Review(NamedTuple):
    """The section, and what leads to it from the verdict; the latter may be empty."""

    section: str
    lead: str


def review(model: Any, data: DataFacts, rows: FitRows, limits: ShowSettings) -> Review:
    """Rows with their labels and partners, to be decided about by mouse or keyboard.

    Without its script the page shows the first rows as a table.
    """
    listing, packed = review_data(data, rows, list_rows(model, rows, limits), limits)
    tools = (files(__package__) / "review.html").read_text(encoding="utf-8").strip()
    section = (
        f"<p>{text(_note(data, listing), 500)}</p>"
        f"<noscript><p>Deciding needs JavaScript. Here are the first {limits.most_without_script} "
        "rows.</p></noscript>"
        f"{tools}{_table(data, rows, listing, limits)}"
        '<nav class="pager" id="review-pager" aria-label="Pages of rows" hidden></nav>'
        f'<p class="hint">{text(HINT, 500)}</p>'
        '<div id="plates" hidden></div>'
        f'<script type="application/json" id="review-data">{packed}</script>'
    )
    return Review(section, _lead(listing))


def _lead(listing: Listing) -> str:
    if not listing.n_open:
        return ""
    many = f"{listing.n_open:,} row{'s' * (listing.n_open > 1)}"
    need = "need" if listing.n_open > 1 else "needs"
    return f'<p class="to-review"><a href="#matches-section">{many} {need} a decision</a></p>'


def _note(data: DataFacts, listing: Listing) -> str:
    shown, n_all = len(listing.rows), data.n_rows
    note = f"All {n_all:,} rows" if shown == n_all else f"{shown:,} of {n_all:,} rows"
    return f"{note}, what needs a decision first. Does the label given beside a row belong to it?"


def _table(data: DataFacts, rows: FitRows, listing: Listing, limits: ShowSettings) -> str:
    """The first rows, as the script shows them too."""
    columns = [Column("Row")]
    columns += [Column("Id", number=False)] * (data.row_names is not None)
    columns += [Column("Status", number=False), Column("Match probability")]
    columns += [Column("Decision", number=False), Column("Label given"), Column("Likely partner")]
    columns += [Column("Its label"), Column("Its probability")]
    grouped = data.group_names is not None or rows.n_groups > 1
    columns += [Column("Group", number=False)] * grouped
    lines = [
        _line(data, rows, listing, k, grouped)
        for k in range(min(len(listing.rows), limits.most_without_script))
    ]
    return sortable_table(columns, lines, name=NAME, caption="Rows and their labels")


def _line(data: DataFacts, rows: FitRows, listing: Listing, k: int, grouped: bool) -> list[Cell]:
    row, partner = int(listing.rows[k]), int(listing.partners[k, 0])
    cells = [Cell(str(row + 1))]
    if data.row_names is not None:
        cells.append(Cell(str(data.row_names[row])))
    proba = float(listing.proba[row])
    cells += [Cell(KINDS[listing.kinds[row]]), Cell(percent(proba), proba), Cell("")]
    cells.append(Cell(_label(rows, row)))
    if partner < 0:
        cells += [Cell("")] * 3
    else:
        name = "" if data.row_names is None else f" {data.row_names[partner]}"
        share = float(listing.shares[k, 0])
        cells.append(Cell(f"{partner + 1}{name}", float(partner + 1)))
        cells += [Cell(_label(rows, partner)), Cell(percent(share), share)]
    return [*cells, Cell(_group(data, rows, row))] if grouped else cells


def _label(rows: FitRows, row: int) -> str:
    return "" if rows.labels is None else number(rows.labels[row])


def _group(data: DataFacts, rows: FitRows, row: int) -> str:
    if data.group_names is not None:
        return str(data.group_names[row])
    assert rows.groups is not None
    return "" if rows.groups[row] < 0 else str(rows.groups[row] + 1)


def percent(share: float) -> str:
    """A probability in words of a person: no column of zeros.

    Examples
    --------
    >>> from unshuffle.show.report.review import percent
    >>> percent(0.2345), percent(0.0), percent(0.9999)
    ('23 %', '<1 %', '>99 %')
    """
    if np.isnan(share):
        return ""
    if share < 0.01:
        return "<1 %"
    if share > 0.99:
        return "100 %" if share == 1.0 else ">99 %"
    return f"{100 * share:.0f} %"
