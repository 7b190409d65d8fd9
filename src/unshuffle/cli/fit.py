"""`unshuffle fit`: the main job on a table of the user's own."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .errors import REJECTED, plain_errors

LARGE = "Large Parquet files"
EXAMPLES = """
[bold]Examples[/bold]

One table; which price belongs to which house is lost inside a zone:

    unshuffle fit houses.csv --label price --group zone --out results

Two tables that share nothing but the zone:

    unshuffle fit houses.csv prices.csv --by zone --out results

A linked table, with the linkage tool's probability of a right link:

    unshuffle fit linked.parquet --label income --match-prob p_match

Files larger than memory, on a Dask cluster, able to go on after a power cut:

    unshuffle fit big/*.parquet -y income -g zone --scheduler tcp://10.0.0.1:8786 --checkpoint c.npz

Exit code: 0, 1 if the verdict is "reject", 2 if the input cannot be used, 3 if unshuffle erred.
"""


def fit(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA [LABELS]", show_default=False,
            help="Table: CSV or TSV (also .gz), Parquet, FCS. With --by a second one, with the "
            "labels. Several Parquet files are one table, fitted in passes.",
        ),
    ],
    label: options.Label = None,
    features: options.Features = None,
    group: options.Group = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="The column that two tables share, as --group.",
            rich_help_panel=options.PARTS,
        ),
    ] = None,
    known: options.Known = None,
    match_prob: options.MatchProb = None,
    categorical: options.Categorical = None,
    pairing: options.Believed = options.Pairing.auto,
    intercept: options.Intercept = True,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="TCP://...", rich_help_panel=LARGE,
            help="Address of a Dask scheduler whose workers see the Parquet files.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=LARGE, help="File to go on from, written every ten iterations."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", rich_help_panel=LARGE, help="Go on from the checkpoint."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", rich_help_panel=options.OUTPUT,
            help="Folder for model.json, model.npz, summary.csv, matches.csv, report.html. "
            "It appears as a whole; an earlier result in it is replaced.",
        ),
    ] = None,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """Fit a linear regression to rows whose labels are shuffled, and say how far to trust it.

    Tests whether the order given carries information; searches for the pairing where it does not;
    prints a verdict with reasons, and the coefficients beside those of ordinary least squares.
    """
    with plain_errors("fit", debug):
        from ..io.files import check_ours
        from ..io.tables import Roles, read_rows, read_two
        from .fitting import fit_rows
        from .large import Passes, fit_large, tell_large
        from .output import FILES, describe, print_fit, print_json, print_notes, write_fit

        if by is not None and group is not None:
            raise ValueError("give --by (two tables) or --group (one table), not both")
        if out is not None:
            check_ours(out, FILES)
        passes = Passes(scheduler, checkpoint, resume)
        if passes.asked_for or (len(tables) > 1 and by is None):
            if by or match_prob or categorical:
                raise ValueError("--by, --match-prob and --categorical are not for large files")
            columns = {"group": group, "known": known}
            names = options.split_names(features)
            model = fit_large(
                tables, passes, label=label, pairing=pairing.value, quiet=quiet or as_json,
                columns=columns | ({"features": names} if names else {}),
                settings={"fit_intercept": intercept, "random_state": seed, "n_jobs": jobs},
            )  # fmt: skip
            tell_large(model, str(label), out, as_json)
            return
        if len(tables) > 2:
            raise ValueError(f"--by joins two tables, got {len(tables)}")
        data, labels = tables[0], tables[1] if len(tables) == 2 else None
        if by is not None and labels is None:
            raise ValueError("--by is for two tables; name the table of labels, or use --group")
        if labels is not None and (known or match_prob):
            raise ValueError("--known and --match-prob are for one table with rows and labels")
        roles = Roles(
            label, options.split_names(features), by or group, known, match_prob,
            options.split_names(categorical),
        )  # fmt: skip
        rows = read_rows(data, roles) if labels is None else read_two(data, labels, roles)
        fitted = fit_rows(
            rows, pairing=pairing.value, intercept=intercept, seed=seed, jobs=jobs,
            quiet=quiet or as_json,
        )  # fmt: skip
        files = [] if out is None else write_fit(fitted, out)
        print_notes(fitted, quiet or as_json)
        if as_json:
            print_json(describe(fitted) | {"files": files})
        else:
            print_fit(fitted)
            for path in files:
                typer.echo(f"Written: {path}")
        if fitted.rejected:
            raise typer.Exit(REJECTED)
