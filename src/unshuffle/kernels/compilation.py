"""Which kernels are compiled while something runs."""

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
