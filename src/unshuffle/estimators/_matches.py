"""What users ask a fitted estimator about its matches."""

from typing import Any

import numpy as np
from scipy.sparse import coo_array
from sklearn.utils.validation import check_is_fitted

from ..fits.results import StochasticFit
from ..inference.permutations import PermutationPosterior
from ..io.frames import make_frame, plain_column
from ..kernels.types import FloatArray, IntArray
from ._unmatched_answers import NOT_THERE, repair_unmatched, unmatched_of


class MatchMethods:
    """Suspects and repair, for estimators that keep a posterior over permutations."""

    _stochastic: StochasticFit
    match_proba_: FloatArray
    permutation_: IntArray

    @property
    def row_groups_(self) -> IntArray:
        """Number of the group inside which each row's label can move; -1 where it cannot."""
        problem = self._permutations().problem
        groups = np.full(problem.n_rows, -1, dtype=np.int64)
        sizes = np.diff(problem.starts)
        groups[: problem.n_movable] = np.repeat(np.arange(problem.n_blocks), sizes)
        restored = np.empty_like(groups)
        restored[problem.user_rows(np.arange(problem.n_rows))] = groups
        return restored

    @property
    def labels_given_(self) -> FloatArray:
        """Labels as they were given beside the rows."""
        problem = self._permutations().problem
        return problem.restore(problem.y)

    @property
    def fitted_values_(self) -> FloatArray:
        """Fitted value of each row."""
        posterior = self._permutations()
        return posterior.problem.restore(posterior.state.fitted)

    def pair_probabilities(self, group: int = 0) -> Any:
        """Probability of each pair of a row and a label in one group.

        They are counted along the chain, which continues from where the fit ended.

        Parameters
        ----------
        group : int, default=0
            Number of the group, as in `row_groups_`.

        Returns
        -------
        rows : array of shape (m,)
            Numbers of the rows of the group.
        probabilities : sparse array of shape (m, m)
            In row i and column j the probability that row ``rows[i]`` holds the label given beside
            row ``rows[j]``.
        """
        posterior = self._permutations()
        problem = posterior.problem
        if not 0 <= group < problem.n_blocks:
            raise ValueError(
                f"group must be a number from 0 to {problem.n_blocks - 1}, got {group}; only "
                "groups in which labels can move are numbered"
            )
        first, last = (int(edge) for edge in problem.starts[group : group + 2])
        members = np.arange(first, last)
        held = posterior.partners(members)
        row = np.repeat(np.arange(last - first), [len(shares) for shares in held])
        label = np.array([label - first for shares in held for label in shares], dtype=np.int64)
        share = [value for shares in held for value in shares.values()]
        shape = (last - first, last - first)
        return problem.user_rows(members), coo_array((share, (row, label)), shape=shape)

    def _permutations(self) -> PermutationPosterior:
        posterior = self._stochastic.permutations
        if unmatched_of(self) is not None:
            raise AttributeError(NOT_THERE)
        if posterior is None:
            raise AttributeError(
                "a fit in passes, or with variant='published', keeps no posterior over permutations"
            )
        return posterior

    def suspects(self, threshold: float = 0.5, *, n_partners: int = 3) -> Any:
        """Rows whose label is probably not their own, or far off, and whose it may be instead.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding a label that is their own and not far off
            are listed.
        n_partners : int, default=3
            Most partners named for each row.

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first: `row`, its `label`, `kind` ("mismatched": the
            label of another row; "off": the row's own, but far off, or nobody's), `match_proba`,
            and `partner_1`, `partner_1_proba`, ...: the rows beside which its own label may stand,
            and how probable that is (−1 and NaN where there are fewer partners).
        """
        check_is_fitted(self)
        columns = self._suspects(threshold, n_partners)
        return make_frame(columns, getattr(self, "_library", None))

    def _suspects(self, threshold: float, n_partners: int) -> dict[str, Any]:
        """The columns of `suspects`, which need no data frame library."""
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is a probability between 0 and 1, got {threshold}")
        if not hasattr(self, "match_proba_"):
            raise ValueError(
                "this fit has no match probabilities: no label was given beside a row "
                "(fit_unpaired), or the model is variant='published' (use variant='exact')"
            )
        off = getattr(self, "off_proba_", np.zeros(len(self.match_proba_)))
        sound = self.match_proba_ - off
        rows = np.flatnonzero(sound < threshold)
        rows = rows[np.argsort(sound[rows], kind="stable")]
        mismatched = 1.0 - self.match_proba_[rows] >= off[rows]
        posterior = self._permutations()
        problem = posterior.problem
        arranged = problem.arranged_rows(rows)
        shares = posterior.partners(arranged) if len(rows) else []
        table: dict[str, Any] = {
            "row": rows,
            "label": problem.restore(problem.y)[rows],
            "kind": np.where(mismatched, "mismatched", "off"),
            "match_proba": self.match_proba_[rows],
        }
        for k in range(n_partners):
            partners = [
                _partner(share, own, k) for share, own in zip(shares, arranged, strict=True)
            ]
            labels = np.array([label for label, _ in partners], dtype=np.int64)
            labels = np.where(mismatched, labels, -1)
            named = labels >= 0
            labels[named] = problem.user_rows(labels[named])
            table[f"partner_{k + 1}"] = labels
            share = np.array([share for _, share in partners], dtype=float)
            table[f"partner_{k + 1}_proba"] = np.where(mismatched, share, np.nan)
        return table

    def repair(self, y: Any) -> FloatArray:
        """Put labels back in place by the most likely permutation.

        Parameters
        ----------
        y : array-like of shape (n_samples,)
            Anything that stood beside the rows of the fit: the labels, or their names.

        Returns
        -------
        repaired : array of shape (n_samples,)
            ``y[permutation_]``; the input is left as it is. A row without a label gets NaN, or
            None where `y` holds no numbers.
        """
        check_is_fitted(self)
        labels = np.asanyarray(plain_column(y))  # a mask moves with its labels
        if hasattr(self, "n_labels_"):
            return np.asarray(repair_unmatched(self, labels))
        if labels.shape != self.permutation_.shape:
            raise ValueError(
                f"y has shape {labels.shape} but the model was fitted to "
                f"{len(self.permutation_)} rows; repair takes the labels of those rows"
            )
        repaired: FloatArray = labels[self.permutation_]
        return repaired


def _partner(share: dict[int, float], own: int, k: int) -> tuple[int, float]:
    others = [(label, value) for label, value in share.items() if label != own]
    return others[k] if k < len(others) else (-1, float("nan"))
