"""The command line: one file per sub-command."""

import sys

from .interrupts import INTERRUPTS


def main() -> None:
    """Run the command line."""
    try:
        INTERRUPTS.watch()
        from .app import run  # typer takes a while to load, in which the user may interrupt

        run()
    except KeyboardInterrupt:
        INTERRUPTS.leave()
    except SystemExit as error:
        if INTERRUPTS.came and error.code:
            INTERRUPTS.leave()
        raise
    except Exception as error:
        if INTERRUPTS.came:
            INTERRUPTS.leave()
        from .screen import show_traceback

        show_traceback(error)
        sys.exit(1)


__all__ = ["main"]
