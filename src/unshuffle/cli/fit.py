"""`unshuffle fit`: the main job on a table of the user's own."""

from pathlib import Path
from typing import Annotated

import typer

from . import families, options, rates
from .errors import plain_errors, without_option
from .unmatched import MatchShare, UnequalCounts, Unmatched, count_settings, refuse_passes

PASSES = "Parquet files larger than memory"
EXAMPLES = """
[bold]Examples[/bold]

One table; which price belongs to which house is lost inside a zone:

    unshuffle fit houses.csv --label price --group zone --out results

Two tables that share nothing but the zone:

    unshuffle fit houses.csv prices.csv --by zone --out results

The same where some houses have no price, and some prices no house:

    unshuffle fit houses.csv prices.csv --by zone --unmatched model

A linked table, with the linkage tool's probability of a right link:

    unshuffle fit linked.parquet --label income --match-prob p_match

A table with names of its rows; the report lists what needs a decision, and what was decided in it
is used by the next fit:

    unshuffle fit linked.csv --label income --id person --show name,born --out first
    unshuffle fit linked.csv --label income --id person --show name,born \\
        --reviewed reviewed.csv --out second

Two tables and the candidate pairs of a linkage tool (splink's columns unique_id_l, unique_id_r and
match_probability); a linked table of which 300 links were checked, 21 of them wrong:

    unshuffle fit people.csv incomes.csv --pairs pairs.parquet --label income
    unshuffle fit linked.csv --label income --audit 21/300
    unshuffle fit linked.csv --label income --strata region --audit north=21/300,south=4/250

Odds ratios from a linked table, hazard ratios from another:

    unshuffle fit linked.csv --label ill --family bernoulli
    unshuffle fit linked.csv --label months --event died --family cox

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
            help=f"{options.KINDS} With --by or --pairs a second one, with the labels. Several "
            "Parquet files, or a folder of them, are one table; so are several FCS files.",
        ),
    ],
    label: options.Label = None,
    features: options.Features = None,
    group: options.Group = None,
    by: Annotated[
        str | None,
        typer.Option(
            help="The column that two tables share, as --group; file for the FCS file of a row.",
            rich_help_panel=options.COLUMNS,
        ),
    ] = None,
    pairs: options.Pairs = None,
    checked: options.Checked = None,
    known: options.Known = None,
    match_prob: options.MatchProb = None,
    match_feature: options.MatchFeature = None,
    strata: rates.Strata = None,
    categorical: options.Categorical = None,
    id_column: options.IdOfPairs = None,
    plate: options.Plate = None,
    show: options.Show = None,
    exclude: options.Exclude = None,
    kmers: options.KmersOf = None,
    drop_missing: options.DropMissing = False,
    family: families.Family = families.Kind.normal,
    event: families.Event = None,
    offset: families.Offset = None,
    exposure: families.Exposure = None,
    weight: families.Weight = None,
    pairing: options.Pairing = options.OrderGiven.auto,
    audit: rates.Audited = None,
    mismatch_rate: rates.MismatchRate = None,
    unmatched: Unmatched = UnequalCounts.refuse,
    match_share: MatchShare = "estimate",
    intercept: options.Intercept = True,
    reviewed: options.Reviewed = None,
    noise: options.Noise = options.NoiseLaw.auto,
    robust: options.Robust = False,
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
        from ..io.outputs import Outputs
        from ..io.standard_input import take_standard_input, with_redirected
        from ..io.tables import read_rows
        from . import output
        from .kinds import CHECKPOINT, RESULTS
        from .linked import Linking, read_two_tables
        from .passes import Passes, find_tables, fit_in_passes, reason_for_passes, report_passes
        from .reviewed import fit_reviewed

        by, group = _keys(tables, by, group)
        passes = Passes(scheduler, checkpoint, resume)
        _check_scheduler(scheduler)
        options.check_pairs(pairs, checked)
        typed = rates.TypedRates(audit, mismatch_rate, strata)
        typed.check()
        tables = take_standard_input(tables)
        two = by is not None or pairs is not None
        files = tables if two else find_tables(tables, passes)
        further = filter(None, (pairs, checked, reviewed, typed.file))
        outputs = Outputs(with_redirected([*tables, *files, *further]), force=force)
        folder = None if out is None else outputs.claim(out, RESULTS)
        if checkpoint is not None:
            outputs.claim(checkpoint, CHECKPOINT)
        roles = options.make_roles(
            label, features, by or group, known, match_prob, categorical,
            id_column=id_column, plate=plate, show=show, exclude=exclude, kmers=kmers,
            drop_missing=drop_missing, match_features=match_feature,
            blank_labels=unmatched is UnequalCounts.model, strata=strata,
        )  # fmt: skip
        model_settings = options.model_settings(noise, robust=robust)
        beside = {"event": event, "offset": offset, "exposure": exposure, "weight": weight}
        if families.are_asked_for(
            family, beside, one_table=not two and not passes.asked_for,
            plain=not (reviewed or strata or model_settings or plate or show or match_feature)
            and unmatched is UnequalCounts.refuse,
        ):  # fmt: skip
            fitted = families.fit_table(
                files, roles, family.value, beside, pairing=pairing.value, intercept=intercept,
                seed=seed, jobs=jobs, rates=typed,
            )  # fmt: skip
            families.report(fitted, folder, as_json=as_json, quiet=quiet)
            return
        linked: list[str] = []
        if two:
            one_table = bool(
                known or match_prob or match_feature or plate or show or reviewed or drop_missing
                or strata or passes.asked_for
            )  # fmt: skip
            linking = Linking(by, pairs, id_column, checked, one_table)
            with without_option("missing"):
                rows, linked = read_two_tables(tables, roles, linking)
        else:
            reason = reason_for_passes(files, roles, passes)
            refuse_passes(reason, unmatched)
            if reason:
                typed.refuse_passes()
                model = fit_in_passes(
                    files, roles, passes, reason, pairing=pairing.value, quiet=quiet or as_json,
                    force=force, reviewed=reviewed,
                    settings={
                        "fit_intercept": intercept, "random_state": seed, "n_jobs": jobs,
                        **model_settings,
                    },
                )  # fmt: skip
                report_passes(model, str(label), folder, as_json)
                return
            rows = read_rows(files, roles)
        counts = count_settings(unmatched, match_share)
        fitted = fit_reviewed(
            rows, reviewed, id_column or "", pairing=pairing.value, intercept=intercept, seed=seed,
            jobs=jobs, quiet=quiet or as_json, rates=typed, counts=counts, **model_settings,
        )  # fmt: skip
        fitted.notes[:0] = linked
        output.report(fitted, folder, as_json=as_json, quiet=quiet)


def _check_scheduler(scheduler: str | None) -> None:
    """Ask the scheduler at once, before the libraries of a fit are loaded."""
    if scheduler is None:
        return
    from ..data.scheduler import check_scheduler

    if scheduler.startswith("inproc:"):
        raise ValueError(f"--scheduler {scheduler} is inside another process; give a tcp address")
    check_scheduler(scheduler)


def _keys(tables: list[Path], by: str | None, group: str | None) -> tuple[str | None, str | None]:
    """The key of two tables, and the group inside one; several FCS files are one."""
    from ..io.tables.fcs_files import FILE, are_fcs

    if by is not None and group is not None:
        raise ValueError("give --by (two tables) or --group (one table), not both")
    return (None, by) if by == FILE and are_fcs(tables) else (by, group)
