"""What people decided about rows, as part of a fit."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from ..io.tables import FitTable
    from ..io.tables.reviewed import Decisions
    from .fitting import Fitted


def fit_reviewed(
    rows: "FitTable", reviewed: Path | None, id_name: str = "", **how: Any
) -> "Fitted":
    """Fit a table; rows marked right keep their label, and rows marked wrong do not.

    A row marked wrong has match probability 0. The other rows then need one too: that of the
    linkage tool, or else one minus the rate of mismatches among them in a first fit.

    Parameters
    ----------
    rows : FitTable
    reviewed : Path or None
        Decisions; None for none.
    id_name : str
        Name of the column of names.
    **how
        As for `fit_rows`.

    Returns
    -------
    fitted : Fitted
        Its notes name the number of decisions.
    """
    from ..io.tables.reviewed import read_reviewed
    from .fitting import fit_rows

    if reviewed is None:
        return fit_rows(rows, **how)
    if rows.unpaired:
        raise ValueError("--reviewed is for one table with rows and labels, not for --by")
    found = read_reviewed(reviewed, rows.y, rows.ids, id_name)
    known = found.right if rows.known is None else rows.known | found.right
    contradicted = np.flatnonzero(found.wrong & known)
    if len(contradicted):
        raise ValueError(
            f"row {contradicted[0] + 1} is marked wrong in {reviewed} but known by --known; "
            "correct one of the two"
        )
    rows = replace(rows, known=known)
    if not found.wrong.any():
        fitted = fit_rows(rows, **how)
    elif how["pairing"] in {"lost", "known"}:
        fitted = fit_rows(rows, **how)
        fitted.notes.append(_not_excluded(fitted, found))
    else:
        fitted = _fit_excluding(rows, found, how)
    fitted.settings["reviewed"] = reviewed.name
    fitted.notes.insert(0, _counts(found, reviewed))
    return fitted


def _fit_excluding(rows: "FitTable", found: "Decisions", how: dict[str, Any]) -> "Fitted":
    """Fit with match probability 0 where a label is marked wrong."""
    from ..kernels.limits import SMALLEST_RATE
    from .fitting import declared_pairing, fit_rows
    from .rates import match_prob_of

    probability = rows.match_prob
    notes = []
    rates = how.get("rates")
    if rates is not None and rates.given:
        declared_pairing(how["pairing"], rows)
        probability = match_prob_of(rates, rows)
        how = {**how, "rates": None}
        notes.append(
            "with labels marked wrong, standard errors take the rates of --audit for known; those "
            "of a fit without --reviewed carry their uncertainty"
        )
    if probability is None:
        first = fit_rows(rows, **how)
        if first.model.pairing_ != "mostly-right":
            first.notes.append(_not_excluded(first, found))
            return first
        open_rows = ~(found.wrong | np.asarray(rows.known))
        doubt = 1.0 - first.model.match_proba_[open_rows]
        rate = float(doubt.mean()) if len(doubt) else 0.0
        # Probability 1 would pin every row, and a label that is wrong needs somewhere to go.
        probability = np.full(len(rows.y), 1.0 - max(rate, SMALLEST_RATE))
        law, uneven = first.model.noise_, first.model.spread_by_fit_
        if law != "normal" or uneven:
            found_law = f"its law is {law!r}" + " and its spread depends on the fit" * uneven
            notes.append(
                f"excluding labels assumes normal noise of one spread, but {found_law}: compare "
                "the coefficients with those of a fit without --reviewed"
            )
    probability = np.where(found.wrong, 0.0, probability)
    how = {**how, "pairing": "mostly-right"}
    fitted = fit_rows(replace(rows, match_prob=probability), **how)
    fitted.settings.update({} if rates is None else rates.given)
    kept = np.flatnonzero(found.wrong & (fitted.model.permutation_ == np.arange(len(rows.y))))
    if len(kept):
        notes.append(
            f"{len(kept)} rows marked wrong, the first of them row {kept[0] + 1}, keep their "
            "label: no other label of their group is open"
        )
    fitted.notes.extend(notes)
    return fitted


def _not_excluded(fitted: "Fitted", found: "Decisions") -> str:
    order = "known" if fitted.model.pairing_ == "known" else "lost"
    return (
        f"the order of the labels was taken to be {order}, so that the {int(found.wrong.sum())} "
        "rows marked wrong are fitted like any other; rows marked right are known"
    )


def _counts(found: "Decisions", reviewed: Path) -> str:
    return (
        f"{reviewed.name}: {int(found.right.sum())} rows keep their label, "
        f"{int(found.wrong.sum())} do not, {found.n_unsure} are left open"
    )
