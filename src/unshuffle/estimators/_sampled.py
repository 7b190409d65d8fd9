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
        """Fit normal labels; `FamilySampledRegressor.fit` says what is given."""
        rate = getattr(self, "mismatch_rate", None)
        match_prob = given_strata(rate, strata, match_prob, match_features=match_features)
        return self._fit(X, y, groups, known, match_prob, match_features)

    def _fit(
        self, X: Any, y: Any, groups: Any, known: Any, match_prob: Any, match_features: Any
    ) -> Self:
        return self._fit_in_memory(X, y, groups, known, match_prob, match_features=match_features)
