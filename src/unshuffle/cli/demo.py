"""`unshuffle demo`: the main job on shipped data, beside what one would do without it."""

from typing import Annotated

import typer


def demo(
    seed: Annotated[int, typer.Option(min=0, help="Seed of the splits and shuffles.")] = 0,
) -> None:
    """Fit the shipped housing data with labels shuffled inside zones, and compare."""
    # Loaded late, so that the other commands and --help stay quick.
    from rich.console import Console

    from ..demo import EASY, HARD, coefficient_table, comparison_table

    console = Console()
    console.print("\n[bold]1. House prices shuffled inside 60 zones[/bold]")
    console.print(
        "Boston housing. A zone holds about 8 tracts at a like distance from work; "
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
