"""`unshuffle reproduce`: every experiment of the paper."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .errors import exit_code, interruption, plain_errors
from .interrupts import INTERRUPTS
from .screen import say

if TYPE_CHECKING:
    from ..paper.experiment import Experiment, Tick


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="size, sets, consistency, partial, gated, housing, starts, or all.",
            metavar="[NAME]",
        ),
    ] = "all",
    quick: Annotated[bool, typer.Option("--quick", help="Smaller, under a minute each.")] = False,
    out: Annotated[Path, typer.Option(help="Folder for pictures, tables and index.html.")] = Path(
        "reproduction"
    ),
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="Seed.")] = 0,
    aptamers: Annotated[
        Path | None, typer.Option(help="The paper's aptamer table (sequence, affinity).")
    ] = None,
    force: options.Force = False,
) -> None:
    """Run the paper's experiments; pictures, tables and one page are written into a folder.

    Finished experiments are kept: interrupt with Ctrl-C and run the same command to continue.
    """
    with plain_errors("reproduce"):
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

        from ..datasets.aptamer import load_aptamers
        from ..paper.reproduce import choose, open_shelf
        from ..paper.reproduce import reproduce as run

        experiments = choose(name)
        if aptamers is not None:
            load_aptamers(aptamers)  # a wrong file is refused now, not after minutes
        open_shelf(experiments, out, aptamers, force)  # as early
        columns = (TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn())
        with Progress(*columns, console=Console(stderr=True)) as bar:

            def announce(experiment: "Experiment", state: str) -> "Tick":
                title = f"{experiment.figure:8}{experiment.title}"
                if state == "finished before":
                    task = bar.add_task(f"{title} ({state})", total=1, completed=1)
                else:
                    task = bar.add_task(title, total=None)
                return lambda done, total: bar.update(task, completed=done, total=total)

            try:
                run(
                    experiments, out, quick=quick, seed=seed, aptamers=aptamers, force=force,
                    announce=announce,
                )  # fmt: skip
            except KeyboardInterrupt as error:
                bar.stop()
                INTERRUPTS.reported = True
                say(
                    f"\n{interruption(error)}; finished experiments are in {out}; run the same "
                    "command to continue",
                    err=True,
                )
                raise typer.Exit(exit_code(error)) from None
    say(f"{out / 'index.html'}")
