"""`unshuffle audit`: can this shuffled release be undone?"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from . import options
from .errors import plain_errors
from .notes import print_table_notes
from .screen import cell

if TYPE_CHECKING:
    from ..estimators.audit import AuditResult

EXAMPLES = """
[bold]Example[/bold]

Before salaries are published shuffled inside villages:

    unshuffle audit people.csv --label salary --features age,rooms,cars --group village
"""


def audit(
    data: options.Data,
    label: options.Label = None,
    features: options.Features = None,
    group: options.Group = None,
    categorical: options.Categorical = None,
    id_column: options.Id = None,
    exclude: options.Exclude = None,
    kmers: options.KmersOf = None,
    drop_missing: options.DropMissing = False,
    shuffles: Annotated[
        int,
        typer.Option(min=2, help="Shuffles to attack; more reduce the Monte Carlo error."),
    ] = 5,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0.0, help=r"Labels this near count as found.  \[default: a tenth of their spread]"
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", "-o", rich_help_panel=options.OUTPUT,
            help="Folder for report.html, zones.csv and rows.csv: what is at risk. It names rows "
            "and labels: do not publish it.",
        ),
    ] = None,
    force: options.Force = False,
    seed: options.Seed = 0,
    jobs: options.Jobs = 1,
    as_json: options.AsJson = False,
    quiet: options.Quiet = False,
    debug: options.Debug = False,
) -> None:  # fmt: skip
    """Before you publish data shuffled inside groups: how much of it could be undone?

    DATA is the true pairing, which you have and the public will not. The release is simulated by
    shuffling the labels inside groups, and attacked with this program's own fit. All figures are
    estimates for this attack; an attacker who knows more may find more. A label that is text, or
    among --categorical, is a secret of categories.
    """
    with plain_errors("audit", debug):
        from ..estimators.audit import audit_release
        from ..exceptions import TableError
        from ..io.outputs import Outputs
        from ..io.standard_input import take_standard_input, with_redirected
        from ..io.tables import read_rows
        from ..io.tables.roles import as_secret
        from .audit_files import AUDIT, write_audit
        from .output import print_files, print_json

        (data,) = take_standard_input([data])
        folder = None
        if out is not None:
            folder = Outputs(with_redirected([data]), force=force).claim(out, AUDIT)
        roles = options.make_roles(
            label, features, group, categorical=categorical, id_column=id_column,
            exclude=exclude, kmers=kmers, drop_missing=drop_missing,
        )  # fmt: skip
        roles = as_secret(roles)
        rows = read_rows(data, roles)
        watched = sys.stderr.isatty() and not (quiet or as_json)
        with _progress("shuffles", watched) as progress:
            try:
                secret = rows.y if rows.levels is None else rows.table.columns[rows.label]
                result = audit_release(
                    rows.X, secret, rows.groups, n_shuffles=shuffles, tolerance=tolerance,
                    n_jobs=jobs, random_state=seed, callback=progress,
                )  # fmt: skip
            except ValueError as error:
                raise TableError(data, str(error)) from error
        print_table_notes(rows, quiet or as_json)
        files = [] if folder is None else write_audit(result, rows, secret, folder)
        if as_json:
            found = {"text": result.text, "level": result.level, "files": files}
            found["reasons"] = [asdict(reason) for reason in result.reasons]
            found |= asdict(replace(result, rows=None))
            print_json({"data": data, "label": rows.label, **found})
        else:
            _show(result, rows.label)
            print_files(files)


@contextmanager
def _progress(title: str, watched: bool) -> Iterator[Callable[[int, int], None]]:
    """A progress bar on standard error; gives a function of (done, total)."""
    if not watched:
        yield lambda done, total: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


def _show(result: "AuditResult", label: str) -> None:
    from rich.console import Console
    from rich.table import Table

    console = Console()
    groups = f"{result.n_groups} groups, the smallest of {result.smallest_group}"
    console.print(
        f"{result.n_rows} rows in {groups if result.n_groups > 1 else 'one group'}; "
        f"{result.n_shuffles} shuffles attacked; ± is the Monte Carlo error over shuffles."
    )
    if result.n_alone:
        console.print(f"{result.n_alone} rows are alone in their group, not hidden by the shuffle.")
    table = Table(title=f"Rows whose own {cell(label)} is found", title_justify="left")
    guessing = "by guessing inside groups" if result.n_groups > 1 else "by guessing"
    if result.categories:
        guessing = "by naming the most frequent"
    for head in ("", "by the attack", guessing):
        table.add_column(head, justify="left" if not head else "right")
    table.add_row("exactly", str(result.found), f"{result.found_by_guessing.value:.1%}")
    if not result.categories:
        near = f"within {result.tolerance:.3g}"
        table.add_row(near, str(result.near), f"{result.near_by_guessing.value:.1%}")
    console.print(table)
    exact = "" if result.categories else " in the exact label"
    bands = Table(title=f"By the attacker's confidence{exact}", title_justify="left")
    for head in ("confidence", "rows", "own label found", "by guessing"):
        bands.add_column(head, justify="right")
    for band in result.bands:
        if band.share.value:
            bands.add_row(
                f"{band.low:.0%}-{band.high:.0%}", str(band.share), str(band.found),
                f"{band.guessed.value:.1%}",
            )  # fmt: skip
    console.print(bands)
    console.print(
        f"Coefficients: off by {result.coefficient_error} of their length (least squares on the "
        f"shuffled release: {result.naive_error}). At 0 % the release reveals them; at 100 % it "
        "reveals nothing about them."
    )
    counts = ", ".join(f"{level} {count}" for level, count in result.verdicts.items())
    console.print(f"The attacker's own verdicts: {counts}.")
    reasons = Table.grid(padding=(0, 2))
    for reason in result.reasons:
        reasons.add_row(f"  {reason.level}", reason.text)
    console.print(reasons)
    console.print(f"In short: {result.level}: {result.text}.")
    console.print("Estimates for this attack; an attacker who knows more may find more.")
