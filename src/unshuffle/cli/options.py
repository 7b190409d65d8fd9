"""Options that several commands share, each worded once."""

import csv
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ..io.tables import Roles

COLUMNS, FIT, OUTPUT = "Columns", "The fit", "Output"
KINDS = "Table: CSV or TSV (also .gz, .bz2, .zst), Excel, Parquet, FCS; - for standard input."


class OrderGiven(StrEnum):
    """What to assume about the order given."""

    auto = "auto"
    lost = "lost"
    mostly_right = "mostly-right"
    known = "known"


class NoiseLaw(StrEnum):
    """Law of the noise."""

    auto = "auto"
    normal = "normal"
    t = "t"
    mixture = "mixture"


Data = Annotated[
    Path,
    typer.Argument(metavar="DATA", help=KINDS, show_default=False),
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
Pairs = Annotated[
    Path | None,
    typer.Option(
        "--pairs", rich_help_panel=COLUMNS,
        help="Candidate pairs of two tables, from splink or fastLink; they are linked one-to-one.",
    ),
]  # fmt: skip
Checked = Annotated[
    Path | None,
    typer.Option(
        "--checked", rich_help_panel=COLUMNS,
        help="Table of links that were checked: the ids as in --pairs, and a column right of 1 "
        "and 0. It calibrates the probabilities.",
    ),
]  # fmt: skip
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
Id = Annotated[
    str | None,
    typer.Option(
        "--id", rich_help_panel=COLUMNS,
        help="Column with the names of the rows. It is no feature, and stands in every table.",
    ),
]  # fmt: skip
IdOfPairs = Annotated[
    str | None,
    typer.Option(
        "--id", rich_help_panel=COLUMNS,
        help="Column with the names of the rows. It is no feature, and stands in every table. "
        r"With --pairs it is in both tables.  \[default there: unique_id]",
    ),
]  # fmt: skip
Plate = Annotated[
    str | None,
    typer.Option(
        "--plate", rich_help_panel=COLUMNS,
        help="Column with places on a plate, such as A1 or plate-2:A1; the report draws them.",
    ),
]  # fmt: skip
Show = Annotated[
    str | None,
    typer.Option(
        "--show", metavar="A,B,...", rich_help_panel=COLUMNS,
        help="Columns that are no features but that the report shows beside each other.",
    ),
]  # fmt: skip
Reviewed = Annotated[
    Path | None,
    typer.Option(
        "--reviewed", rich_help_panel=FIT,
        help="reviewed.csv from a report: rows marked right keep their label, rows marked wrong "
        "do not.",
    ),
]  # fmt: skip
Exclude = Annotated[
    str | None,
    typer.Option(
        "--exclude", metavar="A,B,...", rich_help_panel=COLUMNS,
        help="Columns to leave out, such as identifiers, where all others are features.",
    ),
]  # fmt: skip
KmersOf = Annotated[
    str | None,
    typer.Option(
        "--kmers", metavar="COLUMN:1-3", rich_help_panel=COLUMNS,
        help="A column of sequences; counts of its words of 1 to 3 letters become features. "
        "COLUMN:1-3:LETTERS where it is neither DNA nor RNA.",
    ),
]  # fmt: skip
DropMissing = Annotated[
    bool,
    typer.Option(
        "--drop-missing", rich_help_panel=COLUMNS,
        help="Leave out rows with a missing value, with the labels beside them, and count them.",
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
Noise = Annotated[
    NoiseLaw,
    typer.Option(
        "--noise", rich_help_panel=FIT,
        help="Law of the noise: t and mixture (of normals) for heavy tails and skew. auto chooses "
        "where the order given is used, and is normal where it is lost.",
    ),
]  # fmt: skip
Robust = Annotated[
    bool,
    typer.Option(
        "--robust", rich_help_panel=FIT,
        help="Standard errors that hold where the noise differs between rows (a sandwich). "
        r"\[default: where a test finds that it does]",
    ),
]  # fmt: skip
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
    *,
    id_column: str | None = None,
    plate: str | None = None,
    show: str | None = None,
    exclude: str | None = None,
    kmers: str | None = None,
    drop_missing: bool = False,
    match_features: str | None = None,
    blank_labels: bool = False,
    strata: str | None = None,
) -> "Roles":
    """Roles of columns from the options above."""
    from ..io.tables import Roles
    from ..io.tables.kmers import parse_kmers

    return Roles(
        label, split_names(features), group, known, match_prob, split_names(categorical),
        split_names(blocks), id_column, plate, split_names(show),
        excluded=split_names(exclude), kmers=parse_kmers(split_names(kmers)),
        drop_missing=drop_missing,
        match_features=split_names(match_features), blank_labels=blank_labels, strata=strata,
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


def check_pairs(pairs: Path | None, checked: Path | None) -> None:
    """Refuse links that were checked without a table of pairs."""
    if pairs is None and checked is not None:
        raise ValueError("--checked belongs to --pairs, which is missing")


def model_settings(noise: NoiseLaw, *, robust: bool) -> dict[str, str]:
    """Settings of the estimator that were asked for."""
    asked = {"noise": noise.value} if noise is not NoiseLaw.auto else {}
    return asked | ({"covariance_type": "robust"} if robust else {})
