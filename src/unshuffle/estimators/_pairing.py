"""What users ask a fitted estimator about its pairing."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..inference.permutations import PermutationPosterior
from ..io.frames import make_frame, plain_column
from ..kernels.types import FloatArray, IntArray


class PairingMethods:
    """Suspects and repair, for estimators that keep a posterior over permutations."""

    _pairing: PermutationPosterior
    match_proba_: FloatArray
    permutation_: IntArray

    def suspects(self, threshold: float = 0.5, *, n_partners: int = 3) -> Any:
        """Rows whose label is probably not their own, and whose it may be instead.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding their own label are listed.
        n_partners : int, default=3
            Most partners named for each row.

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first: `row`, its `label`, `match_proba`, and
            `partner_1`, `partner_1_proba`, ...: the rows beside which its own label may stand,
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
                "this fit does not tell matches: no label was given beside a row (fit_unpaired), "
                "or the model is variant='published' (use variant='exact')"
            )
        rows = np.flatnonzero(self.match_proba_ < threshold)
        rows = rows[np.argsort(self.match_proba_[rows], kind="stable")]
        problem = self._pairing.problem
        arranged = problem.arranged_rows(rows)
        shares = self._pairing.partners(arranged) if len(rows) else []
        table: dict[str, Any] = {
            "row": rows,
            "label": problem.restore(problem.y)[rows],
            "match_proba": self.match_proba_[rows],
        }
        for k in range(n_partners):
            partners = [
                _partner(share, own, k) for share, own in zip(shares, arranged, strict=True)
            ]
            labels = np.array([label for label, _ in partners], dtype=np.int64)
            named = labels >= 0
            labels[named] = problem.user_rows(labels[named])
            table[f"partner_{k + 1}"] = labels
            table[f"partner_{k + 1}_proba"] = np.array(
                [share for _, share in partners], dtype=float
            )
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
            ``y[permutation_]``; the input is left as it is.
        """
        check_is_fitted(self)
        labels = np.asarray(plain_column(y))
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
