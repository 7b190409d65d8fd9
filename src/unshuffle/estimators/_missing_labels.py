"""Labels beside rows, some of which are missing or nobody's."""

from collections.abc import Mapping
from typing import Any, Self

from ._sampled import SampledRegressor
from ._unmatched import fit_beside
from ._unmatched_answers import UnmatchedMethods
from ._unpaired import check_unmatched


class MissingLabelsRegressor(UnmatchedMethods, SampledRegressor):
    """Fits in which a row may have no label, and a label no row."""

    _fits_unmatched = True  # whether unmatched="model" is fitted

    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        known: Any = None,
        match_prob: Any = None,
        match_features: Any = None,
        *,
        unmatched: str = "refuse",
        match_share: float | str | tuple[float, float] = "estimate",
        strata: Any = None,
    ) -> Self:
        """Fit normal labels, some of them missing; `FamilyRegressor.fit` says what is given."""
        rate = getattr(self, "mismatch_rate", None)
        if check_unmatched(unmatched) == "drop-groups":
            raise ValueError(
                "unmatched='drop-groups' is for fit_unpaired; fit takes 'refuse' or 'model'"
            )
        if unmatched == "model" and match_features is not None:
            raise ValueError("match_features are not for unmatched='model'; leave out one of them")
        if unmatched == "model" and (strata is not None or isinstance(rate, Mapping)):
            raise ValueError(
                "a mismatch_rate per stratum is not for unmatched='model', where match_share says "
                "how many rows have their label; leave out one of them"
            )
        if unmatched == "model":
            fit_beside(self, X, y, groups, known, match_prob, match_share)
            return self
        return super().fit(X, y, groups, known, match_prob, match_features, strata=strata)
