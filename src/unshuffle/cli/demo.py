"""`unshuffle demo`: fits of shipped data, beside those of ordinary least squares."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ..inference.verdict import headline
from . import options
from .errors import plain_errors
from .screen import say
from .settings import CLI

if TYPE_CHECKING:
    from rich.console import Console

    from .demo_tables import DemoFit


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Seed of the shuffles and fits.")] = 0,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Page about the first fit, for a browser.")
    ] = Path("demo-report.html"),
    force: options.Force = False,
) -> None:
    """Fit the shipped housing data with prices shuffled inside zones, compare, write a report."""
    with plain_errors("demo"), warnings.catch_warnings():
        # Loaded here, so that the other commands and --help stay quick.
        from rich.console import Console

        from ..io.outputs import Outputs
        from ..show.report.builder import REPORT, build_report
        from .demo_tables import DemoFit

        page = Outputs(force=force).claim(out, REPORT)
        warnings.simplefilter("ignore")  # the verdict reports it
        fits = [DemoFit(n_zones, seed) for n_zones in CLI.demo_zones]
        _tell(Console(), fits)
        title = f"House prices shuffled inside {fits[0].n_zones} zones"
        page.write(build_report(fits[0].model, title=title).encode())
        say(f"Written: {out}, a page about the first fit; open it in a browser")


def _tell(console: "Console", fits: "list[DemoFit]") -> None:
    """The story: a fit that can be trusted, and two that say that they cannot."""
    from .demo_tables import coefficient_table, in_words, verdict_table

    first, last = fits[0], fits[-1]
    console.print(f"\n[bold]1. House prices shuffled inside {first.n_zones} zones[/bold]")
    console.print(
        "Boston housing, 506 tracts. A zone holds about five tracts at a similar distance from "
        "work; which price belongs to which tract is lost inside a zone.\n"
    )
    with console.status("Fitting; the first time this also compiles, which takes some seconds"):
        level = first.model.verdict_.level
    console.print(f"Verdict: [bold]{level}[/bold]. {headline(first.model.verdict_)}\n")
    console.print(coefficient_table(first))
    console.print(in_words(first))
    console.print("\n[bold]2. Larger zones: when not to trust it[/bold]\n")
    with console.status("Fitting the same prices in larger zones"):
        table = verdict_table(fits)
    console.print(table)
    reason = last.model.verdict_.reasons[0]
    console.print(f"Why not {last.n_zones} zones: {reason.text}. What to do: {reason.advice}.\n")
