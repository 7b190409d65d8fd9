"""Fit a table that was read; keep the warnings, show progress on a terminal."""

import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

from .notes import table_notes
from .rates import TypedRates, rate_given
from .unmatched import as_options, used_rows

if TYPE_CHECKING:
    from ..estimators.shuffled import ShuffledRegressor
    from ..io.tables import FitTable


class Fitted(NamedTuple):
    """A model, the table it was fitted to, and the warnings of the fit."""

    model: "ShuffledRegressor"
    rows: "FitTable"
    notes: list[str]
    settings: dict[str, Any]

    @property
    def rejected(self) -> bool:
        """Whether the fit should not be used."""
        return self.model.verdict_.level == "reject"


def fit_rows(
    rows: "FitTable", *, pairing: str, intercept: bool, seed: int, jobs: int, quiet: bool,
    rates: TypedRates | None = None, counts: dict[str, Any] | None = None, **more: Any,
) -> Fitted:  # fmt: skip
    """Fit the default estimator; its errors are raised with the name of the file.

    `rates` are those of mismatches, `counts` say what to do about unequal counts, `more` are
    further settings of the estimator.
    """
    from ..estimators.shuffled import ShuffledRegressor
    from ..exceptions import TableError, UnidentifiableWarning
    from ..io.frames import NamedMatrix

    settings: dict[str, Any] = {
        "pairing": pairing, "fit_intercept": intercept, "random_state": seed, "n_jobs": jobs,
        **more,
    }  # fmt: skip
    rate: dict[str, Any] = {}
    typed = rates.given if rates is not None else {}
    if rates is not None and typed:
        settings["pairing"] = declared_pairing(pairing, rows)
        rate = rate_given(rates, rows)
    strata = rate.pop("strata", None)
    how = counts or {}
    watched = sys.stderr.isatty() and not quiet
    model = ShuffledRegressor(**settings, **rate, verbose=int(watched))
    X = NamedMatrix(rows.X, tuple(rows.names))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UnidentifiableWarning)  # the verdict reports it
        try:
            if rows.unpaired:
                model.fit_unpaired(X, rows.y, rows.groups, rows.label_groups, **how)
            else:
                model.fit(
                    X, rows.y, rows.groups, rows.known, rows.match_prob, **clues_of(rows),
                    strata=strata, **how,
                )  # fmt: skip
        except ValueError as error:
            problem = str(error)
            if "sandwich" in problem:  # the rest of the message names settings of Python
                problem = f"{problem.partition(';')[0]}; fit it without --robust"
            raise TableError(rows.table.path, as_options(problem)) from error
    notes = [*table_notes(rows), *(str(warning.message) for warning in caught)]
    return Fitted(model, used_rows(rows, model), notes, settings | typed | how)


def clues_of(rows: "FitTable") -> dict[str, Any]:
    """Clues of who is mismatched, where the table has some."""
    return {} if rows.match_features is None else {"match_features": rows.match_features}


def declared_pairing(pairing: str, rows: "FitTable") -> str:
    """A rate of wrong links is one of links given, so that the order is mostly right."""
    if rows.match_features is not None:
        raise ValueError(
            "--match-feature estimates who is mismatched, and --audit and --mismatch-rate give it; "
            "leave out one of the two"
        )
    if pairing in {"lost", "known"} or rows.unpaired or rows.match_prob is not None:
        raise ValueError(
            "--audit and --mismatch-rate give the rate of mismatches of a linked table; leave out "
            "--pairing lost or known, --by, --pairs and --match-prob"
        )
    return "mostly-right"
