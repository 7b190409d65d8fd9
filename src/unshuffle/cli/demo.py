"""`unshuffle demo`: fits of shipped data, beside those of ordinary least squares."""

import warnings
from pathlib import Path
from typing import Annotated

import typer

from .errors import plain_errors
from .screen import say


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits and shuffles.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Page about the last fit, for a browser.")
    ] = Path("demo-report.html"),
) -> None:
    """Fit the shipped housing data with labels shuffled inside zones, compare, write a report."""
    with plain_errors("demo"):
        # Loaded here, so that the other commands and --help stay quick.
        from rich.console import Console

        from ..show.report import write_report
        from .demo_tables import EASY, HARD, coefficient_table, comparison_table, fit_with_verdict

        console = Console()
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
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the verdict reports it
            model = fit_with_verdict(EASY, seed)
            say(str(model.summary()))
            written = write_report(out, model, title="House prices shuffled inside 60 zones")
            say(f"Written: {written}")
