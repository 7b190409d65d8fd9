"""Two tables that share a group key, with labels of another family than the normal one."""

from dataclasses import replace
from typing import Any

import numpy as np

from ..kernels.types import IntArray
from ._frames import take_rows
from ._unpaired import KeyedTables, keep_equal


def fit_family_tables(
    model: Any, X: Any, labels: Any, groups: Any, tables: KeyedTables, unmatched: str
) -> None:
    """Fit groups with as many labels as rows, in lost order."""
    if unmatched == "model":
        raise ValueError(
            f"unmatched='model' is for family='normal', not for family={model.family!r}; use "
            "unmatched='drop-groups'"
        )
    if not len(tables.unequal):
        _fit(model, X, labels, groups, tables.beside)
        return
    kept = keep_equal(tables)
    _fit(model, take_rows(X, kept.rows), labels, take_rows(groups, kept.rows), kept.labels)
    model.kept_rows_, model.n_labels_ = kept.rows, len(labels)
    model.n_dropped_groups_ = kept.n_groups
    model.n_dropped_rows_, model.n_dropped_labels_ = kept.n_rows, kept.n_labels


def _fit(model: Any, X: Any, labels: Any, groups: Any, numbers: IntArray) -> None:
    """Fit labels put beside rows of their group, where they say nothing about the rows."""
    model._fit_dispatched(X, labels[numbers], groups, None, None, {}, pairing="lost")
    fit = model._found
    nowhere = np.full(len(fit.match_proba), np.nan)
    perm = None if fit.permutation is None else numbers[fit.permutation]
    model._found = replace(
        fit, match_proba=nowhere, permutation=perm, order_p_value=float("nan"), as_given=None
    )
    del model.match_proba_
    model.pairing_pvalue_ = float("nan")
    if perm is not None:
        model.permutation_ = perm
