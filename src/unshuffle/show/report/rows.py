"""The rows of a fit as a report shows them."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class FitRows:
    """One value per row, in the user's order; None where the model does not hold them.

    Attributes
    ----------
    groups : array of shape (n,) or None
        Number of the group inside which a row's label can move; -1 where it cannot.
    labels : array of shape (n,) or None
        Labels as given.
    fitted : array of shape (n,) or None
        Values near which labels are sought: fitted values, or those of a curve.
    """

    groups: IntArray | None
    labels: FloatArray | None
    fitted: FloatArray | None

    @property
    def n_groups(self) -> int:
        """Number of groups in which labels can move."""
        return 0 if self.groups is None else int(self.groups.max()) + 1

    @property
    def n_known(self) -> int:
        """Number of rows whose label cannot move."""
        return 0 if self.groups is None else int(np.sum(self.groups < 0))


def rows_of(model: Any) -> FitRows:
    """What a fitted model holds of its rows."""
    return FitRows(
        getattr(model, "row_groups_", None),
        getattr(model, "labels_given_", None),
        getattr(model, "aligned_around_", None),
    )
