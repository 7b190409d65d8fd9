"""Which kernels are compiled while something runs, and how to compile them sooner."""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from numba.core import event

PACKAGE = __name__.partition(".")[0]


class _Counter(event.Listener):
    """Counts kernels of this package; Numba compiles functions of its own as well."""

    def __init__(self, report: Callable[[int, bool], object]) -> None:
        self.report, self.n_started, self.n_done = report, 0, 0

    def on_start(self, found: Any) -> None:
        """A kernel, or one that it calls, is to be compiled."""
        if _is_ours(found):
            self.n_started += 1
            self.report(self.n_done, True)

    def on_end(self, found: Any) -> None:
        """It is compiled."""
        if _is_ours(found):
            self.n_done += 1
            self.report(self.n_done, self.n_done < self.n_started)


def _is_ours(found: Any) -> bool:
    module: str = found.data["dispatcher"].py_func.__module__
    return module.partition(".")[0] == PACKAGE


@contextmanager
def counting_compiled(report: Callable[[int, bool], object]) -> Iterator[None]:
    """Call `report` with the number of kernels compiled so far, and whether others are under way.

    Nothing is reported where compiled code is loaded from disk.
    """
    with event.install_listener("numba:compile", _Counter(report)):
        yield


class _Pause(event.Listener):
    """Stops the collector of cyclic garbage from the first kernel under way to the last."""

    def __init__(self) -> None:
        self.depth, self.was_enabled = 0, False

    def on_start(self, found: Any) -> None:
        """Stop it, unless a kernel that calls this one has done so."""
        if self.depth == 0:
            self.was_enabled = gc.isenabled()
            gc.disable()
        self.depth += 1

    def on_end(self, found: Any) -> None:
        """Let it go on, if it ran before."""
        self.depth -= 1
        if self.depth == 0 and self.was_enabled:
            gc.enable()


@contextmanager
def uncollected_compilation() -> Iterator[None]:
    """Collect no cyclic garbage while a kernel is compiled.

    Numba makes a million objects that stay, and the collector looks through them again and again:
    a tenth of the time of a first fit. What waits for it meanwhile takes some 70 MB.
    """
    with event.install_listener("numba:compile", _Pause()):
        yield
