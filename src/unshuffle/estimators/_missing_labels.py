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
        """Fit the model to rows and labels given side by side.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels; inside each group they may stand in any order. With ``unmatched="model"`` NaN
            is a row whose label is lost.
        groups : array-like of shape (n_samples,), optional
            Any hashable label per row. Labels have moved only inside their group. None means
            one group: a label may belong to any row.
        known : array-like of bool of shape (n_samples,), optional
            True where the label given beside a row is surely its own.
        match_prob : array-like of shape (n_samples,), optional
            Probability, from a linkage tool, that the label given beside a row is its own. It
            takes the place of `mismatch_rate` and means that the order is mostly right.
        match_features : data frame or array-like of shape (n_samples, n_clues), optional
            Clues of whether a label is the row's own, see `SampledRegressor.fit`.
        unmatched : {"refuse", "model"}, default="refuse"
            "model" allows missing labels, and labels that are nobody's: where the order given is
            used, a label is the row's own or nobody's; where it is lost, some of the rows have no
            label among those of their group.
        match_share : float, (float, float) or "estimate", default="estimate"
            Share of rows that have their label among those given, or bounds of it.
        strata : array-like of shape (n_samples,), optional
            Stratum of each row, for a `mismatch_rate` that is a mapping from strata. Left out, the
            strata are the groups.

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
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
