"""`unshuffle demo`: fits of shipped data, beside those of ordinary least squares."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .errors import plain_errors
from .screen import say

if TYPE_CHECKING:
    from rich.console import Console


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits and shuffles.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Page about the last fit, for a browser.")
    ] = Path("demo-report.html"),
    force: options.Force = False,
) -> None:
    """Fit the shipped housing data with labels shuffled inside zones, compare, write a report."""
    with plain_errors("demo"), warnings.catch_warnings():
        # Loaded here, so that the other commands and --help stay quick.
        from rich.console import Console

        from ..io.outputs import Outputs
        from ..show.report.builder import REPORT, build_report
        from .demo_tables import EASY, fit_with_verdict

        page = Outputs(force=force).claim(out, REPORT)
        _compare(Console(), seed)
        warnings.simplefilter("ignore")  # the verdict reports it
        model = fit_with_verdict(EASY, seed)
        say(str(model.summary()))
        page.write(build_report(model, title="House prices shuffled inside 60 zones").encode())
        say(f"Written: {out}")


def _compare(console: "Console", seed: int) -> None:
    from .demo_tables import EASY, HARD, coefficient_table, comparison_table

    console.print("\n[bold]1. House prices shuffled inside 60 zones[/bold]")
    console.print(
        "Boston housing. A zone holds about 8 tracts at a similar distance from work; "
        "which price belongs to which tract is lost inside a zone.\n"
    )
    console.print(coefficient_table(EASY, seed))
    console.print(*comparison_table(EASY, seed), sep="\n")
    console.print("\n[bold]2. The share of poorer residents shuffled inside 4 zones[/bold]")
    console.print(
        "The paper's setting, and a hard one: zones of 126 tracts, made by house price, "
        "and noise that is not Gaussian.\n"
    )
    console.print(*comparison_table(HARD, seed), sep="\n")
    console.print(
        "\n[bold]3. The first setting by the default estimator, with its verdict[/bold]\n"
    )
