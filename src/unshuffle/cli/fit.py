"""`unshuffle fit`: the main job on a table of the user's own."""

from pathlib import Path
from typing import Annotated

import typer

from . import options
from .errors import REJECTED, plain_errors

PASSES = "Parquet files larger than memory"
EXAMPLES = """
[bold]Examples[/bold]

One table; which price belongs to which house is lost inside a zone:

    unshuffle fit houses.csv --label price --group zone --out results

Two tables that share nothing but the zone:

    unshuffle fit houses.csv prices.csv --by zone --out results

A linked table, with the linkage tool's probability of a right link:

    unshuffle fit linked.parquet --label income --match-prob p_match

The same, with clues of who is mismatched in place of a probability:

    unshuffle fit linked.csv -y income --match-feature name_distance,commonness

Parquet files larger than memory are fitted in passes, here on a Dask cluster, with a file from
which the fit can continue after a power cut. Passes do not test the order, so --pairing is needed:

    unshuffle fit big/*.parquet -y income -g zone --pairing lost \\
        --scheduler tcp://10.0.0.1:8786 --checkpoint c.npz

Exit code: 0; 1 if the verdict is "reject"; 2 if the input cannot be used; 3 if unshuffle fails.
"""


def fit(
    tables: Annotated[
        list[Path],
        typer.Argument(
            metavar="DATA [LABELS]", show_default=False,
            help="Table: CSV or TSV (also .gz), Parquet, FCS. With --by a second one, with the "
            "labels. Several Parquet files, or a folder of them, are one table.",
        ),
    ],
    label: options.Label = None,
    features: options.Features = None,
    group: options.Group = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="The column that two tables share, as --group.",
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    known: options.Known = None,
    match_prob: options.MatchProb = None,
    match_feature: options.MatchFeature = None,
    categorical: options.Categorical = None,
    pairing: options.Pairing = options.OrderGiven.auto,
    intercept: options.Intercept = True,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    scheduler: Annotated[
        str | None,
        typer.Option(
            metavar="TCP://...", rich_help_panel=PASSES,
            help="Address of a Dask scheduler whose workers see the Parquet files.",
        ),
    ] = None,
    checkpoint: Annotated[
        Path | None,
        typer.Option(
            rich_help_panel=PASSES, help="File to continue from, written every ten iterations."
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", rich_help_panel=PASSES, help="Continue from the checkpoint."),
    ] = False,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", rich_help_panel=options.OUTPUT,
            help="Folder for model.json, model.npz, summary.csv, matches.csv, report.html. "
            "It appears as a whole; an earlier result in it is replaced.",
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """Fit a linear regression to rows whose labels are shuffled, and report how far to trust it.

    Tests whether the order given carries information; searches for the pairing where it does not;
    prints a verdict with reasons, and the coefficients beside those of ordinary least squares.
    Parquet files of more than 200 million numbers are fitted in passes, without search and verdict.
    """
    with plain_errors("fit", debug):
        from ..data.scheduler import check_scheduler
        from ..io.outputs import Outputs
        from ..io.tables import read_rows, read_two
        from . import output
        from .fitting import fit_rows
        from .kinds import CHECKPOINT, RESULTS
        from .passes import Passes, find_tables, fit_in_passes, reason_for_passes, report_passes

        if by is not None and group is not None:
            raise ValueError("give --by (two tables) or --group (one table), not both")
        passes = Passes(scheduler, checkpoint, resume)
        if scheduler is not None:
            if scheduler.startswith("inproc:"):
                raise ValueError(
                    f"--scheduler {scheduler} is inside another process; give a tcp address"
                )
            check_scheduler(scheduler)  # at once, before the libraries of a fit are loaded
        files = tables if by is not None else find_tables(tables, passes)
        outputs = Outputs([*tables, *files], force=force)
        folder = None if out is None else outputs.claim(out, RESULTS)
        if checkpoint is not None:
            outputs.claim(checkpoint, CHECKPOINT)
        roles = options.make_roles(
            label, features, by or group, known, match_prob, categorical,
            match_features=match_feature,
        )  # fmt: skip
        if by is not None:
            if len(tables) != 2:
                raise ValueError(
                    f"--by is for two tables, features and labels, got {len(tables)}; one table "
                    "with both needs --group"
                )
            if known or match_prob or match_feature or passes.asked_for:
                raise ValueError(
                    "--known, --match-prob, --match-feature, --scheduler, --checkpoint and "
                    "--resume are for one table with rows and labels, not for --by"
                )
            rows = read_two(tables[0], tables[1], roles)
        else:
            reason = reason_for_passes(files, roles, passes)
            if reason:
                model = fit_in_passes(
                    files, roles, passes, reason, pairing=pairing.value, quiet=quiet or as_json,
                    force=force,
                    settings={"fit_intercept": intercept, "random_state": seed, "n_jobs": jobs},
                )  # fmt: skip
                report_passes(model, str(label), folder, as_json)
                return
            rows = read_rows(files, roles)
        fitted = fit_rows(
            rows, pairing=pairing.value, intercept=intercept, seed=seed, jobs=jobs,
            quiet=quiet or as_json,
        )  # fmt: skip
        written = [] if folder is None else output.write_fit(fitted, folder)
        output.print_notes(fitted, quiet or as_json)
        if as_json:
            output.print_json(output.describe(fitted) | {"files": written})
        else:
            output.print_fit(fitted)
            output.print_files(written)
        if fitted.rejected:
            raise typer.Exit(REJECTED)
