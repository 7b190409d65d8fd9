"""Pieces of HTML. Whatever comes from outside is escaped here, and nowhere else."""

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

LONGEST = 80  # characters of a name in a table
LONG = 30  # rows from which on a table scrolls instead of stretching the page


class Cell(NamedTuple):
    """Text as shown, and the number it is sorted by where the text does not say."""

    text: str
    sorts_as: float | None = None


class Column(NamedTuple):
    """Head of a column; `number` columns stand right and are sorted as numbers."""

    title: str
    number: bool = True


def text(value: object, longest: int = LONGEST) -> str:
    """Escaped, and cut where it is longer than anybody reads."""
    shown = str(value)
    return escape(shown if len(shown) <= longest else f"{shown[: longest - 1]}…")


def number(value: float) -> str:
    """Four significant digits."""
    return "–" if math.isnan(value) else f"{value:.4g}"


def p_value(value: float) -> Cell:
    """Probabilities below a thousandth are all the same to a reader."""
    if math.isnan(value):
        return Cell("–")
    return Cell("<.001", value) if value < 0.001 else Cell(f"{value:.3f}")


def table(
    columns: Sequence[Column],
    rows: Sequence[Sequence[Cell]],
    *,
    name: str,
    caption: str,
    over: Sequence[tuple[str, int]] = (),
) -> str:
    """A table that the page's script sorts; scrolls by itself, with the keyboard too.

    `over` are heads above the heads, each with the number of columns it spans.
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
    # Closing tags of cells and lines may be left out in HTML; long tables are half as long.
    kinds = ["" if column.number else " class=t" for column in columns]
    body = "\n".join(
        "<tr>" + "".join(_cell(cell, marks) for cell, marks in zip(row, kinds, strict=True))
        for row in rows
    )
    kind = "scroll tall" if len(rows) > LONG else "scroll"
    return (
        f'<div class="{kind}" tabindex="0" role="region" aria-label="{text(caption)}">'
        f'<table id="{name}"><caption class="unseen">{text(caption)}</caption>'
        f"<thead>{upper}<tr>{heads}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def definitions(entries: Mapping[str, object]) -> str:
    """A list of names and what they are."""
    items = "".join(
        f"<div><dt>{text(name)}</dt><dd>{text(value, 2000)}</dd></div>"
        for name, value in entries.items()
    )
    return f"<dl>{items}</dl>"


def _cell(cell: Cell, kind: str) -> str:
    mark = "" if cell.sorts_as is None else f' data-v="{cell.sorts_as:.6g}"'
    return f"<td{kind}{mark}>{text(cell.text)}"
