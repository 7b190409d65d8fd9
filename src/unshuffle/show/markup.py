"""Numbers as text and pieces of HTML; whatever comes from outside is escaped here."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

from .settings import SHOW

MISSING = "-"  # ASCII, because summaries are also printed where nothing else is available


class Cell(NamedTuple):
    """Text as shown, and the number to sort by where the text is not that number."""

    text: str
    sort_key: float | None = None


class Column(NamedTuple):
    """Head of a column; `number` columns stand right and are sorted as numbers."""

    title: str
    number: bool = True


def shorten(value: object, longest: int = SHOW.longest_cell) -> str:
    """Cut where it is longer than `longest` characters."""
    shown = str(value)
    return shown if len(shown) <= longest else f"{shown[: longest - 1]}…"


def text(value: object, longest: int = SHOW.longest_cell) -> str:
    """Shortened and escaped."""
    return escape(shorten(value, longest))


def number(value: float, form: str = ".4g") -> str:
    """Four significant digits, unless `form` says otherwise."""
    return MISSING if math.isnan(value) else format(value, form)


def p_value(value: float) -> str:
    """Three digits, and no difference between values below a thousandth."""
    if math.isnan(value):
        return MISSING
    return "<.001" if value < 0.001 else f"{value:.3f}"


def sortable_table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    name: str,
    caption: str,
    over: Sequence[tuple[str, int]] = (),
) -> str:
    """A table that the page's script sorts, and that can be scrolled with the keyboard.

    `over` are titles above the titles, each with the number of columns it spans.
    """
    upper = "".join(
        f'<th scope="colgroup" colspan="{span}">{text(title)}</th>' if title else "<td></td>" * span
        for title, span in over
    )
    upper = f'<tr class="over">{upper}</tr>' if over else ""
    heads = "".join(
        f'<th scope="col" data-kind="{"number" if column.number else "text"}" aria-sort="none">'
        f'<button type="button">{text(column.title)}</button></th>'
        for column in columns
    )
    # HTML allows leaving out the closing tags of cells and rows: long tables are half as long.
    kinds = ["" if column.number else " class=t" for column in columns]
    body = "\n".join(
        "<tr>" + "".join(_cell(cell, marks) for cell, marks in zip(row, kinds, strict=True))
        for row in rows
    )
    kind = "scroll tall" if len(rows) > SHOW.rows_before_scrolling else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table id="{name}"><caption class="unseen">{text(caption)}</caption>'
        f"<thead>{upper}<tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def definitions(entries: Mapping[str, object]) -> str:
    """A list of names and values."""
    items = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value, 2000)}</dd></div>"
        for name, value in entries.items()
    )
    return f"<dl>{items}</dl>"


def _cell(cell: Cell, kind: str) -> str:
    mark = "" if cell.sort_key is None else f' data-v="{cell.sort_key:.6g}"'
    return f"<td{kind}{mark}>{text(cell.text)}"
