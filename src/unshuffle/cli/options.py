"""Options that several commands share, each worded once."""

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..io.tables import Roles

COLUMNS, FIT, OUTPUT = "Columns", "The fit", "Output"


class OrderGiven(StrEnum):
    """What to assume about the order given."""

    auto = "auto"
    lost = "lost"
    mostly_right = "mostly-right"
    known = "known"


Data = Annotated[
    Path,
    typer.Argument(
        metavar="DATA", help="Table: CSV or TSV (also .gz), Parquet, FCS.", show_default=False
    ),
]
Label = Annotated[
    str | None,
    typer.Option("--label", "-y", help="Column to explain.", rich_help_panel=COLUMNS),
]
Features = Annotated[
    str | None,
    typer.Option(
        "--features", "-x", metavar="A,B,...", rich_help_panel=COLUMNS,
        help=r"Columns to explain it with, separated by commas.  \[default: all others]",
    ),
]  # fmt: skip
Group = Annotated[
    str | None,
    typer.Option(
        "--group", "-g", rich_help_panel=COLUMNS,
        help=r"Column inside whose values labels may have moved.  \[default: anywhere]",
    ),
]  # fmt: skip
Known = Annotated[
    str | None,
    typer.Option(
        help="Column of 1 and 0: 1 where the label is surely the row's own.",
        rich_help_panel=COLUMNS,
    ),
]
MatchProb = Annotated[
    str | None,
    typer.Option(
        help="Column with the probability, from a linkage tool, that the label is the row's own.",
        rich_help_panel=COLUMNS,
    ),
]
MatchFeature = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...", rich_help_panel=COLUMNS,
        help="Columns with clues of whether the label is the row's own, such as the distance of "
        "two names. Values may be missing.",
    ),
]  # fmt: skip
Categorical = Annotated[
    str | None,
    typer.Option(
        metavar="A,B,...", rich_help_panel=COLUMNS,
        help="Features that are categories although they look like numbers. "
        "Columns of text are categories in any case.",
    ),
]  # fmt: skip
Pairing = Annotated[
    OrderGiven,
    typer.Option(
        "--pairing", rich_help_panel=FIT,
        help="What to assume about the order given; auto tests it.",
    ),
]  # fmt: skip
Intercept = Annotated[
    bool,
    typer.Option("--intercept/--no-intercept", help="Fit an intercept.", rich_help_panel=FIT),
]
Seed = Annotated[
    int,
    typer.Option(
        min=0, max=2**31 - 1, help="The same seed gives the same result.", rich_help_panel=FIT
    ),
]
Jobs = Annotated[
    int,
    typer.Option(help="Threads; the result does not depend on them.", rich_help_panel=FIT),
]
AsJson = Annotated[
    bool,
    typer.Option("--json", help="One JSON document instead of text.", rich_help_panel=OUTPUT),
]
Quiet = Annotated[
    bool,
    typer.Option("--quiet", "-q", help="No progress, no notes.", rich_help_panel=OUTPUT),
]
Force = Annotated[
    bool,
    typer.Option(
        "--force", rich_help_panel=OUTPUT,
        help="Replace files that are there already, never one that is read.",
    ),
]  # fmt: skip
Debug = Annotated[
    bool,
    typer.Option("--debug", help="Show tracebacks.", rich_help_panel=OUTPUT),
]


def make_roles(
    label: str | None,
    features: str | None,
    group: str | None,
    known: str | None = None,
    match_prob: str | None = None,
    categorical: str | None = None,
    blocks: str | None = None,
    match_features: str | None = None,
) -> "Roles":
    """Roles of columns from the options above."""
    from ..io.tables import Roles

    return Roles(
        label, split_names(features), group, known, match_prob, split_names(categorical),
        split_names(blocks), split_names(match_features),
    )  # fmt: skip


def split_names(names: str | None) -> tuple[str, ...]:
    """Names between commas; a name with a comma in it stands in double quotes."""
    if names is None:
        return ()
    try:
        row = next(csv.reader([names], skipinitialspace=True), [])
    except csv.Error:  # a line end inside
        row = []
    found = tuple(name.strip() for name in row)
    if not found or not all(found):
        raise ValueError(f"expected names between commas, such as a,b,c; got {names!r}")
    return found
