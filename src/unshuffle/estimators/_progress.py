"""Telling people and programs how a fit goes on."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ..kernels.types import FloatArray


class Progress(NamedTuple):
    """What a `callback` receives.

    Attributes
    ----------
    done, total : int
        Iterations (stochastic EM), starts (hard EM) or replicates (bootstrap) finished, and the
        most there can be.
    objective : float
        Expected sum of squares at this iteration, or lowest matched sum of squares so far; nan for
        the bootstrap.
    acceptance_rate : float
        Share of accepted proposals; nan for hard EM.
    coef : array of shape (n_features,) or None
        Coefficients after this iteration; None for hard EM.
    """

    done: int
    total: int
    objective: float
    acceptance_rate: float
    coef: FloatArray | None


@contextmanager
def reporting(
    verbose: int, total: int, unit: str, callback: Callable[[Progress], object] | None
) -> Iterator[Callable[[Progress], None]]:
    """Pass every `Progress` to a bar (when verbose) and to the callback (when there is one)."""
    if not verbose:

        def quiet(progress: Progress) -> None:
            if callback is not None:
                callback(progress)

        yield quiet
        return

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
            if callback is not None:
                callback(progress)

        yield show
