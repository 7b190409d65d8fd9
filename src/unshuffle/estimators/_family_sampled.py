"""`fit` of Stochastic EM, for normal labels and for other families."""

from typing import Any, ClassVar, Self

from ..fits.glm.settings import ChainSettings
from ._family_dispatch import FamilyDispatch, refuse_strata
from ._sampled import SampledRegressor
from ._validation import check_init, open_setting

OF_CHAINS = ("max_iter", "tol", "n_steps", "burn_in", "init")
ITERATIONS = 4  # for one of normal labels, which makes many more proposals


class FamilySampledRegressor(FamilyDispatch, SampledRegressor):
    """Chains over labels in lost order, or the likelihood of labels in mostly right order."""

    max_iter: int
    tol: float | str
    n_steps: int | str
    burn_in: int | str
    init: Any
    _family_advice = "raise max_iter, or use fewer features, or groups whose features differ"
    _refused_by_families: ClassVar[dict[str, str]] = {
        **FamilyDispatch._refused_by_families,
        "variant": "leave it out",
        "thin": "every state counts, at no cost: leave it out",
        "max_shift": "give groups of rows that lie together",
        "early_stopping": "leave it out, and set max_iter",
        "streaming": "fit a sample in memory",
    }

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
        **beside: Any,
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
            is then an offset. It means that the order is mostly right. For normal labels.
        strata : array-like of shape (n_samples,), optional
            Stratum of each row, for a `mismatch_rate` that is a mapping from strata. Left out, the
            strata are the groups. For normal labels.
        **beside
            One number per row each: `sample_weight` (how many rows a row stands for, not for labels
            in lost order), `offset` (added to the linear predictor), `exposure` (whose logarithm is
            added).

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
        if self._wants_family(beside):
            self._refuse_clues(match_features)
            refuse_strata(strata)
            return self._fit_dispatched(X, y, groups, known, match_prob, beside)
        return super().fit(X, y, groups, known, match_prob, match_features, strata=strata)

    def _family_pairing(self, match_prob: Any) -> str:
        if self.mismatch_rate is None and match_prob is None:
            return "lost"
        defaults, given = type(self)().get_params(), self.get_params()
        for name in OF_CHAINS:
            if not isinstance(given[name], type(defaults[name])) or given[name] != defaults[name]:
                raise ValueError(
                    f"{name}={given[name]!r} is for labels in lost order; leave it out with "
                    f"mismatch_rate or match_prob: the likelihood of family {self.family!r} is "
                    "then maximised without a chain"
                )
        return "mostly-right"

    def _family_chain(self, n_features: int) -> ChainSettings:
        tol = open_setting(self.tol)
        return ChainSettings(
            n_steps=open_setting(self.n_steps),
            burn_in=open_setting(self.burn_in),
            max_iter=ITERATIONS * self.max_iter,
            tolerance=None if tol is None else float(tol),
            init=check_init(self.init, n_features),
            always=True,
        )
