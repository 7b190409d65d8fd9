"""`unshuffle repair`: the table with each label beside its most likely row."""

from pathlib import Path
from typing import Annotated

import typer

from . import families, options
from .errors import REJECTED, plain_errors
from .screen import say

EXAMPLES = """
[bold]Example[/bold]

Samples that were mixed up on a plate:

    unshuffle repair assay.csv --label dose --features a,b,c --group plate --out mended.csv

Not for linked files, whose coefficients are known far better than the owners of their labels.
"""


def repair(
    data: options.Data,
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write, of the same kind as DATA.", show_default=False,
            rich_help_panel=options.OUTPUT,
        ),
    ],
    label: options.Label = None,
    features: options.Features = None,
    group: options.Group = None,
    known: options.Known = None,
    match_prob: options.MatchProb = None,
    categorical: options.Categorical = None,
    id_column: options.Id = None,
    exclude: options.Exclude = None,
    kmers: options.KmersOf = None,
    pairing: options.Pairing = options.OrderGiven.auto,
    intercept: options.Intercept = True,
    reviewed: options.Reviewed = None,
    family: families.Family = families.Kind.normal,
    accept_rejected: Annotated[
        bool,
        typer.Option(
            "--accept-rejected",
            help='Write even if the verdict is "reject", or fewer labels are expected to be right.',
            rich_help_panel=options.OUTPUT,
        ),
    ] = False,
    force: options.Force = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """Write the table again with each label beside its most likely row.

    Every other cell is copied as it stands, and DATA is never changed. Where the verdict is
    "reject", nothing is written: such a repair would only shuffle the labels again. Nor where fewer
    labels are expected to stand beside their own row than before, as in most linked files.
    """
    with plain_errors("repair", debug):
        families.refuse_repair(family)
        from ..io.standard_input import take_standard_input
        from ..io.tables.write import check_copy, write_with_labels
        from .one_table import claim_table, fit_one_table
        from .output import moves, print_json, print_notes

        (data,) = take_standard_input([data])
        check_copy(data, out)
        output = claim_table(out, data, reviewed, force)
        fitted = fit_one_table(
            data, label, features, group, known, match_prob, categorical, id_column=id_column,
            exclude=exclude, kmers=kmers, reviewed=reviewed, pairing=pairing, intercept=intercept,
            seed=seed, jobs=jobs, quiet=quiet or as_json,
        )  # fmt: skip
        model, y = fitted.model, fitted.rows.y
        moved = int((y[model.permutation_] != y).sum())
        expected = model.expect_repair()
        refused = fitted.rejected or expected.is_worse
        wanted = accept_rejected or not refused
        if wanted:
            write_with_labels(data, fitted.rows.label, model.permutation_, output)
        print_notes(fitted, quiet or as_json)
        if as_json:
            print_json({"verdict": model.verdict_.level, "moved": moved, "rows": len(y),
                        "moves": moves(fitted),
                        "right_before": expected.before, "right_after": expected.after,
                        "file": out if wanted else None, "notes": fitted.notes})  # fmt: skip
        else:
            say(f"Verdict: {model.verdict_}")
            say(f"Expected: {expected}")
            if wanted:
                say(f"{moved} of {len(y)} labels were moved\nWritten: {out}")
            else:
                say("Nothing was written; --accept-rejected writes the file all the same.")
        if refused:
            raise typer.Exit(REJECTED)
