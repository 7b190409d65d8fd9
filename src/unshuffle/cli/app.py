"""The `unshuffle` command."""

from typing import Annotated

import typer

from .. import __version__
from .demo import demo
from .reproduce import reproduce

app = typer.Typer(
    help="Regression when the pairing between rows and labels is lost.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(demo)
app.command()(reproduce)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"unshuffle {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Regression when the pairing between rows and labels is lost."""


def main() -> None:
    """Run the command line."""
    app()
