"""How a command says that something is wrong: one line, exit code 2, no traceback."""

from collections.abc import Iterator
from contextlib import contextmanager

import typer

BAD_INPUT = 2
INTERRUPTED = 130


@contextmanager
def plain_errors(command: str) -> Iterator[None]:
    """Turn bad input and unusable files into one line on standard error."""
    try:
        yield
    except ModuleNotFoundError as error:
        fail(command, f'{error.name} is missing; install it with: pip install "unshuffle[all]"')
    except OSError as error:
        where = f"{error.filename}: " if error.filename and error.strerror else ""
        fail(command, f"{where}{error.strerror or error}")
    except ValueError as error:
        fail(command, str(error))


def fail(command: str, message: str) -> None:
    """Say what is wrong and leave."""
    typer.echo(f"unshuffle {command}: {message}", err=True)
    raise typer.Exit(BAD_INPUT)
