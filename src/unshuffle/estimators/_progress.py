"""Progress bars and callbacks."""

import math
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module

from ..fits.progress import Progress, Report, Reporting

SECONDS_BETWEEN_UPDATES = 0.5

_OPEN_BARS: list[Callable[[str], None]] = []


def reporting(verbose: int, callback: Callable[[Progress], object] | None) -> Reporting:
    """Pass every `Progress` to a bar (when verbose) and to the callback (when there is one)."""

    @contextmanager
    def open_report(total: int, unit: str) -> Iterator[Report]:
        if not verbose:
            yield lambda progress: None if callback is None else _call(callback, progress)
            return
        with (_notebook_line if in_notebook() else _bar)(total, unit) as show:

            def both(progress: Progress) -> None:
                show(progress)
                if callback is not None:
                    callback(progress)

            yield both

    return open_report


def _call(callback: Callable[[Progress], object], progress: Progress) -> None:
    callback(progress)


def show_in_bar(text: str) -> bool:
    """Show a text beside the bar that is open; False where none is."""
    for show in _OPEN_BARS:
        show(text)
    return bool(_OPEN_BARS)


def in_notebook() -> bool:
    """Whether this is a Jupyter kernel, which shows no bar of a terminal."""
    if "IPython" not in sys.modules:
        return False
    shell = sys.modules["IPython"].get_ipython()
    return shell is not None and hasattr(shell, "kernel")


@contextmanager
def _notebook_line(total: int, unit: str) -> Iterator[Report]:
    """One line of output that is replaced at most twice a second; no widgets are needed."""
    shell = import_module("IPython.display")  # no dependency: it is there where this is called
    start, shown = time.monotonic(), 0.0
    line = shell.display(shell.Pretty(f"{unit} 0/{total}"), display_id=True)
    last = ""

    def show(progress: Progress) -> None:
        nonlocal shown, last
        now = time.monotonic()
        last = f"{unit} {progress.done}/{total}{_facts(progress)}  {now - start:.0f} s"
        if now - shown >= SECONDS_BETWEEN_UPDATES:
            shown = now
            line.update(shell.Pretty(last))

    yield show
    if last:
        line.update(shell.Pretty(last))


def _facts(progress: Progress) -> str:
    """Objective and acceptance, where they are known."""
    facts = ""
    if not math.isnan(progress.objective):
        facts += f"  objective {progress.objective:.6g}"
    if not math.isnan(progress.acceptance_rate):
        facts += f"  accepted {progress.acceptance_rate:.1%}"
    return facts


@contextmanager
def _bar(total: int, unit: str) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[facts]}"),
        TimeElapsedColumn(),
    )
    with Bar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(unit, total=total, facts="")

        def show(progress: Progress) -> None:
            bar.update(task, completed=progress.done, facts=_facts(progress).strip())

        def show_text(text: str) -> None:
            bar.update(task, facts=text)

        _OPEN_BARS.append(show_text)
        try:
            yield show
        finally:
            _OPEN_BARS.remove(show_text)
