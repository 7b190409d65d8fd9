"""The `unshuffle` command."""

import gc
import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from .. import __version__
from ..io.visible import visible
from . import audit, blocks, fit, predict, repair, simulate, suspects
from .demo import demo
from .errors import end_on_termination
from .plain_flags import Command, Group
from .reproduce import reproduce
from .screen import allow_any_letter
from .settings import CLI


@contextmanager
def _visible_usage_errors() -> Iterator[None]:
    """Wrong arguments are repeated to the user, and may be names of files."""
    try:
        yield
    except Exception as error:
        shown: Any = error
        if hasattr(shown, "format_message") and isinstance(getattr(shown, "message", None), str):
            shown.message = visible(shown.message)
        raise


class _Commands(Group):
    def make_context(self, *arguments: Any, **more: Any) -> Any:
        """Read the arguments before the command."""
        with _visible_usage_errors():
            return super().make_context(*arguments, **more)

    def invoke(self, ctx: Any) -> Any:
        """Read the arguments of the command, and run it."""
        with _visible_usage_errors():
            return super().invoke(ctx)


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
)


def _add(command: Callable[..., None], examples: str) -> None:
    """Add a command; its paragraphs are wrapped by the terminal, not by the source."""
    paragraphs = inspect.cleandoc(command.__doc__ or "").split("\n\n")
    text = "\n\n".join(" ".join(paragraph.split("\n")) for paragraph in paragraphs)
    app.command(cls=Command, help=text, epilog=examples)(command)


_add(fit.fit, fit.EXAMPLES)
_add(predict.predict, predict.EXAMPLES)
_add(suspects.suspects, suspects.EXAMPLES)
_add(repair.repair, repair.EXAMPLES)
_add(blocks.blocks, blocks.EXAMPLES)
_add(audit.audit, audit.EXAMPLES)
_add(simulate.simulate, simulate.EXAMPLES)
app.command(cls=Command)(demo)
app.command(cls=Command)(reproduce)


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
    """Regression when the pairing between rows and labels is lost.

    Start with [bold]unshuffle demo[/bold], or with your own table:

    [bold]unshuffle fit DATA --label y --group zone[/bold]
    """


def run() -> None:
    """Run the command that the arguments name."""
    gc.set_threshold(CLI.objects_between_collections)
    end_on_termination()
    allow_any_letter()
    app()
