"""`fit` of the default estimator, for normal labels and for other families."""

from typing import Any, Self

from ._family_dispatch import FamilyDispatch, refuse_strata


class FamilyRegressor(FamilyDispatch):
    """Fits with groups, known rows and match probabilities."""

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
        **beside: Any,
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
            takes the place of `mismatch_rate` and means that the order is mostly right. 1 is a
            known row; 0 excludes the label beside this row.
        match_features : data frame or array-like of shape (n_samples, n_clues), optional
            Clues of whether a label is the row's own, such as the distance of two names: numbers,
            or categories; values may be missing. The probability that a label is the row's own
            is logistic in them, and is estimated along (`match_model_`). The logit of `match_prob`
            is then an offset. For normal labels.
        unmatched : {"refuse", "model"}, default="refuse"
            "model" allows missing labels, and labels that are nobody's: where the order given is
            used, a label is the row's own or nobody's; where it is lost, some of the rows have no
            label among those of their group. For normal labels.
        match_share : float, (float, float) or "estimate", default="estimate"
            Share of rows that have their label among those given, or bounds of it.
        strata : array-like of shape (n_samples,), optional
            Stratum of each row, for a `mismatch_rate` that is a mapping from strata. Left out, the
            strata are the groups.
        **beside
            One number per row each: `sample_weight` (how many rows a row stands for), `offset`
            (added to the linear predictor), `exposure` (whose logarithm is added). A fit of normal
            labels with any of them is that of `MixtureRegressor` with a tied density, or of
            Stochastic EM from the sums of groups.

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
        if self._wants_family(beside):
            self._refuse_clues(match_features)
            if unmatched != "refuse":
                raise ValueError(
                    f"unmatched={unmatched!r} is for family='normal' without weights and offsets"
                )
            refuse_strata(strata)
            return self._fit_dispatched(X, y, groups, known, match_prob, beside)
        fitted: Self = super().fit(  # type: ignore[misc]
            X,
            y,
            groups,
            known,
            match_prob,
            match_features,
            unmatched=unmatched,
            match_share=match_share,
            strata=strata,
        )
        return fitted
