"""How a command reports an error: one line, exit code 2, no traceback."""

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
# Readers name the role of a column that has to be declared otherwise; here it gets its option.
OPTIONS = {"label": "--label", "features": "--features", "categorical": "--categorical"}


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
        # The program that reads the output has ended, as with `| head`: this is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except Exception as error:
        if debug:
            raise
        message, code = _explain(error)
        _leave(command, message, code)


def _explain(error: Exception) -> tuple[str, int]:
    if isinstance(error, ModuleNotFoundError):
        extra = EXTRAS.get(str(error.name), "all")
        message = f'{error.name} is missing; install it with: pip install "unshuffle[{extra}]"'
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename and error.strerror else ""
        message = f"{where}{error.strerror or error}"
    elif isinstance(error, ValueError):
        option = OPTIONS.get(getattr(error, "role", ""))
        message = " ".join(str(error).split("\n")) + (f" (option {option})" if option else "")
    elif isinstance(error, MemoryError):
        message = "the table does not fit into memory; choose fewer columns or rows"
    else:
        found = f"{type(error).__name__}: {error}"
        message = f"this is an error of unshuffle ({found}); run it with --debug and report it"
        return message, OUR_FAULT
    return message, BAD_INPUT


def _leave(command: str, message: str, code: int) -> None:
    typer.echo(f"unshuffle {command}: {message}", err=True)
    raise typer.Exit(code) from None
