"""Every line that a command prints goes through here, so that no name commands the terminal."""

import sys
from typing import Any

import typer

from ..io.visible import visible, visible_json, visible_lines


def say(text: str, *, err: bool = False, colour: str | None = None) -> None:
    """Print text that may hold names from files."""
    shown = visible_lines(text)
    if colour is not None:
        shown = typer.style(shown, fg=colour, bold=True)
    # The streams by name: typer would write UTF-8 to a terminal that says it has ASCII alone.
    typer.echo(shown, file=sys.stderr if err else sys.stdout)


def say_json(text: str) -> None:
    """Print a JSON document, in escapes where the terminal has no such letters."""
    shown = visible_json(text)
    try:
        shown.encode(getattr(sys.stdout, "encoding", None) or "utf-8")
    except UnicodeEncodeError:
        shown = "".join(c if c.isascii() else _escaped(c) for c in shown)
    typer.echo(shown, file=sys.stdout)


def cell(text: str) -> str:
    """A name for a table of rich, in which brackets would be commands as well."""
    from rich.markup import escape

    return escape(visible(text))


def allow_any_letter() -> None:
    """Let streams escape what they cannot encode, instead of failing in the middle of a line."""
    for stream in (sys.stdout, sys.stderr):
        reconfigure: Any = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def show_traceback(error: BaseException) -> None:
    """Print a traceback, which ``--debug`` asks for, like every other text."""
    import traceback

    sys.stderr.write(visible_lines("".join(traceback.format_exception(error))))


def _escaped(letter: str) -> str:
    units = letter.encode("utf-16-be")
    return "".join(f"\\u{units[k : k + 2].hex()}" for k in range(0, len(units), 2))
