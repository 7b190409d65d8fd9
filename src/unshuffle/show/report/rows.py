"""The rows of a fit as a report shows them.

The only module of `show` that reads attributes which are not public yet, or continues a chain.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.sparse import coo_array

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
        Fitted values.
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
    """What a model that was just fitted, or unpickled, holds of its rows."""
    data, pairing = getattr(model, "_problem", None), getattr(model, "_pairing", None)
    fitted = None if data is None else data.X @ model.coef_ + model.intercept_
    if pairing is None:
        return FitRows(None, None, fitted)
    problem = pairing.problem
    groups = np.full(problem.n_rows, -1, dtype=np.int64)
    groups[: problem.n_movable] = np.repeat(np.arange(problem.n_blocks), np.diff(problem.starts))
    return FitRows(problem.restore(groups), problem.restore(problem.y), fitted)


def first_group_pairs(model: Any) -> tuple[Any, FloatArray, FloatArray | None]:
    """Arguments of `MatchDisplay.from_pairs` for the first group, counted along its chain."""
    problem, state, prior = model._pairing.problem, model._pairing.state, model._pairing.prior
    size = int(problem.starts[1])
    held = model._pairing.partners(np.arange(size))
    row = np.repeat(np.arange(size), [len(shares) for shares in held])
    label = [label for shares in held for label in shares]
    proba = [share for shares in held for share in shares.values()]
    lost = not prior.mostly_right and prior.places is None
    pairs = coo_array((proba, (row, label)), shape=(size, size))
    return pairs, state.fitted[:size], problem.y[:size] if lost else None
