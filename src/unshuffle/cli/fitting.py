"""Fit what a table gave, listening to warnings, with a bar where somebody watches."""

import sys
import warnings
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from ..estimators.shuffled import ShuffledRegressor
    from ..io.tables import Rows


class Fitted(NamedTuple):
    """A model, the rows it was fitted to, and what was said on the way."""

    model: "ShuffledRegressor"
    rows: "Rows"
    notes: list[str]
    settings: dict[str, Any]

    @property
    def rejected(self) -> bool:
        """Whether the fit should not be used."""
        return self.model.verdict_.level == "reject"


def fit_rows(
    rows: "Rows", *, pairing: str, intercept: bool, seed: int, jobs: int, quiet: bool
) -> Fitted:
    """Fit; errors of the estimator are told with the name of the file."""
    from ..estimators.shuffled import ShuffledRegressor
    from ..exceptions import TableError, UnidentifiableWarning
    from ..io.frames import NamedMatrix

    settings: dict[str, Any] = {
        "pairing": pairing, "fit_intercept": intercept, "random_state": seed, "n_jobs": jobs,
    }  # fmt: skip
    watched = sys.stderr.isatty() and not quiet
    model = ShuffledRegressor(**settings, verbose=int(watched))
    X = NamedMatrix(rows.X, tuple(rows.names))
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        warnings.simplefilter("ignore", UnidentifiableWarning)  # the verdict says it
        try:
            if rows.unpaired:
                model.fit_unpaired(X, rows.y, rows.groups, rows.label_groups)
            else:
                model.fit(X, rows.y, rows.groups, rows.known, rows.match_prob)
        except ValueError as error:
            raise TableError(rows.table.path, str(error)) from error
    notes = [str(warning.message) for warning in said]
    return Fitted(model, rows, notes, settings)
