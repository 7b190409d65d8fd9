"""Suspects of fits of families, with the rows beside which their own labels may stand."""

from typing import Any

import numpy as np

from ..data.problem import Problem
from ..families.catalogue import FAMILIES
from ..fits.glm.data import GlmData
from ..fits.glm.lost_partners import partners_where_lost
from ..fits.glm.partners import partners_of
from ..fits.glm.results import FamilyFit
from ..fits.glm.settings import GlmSettings
from ..io.frames import make_frame
from ..kernels.types import FloatArray, IntArray
from ._matches import check_id, with_names


class FamilySuspects:
    """Rows whose label is probably that of another row."""

    _family_fit: Any
    _problem: Problem
    _family_data: GlmData
    _family_settings: GlmSettings

    def suspects(self, threshold: float = 0.5, *, n_partners: int = 3, id: Any = None) -> Any:
        """Rows whose label is probably that of another row.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding their own label are listed.
        n_partners : int, default=3
            Most partners named for each row. Each suspect is compared with every label of its
            group, which takes a while for large groups; 0 names none.
        id : array-like of shape (n_samples,), optional
            Names of the rows; they come as the columns `id`, `partner_1_id`, ...

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first: `row`, `label`, `linear_predictor`,
            `match_proba`, and `partner_1`, `partner_1_proba`, ...: the rows beside which its own
            label may stand, and how probable that is (−1 and NaN where there are fewer). Where the
            order is mostly right labels are taken one by one: that two rows cannot hold one label
            is left out. Where it is lost, a chain over permutations counts; equal yes/no labels
            cannot be told apart, and partners are rows beside the other one.
        """
        columns = self._suspect_columns(threshold, n_partners)
        if id is not None:
            columns = with_names(columns, check_id(id, len(self._family_fit.match_proba)))
        return make_frame(columns, getattr(self, "_library", None))

    def _suspect_columns(self, threshold: float, n_partners: int) -> dict[str, Any]:
        """The columns of `suspects`, which need no data frame library."""
        fit: FamilyFit = self._family_fit
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is a probability between 0 and 1, got {threshold}")
        if not hasattr(self, "_problem"):
            raise ValueError("the labels of the fit are not part of a stored model; fit it again")
        rows = np.flatnonzero(fit.match_proba < threshold)
        rows = rows[np.argsort(fit.match_proba[rows], kind="stable")]
        return {
            "row": rows,
            "label": self._labels_given()[rows],
            "linear_predictor": fit.linear_predictor[rows],
            "match_proba": fit.match_proba[rows],
            **self._partner_columns(rows, n_partners),
        }

    def _labels_given(self) -> Any:
        return self._problem.restore(self._problem.y)

    def _partner_columns(self, rows: IntArray, n_partners: int) -> dict[str, Any]:
        found, proba = self._partners(rows, n_partners)
        columns: dict[str, Any] = {}
        for k in range(n_partners):
            columns[f"partner_{k + 1}"] = found[:, k]
            columns[f"partner_{k + 1}_proba"] = proba[:, k]
        return columns

    def _partners(self, rows: IntArray, n_partners: int) -> tuple[IntArray, FloatArray]:
        fit: FamilyFit = self._family_fit
        if fit.redraws is not None and len(rows):
            return partners_of(fit.redraws, rows, n_partners)
        if fit.pairing == "lost" and len(rows):
            return partners_where_lost(
                self._family_data, FAMILIES[fit.family], fit, rows, n_partners,
                self._family_settings.seed,
            )  # fmt: skip
        found = np.full((len(rows), n_partners), -1, dtype=np.int64)
        return found, np.full(found.shape, np.nan)
