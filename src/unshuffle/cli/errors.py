"""How a command says that something is wrong: one line, exit code 2, no traceback."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

REJECTED = 1
BAD_INPUT = 2
OUR_FAULT = 3
INTERRUPTED = 130
EXTRAS = {"pyarrow": "frames", "flowio": "fcs", "formulaic": "formula"}


@contextmanager
def plain_errors(command: str, debug: bool = False) -> Iterator[None]:
    """Turn bad input and unusable files into one line on standard error.

    With `debug` errors pass through, with their tracebacks.
    """
    try:
        yield
    except typer.Exit:
        raise
    except KeyboardInterrupt:
        _leave(command, "interrupted; nothing was written", INTERRUPTED)
    except BrokenPipeError:
        # The reader has gone, as with `| head`: nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except Exception as error:
        if debug:
            raise
        message, code = _explain(error)
        _leave(command, message, code)


def fail(command: str, message: str) -> None:
    """Say what is wrong and leave."""
    _leave(command, message, BAD_INPUT)


def _explain(error: Exception) -> tuple[str, int]:
    if isinstance(error, ModuleNotFoundError):
        extra = EXTRAS.get(str(error.name), "all")
        return f'{error.name} is missing; install it with: pip install "unshuffle[{extra}]"', 2
    if isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename and error.strerror else ""
        return f"{where}{error.strerror or error}", 2
    if isinstance(error, ValueError):
        return " ".join(str(error).split("\n")), 2
    if isinstance(error, MemoryError):
        return "the table does not fit into memory; choose fewer columns or rows", 2
    told = f"{type(error).__name__}: {error}"
    return f"this should not happen ({told}); run it again with --debug and report it", OUR_FAULT


def _leave(command: str, message: str, code: int) -> None:
    typer.echo(f"unshuffle {command}: {message}", err=True)
    raise typer.Exit(code) from None
