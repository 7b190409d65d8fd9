"""A progress bar on standard error, where somebody watches."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def watching(title: str, watched: bool) -> Iterator[Callable[[int, int], None]]:
    """Hand out a function of (done, total)."""
    if not watched:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)
