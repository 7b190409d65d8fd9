"""How a command reports an error: one line, exit code 2, no traceback."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from ..io.visible import shorten_message
from .interrupts import AFTERWARDS, INTERRUPTED, INTERRUPTS
from .screen import say

REJECTED = 1
BAD_INPUT = 2
OUR_FAULT = 3
TERMINATED = 143  # by the system: 128 and the number of the signal, as in a shell
EXTRAS = {"pyarrow": "frames", "flowio": "fcs", "formulaic": "formula", "zstandard": "zstd"}
# Readers name the role of a column that has to be declared otherwise; here it gets its option.
OPTIONS = {
    "label": "--label", "features": "--features", "categorical": "--categorical",
    "excluded": "--exclude", "missing": "--drop-missing",
}  # fmt: skip
# Rows are not left out where the command lists or writes them all.
WITHOUT = {"suspects": ("--drop-missing",), "repair": ("--drop-missing",)}


class Terminated(KeyboardInterrupt):
    """The system asks the process to end; handled as Ctrl-C is."""


def end_on_termination() -> None:
    """Make a request to end clean up as Ctrl-C does: checkpoints are written, parts removed."""

    def end(number: int, frame: object) -> None:
        # Where this comes while a library calls back, it is lost; the next request ends at once.
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        raise Terminated

    signal.signal(signal.SIGTERM, end)


def interruption(error: KeyboardInterrupt) -> str:
    """What ended the command."""
    return "terminated" if isinstance(error, Terminated) else "interrupted"


def exit_code(error: KeyboardInterrupt) -> int:
    """The exit code of a command that was ended."""
    return TERMINATED if isinstance(error, Terminated) else INTERRUPTED


@contextmanager
def plain_errors(command: str, debug: bool = False) -> Iterator[None]:
    """Turn bad input and unusable files into one line on standard error.

    With `debug` errors pass through, with their tracebacks.
    """
    try:
        yield
    except typer.Exit:
        raise
    except KeyboardInterrupt as error:
        _leave_interrupted(command, error)
    except BrokenPipeError:
        # The program that reads the output has ended, as with `| head`: this is no error.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
    except Exception as error:
        if INTERRUPTS.came:  # in the middle of something that made another error of it
            _leave_interrupted(command, KeyboardInterrupt())
        if debug:
            raise
        message, code = _explain(error, WITHOUT.get(command, ()))
        _leave(command, message, code)


@contextmanager
def without_option(role: str) -> Iterator[None]:
    """Errors about a role do not name its option, which is not for this kind of table."""
    try:
        yield
    except ValueError as error:
        if getattr(error, "role", "") == role:
            error.role = ""  # type: ignore[attr-defined]
        raise


def _explain(error: Exception, without: tuple[str, ...] = ()) -> tuple[str, int]:
    if isinstance(error, ModuleNotFoundError):
        extra = EXTRAS.get(str(error.name), "all")
        message = f'{error.name} is missing; install it with: pip install "unshuffle[{extra}]"'
    elif isinstance(error, OSError):
        where = f"{error.filename}: " if error.filename and error.strerror else ""
        force = " (--force replaces it)" if getattr(error, "forcible", False) else ""
        message = f"{where}{error.strerror or error}{force}"
    elif isinstance(error, ValueError):
        option = OPTIONS.get(getattr(error, "role", ""))
        known = option is not None and option not in without
        message = str(error) + (f" (option {option})" if known else "")
    elif isinstance(error, MemoryError):
        message = "the table does not fit into memory; choose fewer columns or rows"
    else:
        found = f"{type(error).__name__}: {error}"
        message = f"this is an error of unshuffle ({found}); run it with --debug and report it"
        return message, OUR_FAULT
    return message, BAD_INPUT


def _leave_interrupted(command: str, error: KeyboardInterrupt) -> None:
    INTERRUPTS.reported = True
    message = f"{interruption(error)}; {AFTERWARDS}"
    _leave(command, message, exit_code(error))


def _leave(command: str, message: str, code: int) -> None:
    line = " ".join(message.split("\n"))
    say(f"unshuffle {command}: {shorten_message(line)}", err=True)
    raise typer.Exit(code) from None
