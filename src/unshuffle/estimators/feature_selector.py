"""Features chosen where the order of labels is lost, as a step of a pipeline."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator
from sklearn.feature_selection import SelectorMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..data.threads import Workers
from ..fits.choice import ChoiceSettings
from ..fits.data import InMemory
from ..fits.features import choose_features
from ..fits.progress import Progress
from ..fits.settings import AutoSettings
from ..kernels.types import BoolArray, IntArray
from ._base import check_enough_rows
from ._lasso_path import supports
from ._progress import reporting
from ._seeding import seed_from
from ._validation import build_problem


class ShuffledFeatureSelector(SelectorMixin, BaseEstimator):  # type: ignore[misc]
    r"""Choose features by the lasso path of expected labels and the density of held-out groups.

    The label beside a row is another row's, so that no feature can be judged by it. Instead the
    model with all features is fitted, which gives the expected label :math:`\hat y_i` of each row.
    The path of
    :math:`\min_w \sum_i (\hat y_i - w^T x_i)^2 / 2n + \alpha \sum_j |w_j|`
    as :math:`\alpha` falls says in which order features come in. How many are taken is chosen as
    in `ShuffledRegressorCV`: whole groups are left out in turn, path and fit are made on the
    others, and the labels left out are scored as sets.

    Parameters
    ----------
    cv : int, default=5
        Number of folds; whole groups go into a fold.
    max_features : int, optional
        Largest number of features. None is all, or half of the rows.
    rule : {"one-standard-error", "best"}, default="one-standard-error"
        Which number is taken: the smallest one whose loss against the best is at most its standard
        error over groups, or the best.
    fit_intercept : bool, default=True
    n_jobs : int, optional
        Threads. The result does not depend on it.
    random_state : int, RandomState or None, default=None
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable, optional
        Receives a `Progress` after each fold.

    Attributes
    ----------
    support_ : array of bool of shape (n_features,)
        True for the features chosen.
    n_features_ : int
        How many they are.
    cv_results_ : dict of arrays
        One entry per number of features, from none on: "n_features"; "gain", the mean over folds
        of the gain in log density per held-out label, and "gain_by_fold"; "lost", the log density
        lost against the best number, and "lost_error", its standard error.
    chosen_index_, best_index_ : int
        Entry of the number that was chosen, and of the best one.

    See Also
    --------
    ShuffledRegressorCV : Chooses the other settings in the same way.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import ShuffledFeatureSelector
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     200, 2, noise=0.3, shuffle="groups", n_groups=40, random_state=0
    ... )
    >>> noise = np.random.default_rng(0).normal(size=(200, 3))
    >>> selector = ShuffledFeatureSelector(cv=3, random_state=0)
    >>> selector.fit(np.hstack([data.X, noise]), data.y, groups=data.groups).support_
    array([ True,  True, False, False, False])
    """

    __metadata_request__fit: ClassVar = {"groups": True, "known": True}

    support_: BoolArray
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "cv": [Interval(Integral, 2, None, closed="left")],
        "max_features": [None, Interval(Integral, 1, None, closed="left")],
        "rule": [StrOptions({"one-standard-error", "best"})],
        "fit_intercept": ["boolean"],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "callback": [None, callable],
    }

    def __init__(
        self,
        *,
        cv: int = 5,
        max_features: int | None = None,
        rule: str = "one-standard-error",
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Progress], object] | None = None,
    ) -> None:
        self.cv = cv
        self.max_features = max_features
        self.rule = rule
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback

    def fit(self, X: Any, y: Any, groups: Any = None, known: Any = None) -> Self:
        """Choose features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
            Labels; inside each group they may stand in any order.
        groups : array-like of shape (n_samples,)
            Any hashable label per row; eight groups or more are needed.
        known : array-like of bool of shape (n_samples,), optional
            True where the label given beside a row is surely its own.

        Returns
        -------
        self : object
        """
        self._validate_params()
        problem, _ = build_problem(self, X, y, groups, known, None)
        check_enough_rows(problem, self.fit_intercept)
        compared = ChoiceSettings(n_folds=self.cv, rule=self.rule)
        if problem.n_groups < compared.fewest_groups:
            raise ValueError(
                f"{problem.n_groups} groups are too few to choose features by held-out groups; "
                f"give {compared.fewest_groups} or more, or choose the features yourself"
            )
        n, d = problem.X.shape
        most = min(d, n // 2, d if self.max_features is None else int(self.max_features))
        settings = AutoSettings(
            seed_from(self.random_state), pairing="lost", fit_intercept=self.fit_intercept
        )
        with Workers(effective_n_jobs(self.n_jobs)) as workers:
            found = choose_features(
                InMemory(problem, workers),
                settings,
                compared,
                most,
                supports,
                reporting=reporting(self.verbose, self.callback),
            )
        self.support_ = _mask(found.support, d)
        self.n_features_ = len(found.support)
        self.chosen_index_, self.best_index_ = found.chosen, found.best
        self.cv_results_ = {
            "n_features": np.arange(most + 1),
            "gain": found.gains.mean(axis=1),
            "gain_by_fold": found.gains,
            "lost": found.lost,
            "lost_error": found.lost_error,
        }
        return self

    def _get_support_mask(self) -> BoolArray:
        check_is_fitted(self, "support_")
        return self.support_

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags


def _mask(columns: IntArray, d: int) -> BoolArray:
    chosen = np.zeros(d, dtype=bool)
    chosen[columns] = True
    return chosen
