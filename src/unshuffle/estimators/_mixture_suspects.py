"""Suspects of a mixture, which knows how likely a label is the row's own, but not whose it is."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.problem import Problem
from ..io.frames import make_frame
from ..kernels.types import FloatArray
from ._matches import check_id


class MixtureSuspects:
    """Rows whose label is probably not their own."""

    match_proba_: FloatArray
    _problem: Problem

    def suspects(self, threshold: float = 0.5, *, n_partners: int = 0, id: Any = None) -> Any:
        """Rows whose label is probably not their own.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding their own label are listed.
        n_partners : int, default=0
            A mixture names no partners; `StochasticEMRegressor` does.
        id : array-like of shape (n_samples,), optional
            Names of the rows.

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first: `row`, `id` if given, `label`, `match_proba`.
        """
        check_is_fitted(self)
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is a probability between 0 and 1, got {threshold}")
        if not hasattr(self, "_problem"):
            raise ValueError("the labels of the fit are not part of a stored model; fit it again")
        rows = np.flatnonzero(self.match_proba_ < threshold)
        rows = rows[np.argsort(self.match_proba_[rows], kind="stable")]
        columns: dict[str, Any] = {"row": rows}
        if id is not None:
            columns["id"] = check_id(id, len(self.match_proba_))[rows]
        labels = self._problem.restore(self._problem.y)
        columns |= {"label": labels[rows], "match_proba": self.match_proba_[rows]}
        return make_frame(columns, getattr(self, "_library", None))
