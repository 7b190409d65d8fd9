"""What the estimators share: from user data to a fit, and to fitted attributes."""

from abc import abstractmethod
from typing import Any, ClassVar, Self, overload

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..data.problem import Problem
from ..data.threads import Workers
from ..fits.auto_results import AutoFit
from ..fits.data import InMemory
from ..fits.results import StochasticFit
from ..io.frames import library_of, plain_column
from ..kernels.types import FloatArray, IntArray
from ._attributes import Fit, forget, keep
from ._clues import check_clues
from ._compilation import watched_compilation
from ._explained import explained_shares
from ._frames import take_frame
from ._kept_data import require_kept
from ._notebook import NotebookMethods
from ._prediction import prediction_interval
from ._rates import GivenStrata, stratum_rates
from ._score import ScoreMethods
from ._seeding import seed_from
from ._sources import into_memory
from ._validation import build_problem, check_rows


class BaseLinearRegressor(NotebookMethods, ScoreMethods, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """From user data to fitted attributes, and predictions from these."""

    coef_: FloatArray
    intercept_: float
    noise_scale_: float
    r2_: float
    r2_within_: float
    fit_intercept: bool
    _convergence_advice: ClassVar[str]
    _found: Fit
    _problem: Problem
    _library: str | None

    @overload
    def predict(self, X: Any, interval: None = None) -> FloatArray: ...
    @overload
    def predict(self, X: Any, interval: float) -> tuple[FloatArray, FloatArray]: ...
    def predict(
        self, X: Any, interval: float | None = None
    ) -> FloatArray | tuple[FloatArray, FloatArray]:
        """Predict the labels of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        interval : float, optional
            A share such as 0.95: intervals that hold so many of the labels of new rows are returned
            too. They include the error of the coefficients, and assume normal noise.

        Returns
        -------
        y : array of shape (n_samples,)
        ends : array of shape (n_samples, 2)
            Lower and upper ends of the intervals; only if `interval` is given.
        """
        check_is_fitted(self)
        rows = check_rows(self, X)
        with np.errstate(over="ignore", invalid="ignore"):
            predicted: FloatArray = rows @ self.coef_ + self.intercept_
        if not np.isfinite(predicted).all():
            raise ValueError(
                f"the prediction of row {int(np.argmin(np.isfinite(predicted)))} is too large for "
                "a number; check the units of X"
            )
        if interval is None:
            return predicted
        return predicted, prediction_interval(self, rows, predicted, interval)

    def _fit_in_memory(
        self,
        X: Any,
        y: Any,
        groups: Any,
        known: Any,
        match_prob: Any = None,
        label_numbers: IntArray | None = None,
        match_features: Any = None,
    ) -> Self:
        self._validate_params()
        # Features are recorded on a blank copy, so that nothing of an earlier fit is lost
        # before this one has succeeded.
        blank = type(self)(**self.get_params(deep=False))
        given = match_prob if isinstance(match_prob, GivenStrata) else None
        match_prob, column = (match_prob, None) if given is None else (None, given.strata)
        X, y, groups, known, match_prob, match_features, column = into_memory(
            self, X, y, groups, known, match_prob, match_features, column
        )
        library = library_of(X, y, groups)
        X = take_frame(
            blank, X, y=y, groups=groups, known=known, match_prob=match_prob,
            match_features=match_features, strata=column,
        )  # fmt: skip
        strata = None
        if given is not None:
            columns = map(plain_column, (groups, column))
            strata = stratum_rates(given.rates, _num_samples(X), *columns)
            match_prob = strata.match_prob
        problem, match_prob = build_problem(blank, X, y, groups, known, match_prob)
        check_enough_rows(problem, self.fit_intercept)
        clues = check_clues(match_features, problem, getattr(self, "mismatch_rate_max", None))
        with watched_compilation(getattr(self, "verbose", 0)), self._workers() as workers:
            strata = None if strata is None else strata.arranged(problem.order)
            data = InMemory(problem, workers, match_prob, label_numbers, clues, strata)
            fit = self._compute(data, self._draw_seed())
        forget(self, blank)
        self._problem = problem
        self._library = library
        keep(self, fit, self._convergence_advice)
        self.r2_, self.r2_within_ = explained_shares(problem, self.noise_scale_)
        return self

    @abstractmethod
    def _compute(self, data: InMemory, seed: int) -> Fit:
        """Translate the parameters into settings and call one function of `fits`."""

    def _workers(self) -> Workers:
        return Workers(1)

    def _draw_seed(self) -> int:
        return 0  # of a fit that draws nothing


class BaseShuffledRegressor(BaseLinearRegressor):
    """Linear regression on labels whose pairing with the rows is lost."""

    # With metadata routing enabled, `groups` and `known` reach fit without further words.
    __metadata_request__fit: ClassVar = {"groups": True, "known": True}

    n_jobs: int | None
    random_state: Any

    def fit(self, X: Any, y: Any, groups: Any = None, known: Any = None) -> Self:
        """Fit the model.

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

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
        return self._fit_in_memory(X, y, groups, known)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        # Labels are taken as shuffled, so agreement with the order given is not to be expected.
        tags.regressor_tags.poor_score = True
        return tags

    def _workers(self, n_jobs: int | None = None) -> Workers:
        return Workers(effective_n_jobs(self.n_jobs if n_jobs is None else n_jobs))

    def _draw_seed(self) -> int:
        return seed_from(self.random_state)

    @property
    def _stochastic(self) -> StochasticFit:
        """The fit by Stochastic EM, which everything after a fit starts from."""
        check_is_fitted(self)
        fit = self._found.fit if isinstance(self._found, AutoFit) else self._found
        if not isinstance(fit, StochasticFit):
            raise AttributeError(
                f"this {type(self).__name__} has no fit of normal labels by Stochastic EM"
            )
        return fit

    def _kept_problem(self) -> Problem:
        """The data of the fit, for what resamples them; they stay out of files."""
        check_is_fitted(self)
        if isinstance(self._found, StochasticFit) and self._found.matches is None:
            raise ValueError("a fit that reads its data in passes does not keep them")
        if isinstance(self._found, AutoFit) and self._found.unmatched is not None:
            raise ValueError(
                "a fit with unmatched='model' has neither sandwich nor posterior; its intervals "
                "are those of conf_int() and of method='bootstrap'"
            )
        require_kept(self, "_problem")
        return self._problem

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the data: files would grow with them, and give them away."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_problem", None)
        state.pop("_unequal", None)
        return state


def check_enough_rows(problem: Problem, fit_intercept: bool) -> None:
    """The noise needs at least one row more than there are coefficients."""
    n, d = problem.X.shape
    if n <= d + fit_intercept:
        raise ValueError(
            f"X has n_samples = {n} rows and {d} features"
            f"{' plus an intercept' if fit_intercept else ''}: the noise cannot be estimated "
            f"from {n} sample{'s' if n > 1 else ''}; give more rows than coefficients, or choose "
            "fewer features"
        )
