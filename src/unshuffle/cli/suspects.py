"""`unshuffle suspects`: rows whose label probably belongs to another row."""

from pathlib import Path
from typing import Annotated, Any

import typer

from . import families, options
from .errors import REJECTED, plain_errors
from .screen import cell, say
from .settings import CLI

# Short ones, so that the table has room on a terminal of 80 columns.
HEADS = {"match_probability": "match p", "partner_id": "its id", "partner_probability": "its p"}
EXAMPLES = """
[bold]Example[/bold]

Samples that were probably mixed up, the most probable first:

    unshuffle suspects assay.csv --label dose --features a,b,c --group plate

Linked rows that probably have another row's number of visits:

    unshuffle suspects linked.csv --label visits --family poisson
"""


def suspects(
    data: options.Data,
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
    event: families.Event = None,
    offset: families.Offset = None,
    exposure: families.Exposure = None,
    weight: families.Weight = None,
    threshold: Annotated[
        float,
        typer.Option(
            min=0.0, max=1.0, rich_help_panel=options.FIT,
            help="List rows less likely than this to hold their own label.",
        ),
    ] = 0.5,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", help="File for the whole list, with partners.",
            rich_help_panel=options.OUTPUT,
        ),
    ] = None,
    force: options.Force = False,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """List the rows that probably do not hold their own label, and whose it may be.

    Rows are counted from 1, below the header. The partner is the row whose label fit --out and
    repair give to the row; where they leave it its own, the most probable other row. With --family
    it is the row beside which the own label most probably stands.
    """
    with plain_errors("suspects", debug):
        from ..io.standard_input import take_standard_input
        from ..io.tables.write import check_writable_kind, write_table
        from .one_table import claim_table, fit_one_table
        from .output import list_suspects, print_files, print_json, print_notes

        (data,) = take_standard_input([data])
        output = None
        if out is not None:
            check_writable_kind(out)
            output = claim_table(out, data, reviewed, force)
        columns_given = (label, features, group, known, match_prob, categorical)
        beside = {"event": event, "offset": offset, "exposure": exposure, "weight": weight}
        if families.takes_family(family, beside):
            families.refuse_reviewed(reviewed)
            roles = options.make_roles(
                *columns_given, id_column=id_column, exclude=exclude, kmers=kmers
            )
            fitted = families.fit_table(
                [data], roles, family.value, beside, pairing=pairing.value, intercept=intercept,
                seed=seed, jobs=jobs,
            )  # fmt: skip
            columns = families.suspects_of(fitted, threshold)
        else:
            fitted = fit_one_table(
                data, *columns_given, id_column=id_column, exclude=exclude, kmers=kmers,
                reviewed=reviewed, pairing=pairing, intercept=intercept, seed=seed, jobs=jobs,
                quiet=quiet or as_json,
            )  # fmt: skip
            columns = list_suspects(fitted, threshold)
        if output is not None:
            write_table(output, columns)
        verdict = fitted.model.verdict_
        print_notes(fitted, quiet or as_json)
        if as_json:
            listed = [
                dict(zip(columns, line, strict=True))
                for line in zip(*columns.values(), strict=True)
            ]
            print_json({"verdict": verdict.level, "pairing": fitted.model.pairing_,
                        "suspects": listed, "file": out, "notes": fitted.notes})  # fmt: skip
        else:
            _show(columns, len(fitted.rows.y), fitted.model.pairing_, threshold)
            say(f"Verdict: {verdict}")
            print_files([out])
        if fitted.rejected:
            raise typer.Exit(REJECTED)


def _show(columns: dict[str, Any], n_rows: int, pairing: str, threshold: float) -> None:
    from rich.console import Console
    from rich.table import Table

    lines = [dict(zip(columns, line, strict=True)) for line in zip(*columns.values(), strict=True)]
    error = " and no gross error" if "kind" in columns else ""
    say(
        f"{len(lines)} of {n_rows} rows are less than {threshold:.0%} likely to hold their own "
        f"label{error}"
    )
    if pairing == "lost":
        say("The order given carries no information: any row may hold any label.")
    if not lines:
        return
    table = Table()
    for name in columns:
        table.add_column(cell(HEADS.get(name, name)), justify="right", no_wrap=name == "kind")
    for line in lines[: CLI.listed]:
        table.add_row(*(_shown(name, value, line) for name, value in line.items()))
    Console().print(table)
    if len(lines) > CLI.listed:
        say(f"... and {len(lines) - CLI.listed} more; --out FILE writes them all")


def _shown(name: str, value: Any, line: dict[str, Any]) -> str:
    """A value of a table on the screen; a row without a partner has dashes."""
    if name.startswith("partner") and line["partner"] < 1:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if name.endswith("probability") else f"{value:g}"
    return cell(str(value))
