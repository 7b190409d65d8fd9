"""Progress bars and callbacks."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ..fits.progress import Progress, Report, Reporting


def reporting(verbose: int, callback: Callable[[Progress], object] | None) -> Reporting:
    """Pass every `Progress` to a bar (when verbose) and to the callback (when there is one)."""

    @contextmanager
    def open_report(total: int, unit: str) -> Iterator[Report]:
        if not verbose:
            yield lambda progress: None if callback is None else _call(callback, progress)
            return
        with _bar(total, unit) as show:

            def both(progress: Progress) -> None:
                show(progress)
                if callback is not None:
                    callback(progress)

            yield both

    return open_report


def _call(callback: Callable[[Progress], object], progress: Progress) -> None:
    callback(progress)


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
            known = progress.objective == progress.objective
            facts = f"objective {progress.objective:.6g}" if known else ""
            if progress.acceptance_rate == progress.acceptance_rate:
                facts += f"  accepted {progress.acceptance_rate:.1%}"
            bar.update(task, completed=progress.done, facts=facts)

        yield show
