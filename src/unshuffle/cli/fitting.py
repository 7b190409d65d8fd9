"""Fit a table that was read; keep the warnings, show progress on a terminal."""

import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

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
    rows: "FitTable", *, pairing: str, intercept: bool, seed: int, jobs: int, quiet: bool
) -> Fitted:
    """Fit the default estimator; its errors are raised with the name of the file."""
    from ..estimators.shuffled import ShuffledRegressor
    from ..exceptions import TableError, UnidentifiableWarning
    from ..io.frames import NamedMatrix

    settings: dict[str, Any] = {
        "pairing": pairing, "fit_intercept": intercept, "random_state": seed, "n_jobs": jobs,
    }  # fmt: skip
    watched = sys.stderr.isatty() and not quiet
    model = ShuffledRegressor(**settings, verbose=int(watched))
    X = NamedMatrix(rows.X, tuple(rows.names))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UnidentifiableWarning)  # the verdict reports it
        try:
            if rows.unpaired:
                model.fit_unpaired(X, rows.y, rows.groups, rows.label_groups)
            else:
                model.fit(X, rows.y, rows.groups, rows.known, rows.match_prob, rows.match_features)
        except ValueError as error:
            raise TableError(rows.table.path, str(error)) from error
    return Fitted(model, rows, [str(warning.message) for warning in caught], settings)
