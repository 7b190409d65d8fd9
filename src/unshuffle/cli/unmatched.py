"""Options and outputs of fits to rows without labels and labels without rows."""

from dataclasses import replace
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any

import typer

from .options import FIT

if TYPE_CHECKING:
    from ..io.tables import FitTable
    from .fitting import Fitted


class UnequalCounts(StrEnum):
    """What to do about groups with more rows than labels, or fewer."""

    refuse = "refuse"
    drop_groups = "drop-groups"
    model = "model"


Unmatched = Annotated[
    UnequalCounts,
    typer.Option(
        "--unmatched", rich_help_panel=FIT,
        help="Groups with more rows than labels, or fewer: refuse them, drop them, or let rows "
        "have no label and labels no row.",
    ),
]  # fmt: skip
MatchShare = Annotated[
    str,
    typer.Option(
        "--match-share", rich_help_panel=FIT, metavar="SHARE",
        help="Share of rows that have their label among those given, with --unmatched model: "
        "estimate, a number, or bounds such as 0.8,1.",
    ),
]  # fmt: skip


def read_match_share(text: str) -> Any:
    """The option as the estimator takes it."""
    if text == "estimate":
        return text
    try:
        numbers = tuple(float(part) for part in text.split(","))
    except ValueError as error:
        raise ValueError(
            f"--match-share is estimate, a number, or two with a comma; got {text!r}"
        ) from error
    return numbers[0] if len(numbers) == 1 else numbers


def count_settings(unmatched: UnequalCounts, match_share: str) -> dict[str, Any]:
    """Settings of a fit whose counts may be unequal; none where they are refused."""
    if unmatched is UnequalCounts.refuse:
        return {}
    return {"unmatched": unmatched.value, "match_share": read_match_share(match_share)}


def refuse_passes(reason: str | None, unmatched: UnequalCounts) -> None:
    """Passes know only groups with as many labels as rows."""
    if reason and unmatched is not UnequalCounts.refuse:
        raise ValueError(
            "--unmatched is for tables in memory, and these files are fitted in passes; fit a "
            "sample of whole groups"
        )


def as_options(message: str) -> str:
    """A message of the estimator with the settings spelled as on the command line."""
    message = message.replace("match_features", "--match-feature")
    for setting in UnequalCounts:
        message = message.replace(f"unmatched='{setting.value}'", f"--unmatched {setting.value}")
    return message


def used_rows(rows: "FitTable", model: Any) -> "FitTable":
    """The rows of the fit, where others were dropped; labels stay as they were read."""
    kept = getattr(model, "kept_rows_", None)
    if kept is None:
        return rows
    held = {name: column[kept] for name, column in rows.table.columns.items()}
    return replace(
        rows,
        table=replace(rows.table, columns=held, n_rows=len(kept), lines=None),
        X=rows.X[kept],
        groups=None if rows.groups is None else rows.groups[kept],
        ids=None if rows.ids is None else rows.ids[kept],
    )


def has_nobody(model: Any) -> bool:
    """Whether the rows of a fit may have no label, or are not all rows of the table."""
    return hasattr(model, "unmatched_rows_") or hasattr(model, "kept_rows_")


def matches_with_nobody(fitted: "Fitted") -> dict[str, Any]:
    """For each row, counted from 1, its probable label, or nobody's."""
    model, rows = fitted.model, fitted.rows
    likely = model.permutation_
    numbers = getattr(model, "kept_rows_", range(len(likely)))
    table: dict[str, Any] = {"row": [int(k) + 1 for k in numbers]}
    if rows.ids is not None:
        table["id"] = rows.ids
    if hasattr(model, "unmatched_rows_"):
        table["match_probability"] = model.match_proba_
        table["without_label_probability"] = model.unmatched_rows_proba_
    table["likely_partner"] = ["nobody" if k < 0 else str(k + 1) for k in likely]
    table[f"likely_{rows.label}"] = ["" if k < 0 else repr(float(rows.y[k])) for k in likely]
    return table


def describe_unmatched(model: Any) -> dict[str, Any]:
    """What ``--json`` says of rows and labels without a partner; rows are counted from 1."""
    if hasattr(model, "n_dropped_groups_"):
        return {
            "dropped": {
                "groups": model.n_dropped_groups_,
                "rows": model.n_dropped_rows_,
                "labels": model.n_dropped_labels_,
            }
        }
    if not hasattr(model, "unmatched_rows_"):
        return {}
    return {
        "match_share": model.match_share_,
        "match_share_se": model.match_share_se_,
        "pairs": model.n_pairs_,
        "labels": model.n_labels_,
        "unmatched_rows": model.unmatched_rows_ + 1,
        "unmatched_labels": model.unmatched_labels_ + 1,
    }
