"""What users ask a fitted estimator about rows without labels and labels without rows."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from ..fits.unequal_results import UnmatchedFit
from ..kernels.types import IntArray

NOT_THERE = (
    "a fit with unmatched='model' has no posterior over permutations; partner_probabilities has "
    "the partners of each row, nobody among them"
)


def unmatched_of(model: Any) -> UnmatchedFit | None:
    """What the fit of a model knows of rows without labels; None where all have one."""
    found = getattr(getattr(model, "_found", None), "unmatched", None)
    return found if isinstance(found, UnmatchedFit) else None


def unmatched_facts(model: Any) -> dict[str, str]:
    """Lines of a summary: how many rows and labels were used, and how many have no partner."""
    found = unmatched_of(model)
    if found is None:
        if not hasattr(model, "n_dropped_groups_"):
            return {}
        return {
            "dropped": f"{model.n_dropped_groups_} groups with unequal counts, which have "
            f"{model.n_dropped_rows_} rows and {model.n_dropped_labels_} labels"
        }
    error = "" if np.isnan(found.match_share_se) else f" (se {found.match_share_se:.2g})"
    kind = "" if found.estimated else ", given"
    facts = {
        "labels": f"{found.n_labels - found.labels_left_out}",
        "pairs": f"{found.n_pairs:.1f} rows hold a label, as expected by the fit",
        "match share": f"{found.match_share:.1%}{error}{kind}",
        "nobody's": f"{len(model.unmatched_rows_)} rows look as if their label was missing, "
        f"{len(model.unmatched_labels_)} labels as if they were nobody's",
    }
    if found.rows_left_out or found.labels_left_out:
        facts["left out"] = (
            f"{found.rows_left_out} rows and {found.labels_left_out} labels of groups that have "
            "only one of the two"
        )
    return facts


def repair_unmatched(model: Any, labels: Any) -> Any:
    """Labels put beside the rows that most likely hold them; rows without one get NaN or None."""
    perm: IntArray = model.permutation_
    # Where labels stood beside rows they are numbered by these, those that are missing included.
    size = (
        max(model.n_labels_, len(model.unmatched_labels_proba_))
        if unmatched_of(model)
        else (model.n_labels_)
    )
    if labels.shape != (size,):
        raise ValueError(
            f"y has shape {labels.shape} but the model was fitted to {size} labels; repair takes "
            "all of those, also where groups were dropped"
        )
    kind = np.float64 if labels.dtype.kind in "fiub" else object
    repaired = np.full(len(perm), np.nan if kind is np.float64 else None, dtype=kind)
    repaired[perm >= 0] = labels[perm[perm >= 0]]
    return repaired


class UnmatchedMethods:
    """Partners of rows, for fits in which a row may have none."""

    def partner_probabilities(self, group: int = 0) -> tuple[IntArray, IntArray, Any]:
        """Probability of each pair of a row and a label in one group, and of having no partner.

        They are counted in snapshots of the chain at the end of a fit with ``unmatched="model"``.

        Parameters
        ----------
        group : int, default=0
            Number of the group, counted in order of appearance among those that have rows and
            labels.

        Returns
        -------
        rows, labels : arrays of shape (r,) and (l,)
            Numbers of the rows and labels of the group, as given.
        probabilities : sparse array of shape (r, l + 1)
            In row i and column j the probability that row ``rows[i]`` holds label ``labels[j]``;
            in the last column that it holds none.

        Examples
        --------
        >>> import numpy as np
        >>> from unshuffle import ShuffledRegressor
        >>> X = np.random.default_rng(0).normal(size=(60, 1))
        >>> y = 2.0 * X[:50, 0]
        >>> model = ShuffledRegressor(random_state=0).fit_unpaired(X, y, unmatched="model")
        >>> rows, labels, probabilities = model.partner_probabilities()
        >>> probabilities.shape
        (60, 51)
        """
        check_is_fitted(self)
        found = unmatched_of(self)
        if found is None:
            raise AttributeError(
                "this fit gives every row a label, see pair_probabilities; unmatched='model' fits "
                "rows without one"
            )
        n_groups = int(found.row_groups.max(initial=-1)) + 1
        if not 0 <= group < n_groups:
            raise ValueError(f"group must be a number from 0 to {n_groups - 1}, got {group}")
        rows = np.flatnonzero(found.row_groups == group)
        labels = np.flatnonzero(found.label_groups == group)
        if not len(found.seen):  # a label is the one of the row beside it, or nobody's
            seen, weight = _beside(found, rows)
        else:
            seen = found.seen[:, rows]
            weight = np.full(seen.shape, 1.0 / len(seen))
        column = np.searchsorted(labels, seen)
        column[seen < 0] = len(labels)
        row = np.broadcast_to(np.arange(len(rows)), seen.shape)
        shape = (len(rows), len(labels) + 1)
        counts = coo_array((weight.ravel(), (row.ravel(), column.ravel())), shape=shape)
        counts.sum_duplicates()
        return rows, labels, counts


def _beside(found: UnmatchedFit, rows: IntArray) -> tuple[IntArray, Any]:
    """Each row with the label beside it, and with none, by their probabilities."""
    nobody = found.row_proba[rows]
    own = np.where(found.label_groups[rows] >= 0, rows, -1)
    return np.stack([own, np.full(len(rows), -1)]), np.stack([1.0 - nobody, nobody])
