"""`unshuffle repair`: the table with each label beside its most likely row."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .errors import REJECTED, plain_errors
from .screen import say

EXAMPLES = """
[bold]Example[/bold]

    unshuffle repair linked.csv --label income --group village --out mended.csv
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
    exclude: options.Exclude = None,
    kmers: options.KmersOf = None,
    pairing: options.Pairing = options.OrderGiven.auto,
    intercept: options.Intercept = True,
    accept_rejected: Annotated[
        bool,
        typer.Option(
            "--accept-rejected", help='Write even if the verdict is "reject".',
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
    "reject", nothing is written: such a repair would only shuffle the labels again.
    """
    with plain_errors("repair", debug):
        from ..io.outputs import Outputs
        from ..io.standard_input import take_standard_input, with_redirected
        from ..io.tables import read_rows
        from ..io.tables.write import TABLE, check_copy, write_with_labels
        from .fitting import fit_rows
        from .output import print_json, print_notes

        (data,) = take_standard_input([data])
        check_copy(data, out)
        output = Outputs(with_redirected([data]), force=force).claim(out, TABLE)
        roles = options.make_roles(
            label, features, group, known, match_prob, categorical, exclude=exclude, kmers=kmers
        )
        fitted = fit_rows(
            read_rows(data, roles), pairing=pairing.value, intercept=intercept, seed=seed,
            jobs=jobs, quiet=quiet or as_json,
        )  # fmt: skip
        model, y = fitted.model, fitted.rows.y
        moved = int((y[model.permutation_] != y).sum())
        wanted = accept_rejected or not fitted.rejected
        if wanted:
            write_with_labels(data, fitted.rows.label, model.permutation_, output)
        print_notes(fitted, quiet or as_json)
        if as_json:
            print_json({"verdict": model.verdict_.level, "moved": moved, "rows": len(y),
                        "file": out if wanted else None, "notes": fitted.notes})  # fmt: skip
        else:
            say(f"Verdict: {model.verdict_}")
            if wanted:
                say(f"{moved} of {len(y)} labels were moved\nWritten: {out}")
            else:
                say("Nothing was written; --accept-rejected writes the file all the same.")
        if fitted.rejected:
            raise typer.Exit(REJECTED)
