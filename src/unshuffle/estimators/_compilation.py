"""Report that the first fit after an installation compiles, and how far it is."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..kernels.compilation import counting_compiled, uncollected_compilation
from ._progress import in_notebook, show_in_bar

COMPILING = "compiling, once after an installation"
EXPECTED = "this takes ten to twenty seconds"
N_KERNELS = 40  # that a fit needs, roughly: it depends on the data which of them


@contextmanager
def watched_compilation(verbose: int) -> Iterator[None]:
    """Show kernels as they are compiled: counted in one line of a terminal, said once elsewhere."""
    with uncollected_compilation():
        if not verbose:
            yield
            return
        on_terminal = sys.stderr.isatty() and not in_notebook()
        with counting_compiled(_Line().update if on_terminal else _announce_once()):
            yield


def _announce_once() -> Callable[[int, bool], None]:
    announced = False

    def report(n_done: int, under_way: bool) -> None:
        nonlocal announced
        if not announced:
            sys.stderr.write(f"unshuffle: {COMPILING}: {EXPECTED}\n")
        announced = True

    return report


class _Line:
    """One line of a terminal that is written again after every kernel.

    It is removed when nothing is compiled any more, so that a bar can take its place.
    """

    def __init__(self) -> None:
        self.start, self.width = time.monotonic(), 0

    def update(self, n_done: int, under_way: bool) -> None:
        """Show the number in the bar of the fit, or in a line of its own where none is open."""
        text = f"{COMPILING}: kernel {n_done} of about {max(N_KERNELS, n_done)}"
        if show_in_bar(text if under_way else ""):
            return
        seconds = time.monotonic() - self.start
        line = f"unshuffle: {text}, {seconds:.0f} s" if under_way else ""
        sys.stderr.write("\r" + " " * self.width + "\r" + line)
        sys.stderr.flush()
        self.width = len(line)
