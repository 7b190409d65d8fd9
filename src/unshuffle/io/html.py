"""Tables in HTML."""

from collections.abc import Iterable
from html import escape


def html_table(header: Iterable[object], rows: Iterable[Iterable[object]]) -> str:
    """A plain table; every cell is escaped."""
    head = "".join(f"<th>{escape(str(cell))}</th>" for cell in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
