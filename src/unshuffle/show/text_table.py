"""Tables and sentences as text, no wider than the terminal."""

import shutil
import textwrap
from collections.abc import Collection, Sequence


def terminal_width() -> int | None:
    """Columns of the terminal (or of COLUMNS); None where output goes to a file."""
    columns = shutil.get_terminal_size(fallback=(0, 0)).columns
    return columns if columns > 0 else None


def text_table(
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    width: int | None = None,
    joined: Collection[int] = (),
) -> list[str]:
    """Lines of a table; where it is wider than `width`, further columns follow below.

    The first column, which names the rows, stands in every part; columns in `joined` stay beside
    the one before.
    """
    sizes = [max(len(line[k]) for line in [heads, *rows]) for k in range(len(heads))]
    lines: list[str] = []
    for part in _parts(sizes, width, joined):
        widths = [sizes[k] for k in part]
        wide = sum(widths) + 2 * (len(widths) - 1)
        lines += ["=" * wide, _line([heads[k] for k in part], widths), "-" * wide]
        lines += [_line([row[k] for k in part], widths) for row in rows]
    return [*lines, "=" * wide]


def wrapped(line: str, width: int | None, indent: int) -> list[str]:
    """A sentence in lines of at most `width`, the later ones indented."""
    if width is None or len(line) <= width:
        return [line]
    room = max(width, indent + 20)
    return textwrap.wrap(
        line, room, subsequent_indent=" " * indent, break_long_words=False, break_on_hyphens=False
    )


def _parts(sizes: Sequence[int], width: int | None, joined: Collection[int]) -> list[list[int]]:
    """Columns of each part: as many as there is room for, after the names."""
    if width is None:
        return [list(range(len(sizes)))]
    units: list[list[int]] = []
    for k in range(1, len(sizes)):
        if k in joined:
            units[-1].append(k)
        else:
            units.append([k])
    parts, current, room = [], [0], width - sizes[0]
    for unit in units:
        needed = sum(sizes[k] + 2 for k in unit)
        if room < needed and len(current) > 1:
            parts.append(current)
            current, room = [0], width - sizes[0]
        current.extend(unit)
        room -= needed
    return [*parts, current]


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    first = cells[0].ljust(widths[0])
    return "  ".join([first, *(c.rjust(w) for c, w in zip(cells[1:], widths[1:], strict=True))])
