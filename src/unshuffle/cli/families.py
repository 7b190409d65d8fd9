"""`unshuffle fit --family`: labels that are not normal."""

import warnings
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .. import __version__
from .errors import REJECTED
from .fitting import Fitted, declared_pairing
from .notes import table_notes
from .rates import TypedRates

if TYPE_CHECKING:
    from ..io.outputs import Output
    from ..io.tables import Roles
    from ..io.tables.family_rows import FamilyTable

PANEL = "Other labels than normal ones"


class Kind(StrEnum):
    """Law of the labels."""

    normal = "normal"
    bernoulli = "bernoulli"
    poisson = "poisson"
    gamma = "gamma"
    negative_binomial = "negative-binomial"
    cox = "cox"


Family = Annotated[
    Kind,
    typer.Option(
        "--family", rich_help_panel=PANEL,
        help="Law of the labels: bernoulli for two classes, poisson or negative-binomial for "
        "counts, gamma for positive numbers, cox for times (with --event).",
    ),
]  # fmt: skip
Event = Annotated[
    str | None,
    typer.Option(
        help="Column of 1 and 0: 1 where the time in --label is that of an event, 0 where it is "
        "censored.",
        rich_help_panel=PANEL,
    ),
]
Offset = Annotated[
    str | None,
    typer.Option(help="Column added to the linear predictor.", rich_help_panel=PANEL),
]
Exposure = Annotated[
    str | None,
    typer.Option(help="Column whose logarithm is added.", rich_help_panel=PANEL),
]
Weight = Annotated[
    str | None,
    typer.Option(help="Column: how many rows a row stands for.", rich_help_panel=PANEL),
]


def are_asked_for(
    family: Kind, beside: dict[str, str | None], *, one_table: bool, plain: bool
) -> bool:
    """Whether options of families were given; they are for one table in memory.

    `plain` says that no option was given that is for normal labels alone.
    """
    asked = takes_family(family, beside)
    if asked and not plain:
        raise ValueError(
            "--reviewed, --strata, --noise, --robust, --plate, --show and --unmatched are for "
            "normal labels without weights and offsets; leave them out, or the options of families"
        )
    if asked and not one_table:
        raise ValueError(
            "--family, --event, --offset, --exposure and --weight are for one table in memory, "
            "not for --by, --scheduler, --checkpoint and --resume"
        )
    return asked


def takes_family(family: Kind, beside: dict[str, str | None]) -> bool:
    """Whether options of families were given to a command on one table."""
    return family is not Kind.normal or any(beside.values())


def refuse_reviewed(reviewed: Path | None) -> None:
    """Refuse reviews, which only fits of normal labels take up."""
    if reviewed is not None:
        raise ValueError(
            "--reviewed is for normal labels without weights and offsets; leave it out, or mark "
            "rows that are right in a column for --known"
        )


def refuse_repair(family: Kind) -> None:
    """Refuse it: labels of other families say too little about which row they belong to."""
    if family is not Kind.normal:
        raise ValueError(
            f"repair is for normal labels, not for --family {family.value}, whose fits know "
            "coefficients far better than the owners of labels; list doubtful rows with: "
            f"unshuffle suspects --family {family.value}"
        )


def suspects_of(fitted: Fitted, threshold: float) -> dict[str, Any]:
    """Rows that probably do not hold their own label, counted from 1, and their partners."""
    import numpy as np

    model, rows = fitted.model, fitted.rows
    table = model._suspect_columns(threshold, 1)
    listed, partners = table["row"], table["partner_1"]
    named = partners >= 0
    columns: dict[str, Any] = {"row": listed + 1}
    if rows.ids is not None:
        columns["id"] = rows.ids[listed]
    columns |= {
        rows.label: table["label"],
        "match_probability": table["match_proba"],
        "partner": np.where(named, partners + 1, -1),
    }
    if rows.ids is not None:
        columns["partner_id"] = np.where(named, rows.ids[partners], "")
    columns["partner_probability"] = table["partner_1_proba"]
    return columns


def report(fitted: Fitted, folder: "Output | None", *, as_json: bool, quiet: bool) -> None:
    """Print and write a fit; a rejected one ends with its exit code."""
    from . import output

    written = [] if folder is None else write_fit(fitted, folder)
    output.print_notes(fitted, quiet or as_json)
    if as_json:
        output.print_json(describe(fitted) | {"files": written})
    else:
        output.print_fit(fitted)
        output.print_files(written)
    if fitted.rejected:
        raise typer.Exit(REJECTED)


def fit_table(
    files: Sequence[Path],
    roles: "Roles",
    family: str,
    beside: dict[str, str | None],
    *,
    pairing: str,
    intercept: bool,
    seed: int,
    jobs: int,
    rates: TypedRates | None = None,
) -> Fitted:
    """Read a table and fit its labels; errors name the file."""
    from ..exceptions import TableError, UnidentifiableWarning
    from ..families.row_errors import RowError
    from ..io.frames import NamedMatrix
    from ..io.tables.family_rows import FamilyRoles, read_family_rows

    if (family == "cox") != (beside["event"] is not None):
        raise ValueError("--event and --family cox belong together: times need events")
    more: dict[str, Any] = dict(beside)
    found = FamilyRoles(**vars(roles), **more, text_label=family == "bernoulli")
    read = read_family_rows(files, found)
    typed = rates.given if rates is not None else {}
    if rates is not None and typed:
        pairing = declared_pairing(pairing, read.rows)
    model, settings = _estimator(family, pairing, intercept, seed, jobs)
    if rates is not None and typed:
        model.set_params(mismatch_rate=rates.for_all_rows())
        settings |= typed
    X = NamedMatrix(read.rows.X, tuple(read.rows.names))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UnidentifiableWarning)  # the verdict reports it
        try:
            _fit(model, X, read)
        except RowError as error:
            columns = {"label": read.rows.label, **found.beside()}
            problem = f"{error.rule}, but this is {error.found}; {error.advice}"
            # An offset that no column holds is the logarithm of the exposure.
            column = columns.get(error.role, columns.get("exposure", ""))
            raise read.rows.table.error(problem, error.row, column) from error
        except ValueError as error:
            raise TableError(read.rows.table.path, str(error)) from error
    notes = [*table_notes(read.rows), *(str(warning.message) for warning in caught)]
    return Fitted(model, read.rows, notes, {"family": family, **settings})


def _estimator(
    family: str, pairing: str, intercept: bool, seed: int, jobs: int
) -> tuple[Any, dict[str, Any]]:
    from ..estimators.classifier import ShuffledClassifier
    from ..estimators.cox import ShuffledCoxRegressor
    from ..estimators.shuffled import ShuffledRegressor

    settings: dict[str, Any] = {"pairing": pairing}
    if family == "cox":
        if pairing == "lost":
            raise ValueError("--family cox is not for --pairing lost; times need an order")
        return ShuffledCoxRegressor(**settings), settings
    settings |= {"fit_intercept": intercept, "random_state": seed}
    if family == "bernoulli":
        return ShuffledClassifier(**settings), settings
    settings["n_jobs"] = jobs
    return ShuffledRegressor(family=family, **settings), settings


def _fit(model: Any, X: Any, read: "FamilyTable") -> None:
    import numpy as np

    rows, y = read.rows, read.rows.y
    if read.event is not None:
        y = np.column_stack([read.event.astype(np.float64), rows.y])
    model.fit(X, y, rows.groups, rows.known, rows.match_prob, **read.beside)


def describe(fitted: Fitted) -> dict[str, Any]:
    """A fit in plain numbers, for ``--json``."""
    model, rows = fitted.model, fitted.rows
    return {
        "unshuffle": __version__,
        "data": str(rows.table.path.with_name(rows.table.title)),
        "label": rows.label,
        "family": fitted.settings["family"],
        **model.summary().to_dict(),
        "advice": [reason.advice for reason in model.verdict_.reasons if reason.advice],
        "pairing": model.pairing_,
        "rows": len(rows.X),
        "groups": model.n_groups_,
        "mismatch_rate": model.mismatch_rate_,
        "converged": model.converged_,
        "settings": fitted.settings,
        "notes": fitted.notes,
    }


def write_fit(fitted: Fitted, folder: "Output") -> list[Path]:
    """Model, summary, match probabilities and report into a folder that appears as a whole."""
    import numpy as np

    from ..io.tables.write import as_csv
    from ..io.visible import visible
    from .output import write_folder, write_report

    model, rows = fitted.model, fitted.rows
    matches = {
        "row": np.arange(1, len(rows.X) + 1),
        rows.label: rows.y,
        "match_probability": model.match_proba_,
    }

    def write_rest(part: Path) -> None:
        (part / "matches.csv").write_bytes(as_csv(matches))
        write_report(fitted, part / "report.html")

    return write_folder(
        model, folder, write_rest, label=rows.label, columns=rows.columns,
        settings={**fitted.settings, "data": visible(rows.table.title)},
    )  # fmt: skip
