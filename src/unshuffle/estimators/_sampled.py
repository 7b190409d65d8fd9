"""What the two estimators with a posterior over permutations share."""

from typing import Any, ClassVar, Self

from ._base import BaseShuffledRegressor
from ._inference import InferenceMethods
from ._matches import MatchMethods
from ._posterior import PosteriorMethods
from ._rates import given_strata
from ._sensitivity import SensitivityMethods


class SampledRegressor(
    InferenceMethods, PosteriorMethods, MatchMethods, SensitivityMethods, BaseShuffledRegressor
):
    """Fits that average over permutations, with all that can be asked of them."""

    __metadata_request__fit: ClassVar = {
        "groups": True, "known": True, "match_prob": True, "match_features": True, "strata": True,
    }  # fmt: skip

    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        known: Any = None,
        match_prob: Any = None,
        match_features: Any = None,
        *,
        strata: Any = None,
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
        match_features : data frame or array-like of shape (n_samples, n_clues), optional
            Clues of whether a label is the row's own, such as the distance of two names: numbers,
            or categories; values may be missing. The probability that a label is the row's own
            is logistic in them, and is estimated along (`match_model_`). The logit of `match_prob`
            is then an offset. It means that the order is mostly right.
        strata : array-like of shape (n_samples,), optional
            Stratum of each row, for a `mismatch_rate` that is a mapping from strata. Left out, the
            strata are the groups.

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
        rate = getattr(self, "mismatch_rate", None)
        match_prob = given_strata(rate, strata, match_prob, match_features=match_features)
        return self._fit(X, y, groups, known, match_prob, match_features)

    def _fit(
        self, X: Any, y: Any, groups: Any, known: Any, match_prob: Any, match_features: Any
    ) -> Self:
        return self._fit_in_memory(X, y, groups, known, match_prob, match_features=match_features)
