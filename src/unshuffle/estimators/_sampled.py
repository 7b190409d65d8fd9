"""What the two estimators with a posterior over permutations share."""

from typing import Any, ClassVar, Self

from ._base import BaseShuffledRegressor
from ._inference import InferenceMethods
from ._matches import MatchMethods
from ._posterior import PosteriorMethods
from ._sensitivity import SensitivityMethods


class SampledRegressor(
    InferenceMethods, PosteriorMethods, MatchMethods, SensitivityMethods, BaseShuffledRegressor
):
    """Fits that average over permutations, with all that can be asked of them."""

    __metadata_request__fit: ClassVar = {"groups": True, "known": True, "match_prob": True}

    def fit(
        self, X: Any, y: Any, groups: Any = None, known: Any = None, match_prob: Any = None
    ) -> Self:
        """Fit the model to rows and labels given side by side.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels; inside each group they may stand in any order.
        groups : array-like of shape (n_samples,), optional
            Any hashable label per row. Labels have moved only inside their group. None means
            one group: a label may belong to any row.
        known : array-like of bool of shape (n_samples,), optional
            True where the label given beside a row is surely its own.
        match_prob : array-like of shape (n_samples,), optional
            Probability, from a linkage tool, that the label given beside a row is its own. It
            takes the place of `mismatch_rate` and means that the order is mostly right. 1 is a
            known row; 0 excludes the label beside this row.

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
        return self._fit(X, y, groups, known, match_prob)

    def _fit(self, X: Any, y: Any, groups: Any, known: Any, match_prob: Any) -> Self:
        return self._fit_in_memory(X, y, groups, known, match_prob)
