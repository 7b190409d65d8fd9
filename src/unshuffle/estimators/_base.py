"""What the estimators share: the way from user data to fitted attributes and back."""

import warnings
from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Protocol, Self

import numpy as np
from joblib import effective_n_jobs
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..em.loop import EMResult, start_from_coefficients, start_from_labels
from ..exceptions import RankWarning
from ..families.least_squares import LeastSquares
from ..io.frames import library_of
from ..kernels.types import FloatArray, IntArray
from ._notebook import NotebookMethods
from ._seeding import seed_from
from ._sources import into_memory
from ._validation import build_problem, check_rows


class Task(NamedTuple):
    """Everything an algorithm needs to run.

    `side_by_side` is False where labels came as a table of their own, so that their order means
    nothing.
    """

    problem: Problem
    solver: LeastSquares
    seed: int
    workers: Workers
    match_prob: FloatArray | None
    side_by_side: bool = True


class Outcome(NamedTuple):
    """What an algorithm found, its (arranged) permutation, and the attributes only it has."""

    result: EMResult
    permutation: IntArray
    extras: dict[str, Any]


class LinearPrediction:
    """Predict with coefficients and an intercept."""

    coef_: FloatArray
    intercept_: float

    def _forget(self, blank: Any) -> None:
        """Drop what an earlier fit learnt, and take over the features that `blank` recorded."""
        for name in [name for name in vars(self) if name.endswith("_")]:
            delattr(self, name)
        for name, value in vars(blank).items():
            if name.endswith("_in_"):
                setattr(self, name, value)

    def predict(self, X: Any) -> FloatArray:
        """Predict the labels of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        check_is_fitted(self)
        predicted: FloatArray = check_rows(self, X) @ self.coef_ + self.intercept_
        return predicted


class BaseShuffledRegressor(NotebookMethods, LinearPrediction, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """Linear regression on labels whose pairing with the rows is lost."""

    # With metadata routing enabled, `groups` and `known` reach fit without further words.
    __metadata_request__fit: ClassVar = {"groups": True, "known": True}

    fit_intercept: bool
    n_jobs: int | None
    random_state: Any
    init: Any
    _problem: Problem
    _library: str | None

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
        return self._fit(X, y, groups, known)

    def _fit(
        self,
        X: Any,
        y: Any,
        groups: Any,
        known: Any,
        match_prob: Any = None,
        side_by_side: bool = True,
    ) -> Self:
        self._validate_params()
        # Features are recorded on a blank copy, so that nothing of an earlier fit is lost
        # before this one has succeeded.
        blank = type(self)(**self.get_params(deep=False))
        X, y, groups, known, match_prob = into_memory(self, X, y, groups, known, match_prob)
        problem, match_prob = build_problem(blank, X, y, groups, known, match_prob)
        check_enough_rows(problem, self.fit_intercept)
        solver = self._solver(problem)
        with Workers(effective_n_jobs(self.n_jobs)) as workers:
            seed = seed_from(self.random_state)
            outcome = self._run(Task(problem, solver, seed, workers, match_prob, side_by_side))
        self._forget(blank)
        self.__dict__.pop("_n_streamed", None)
        self._problem = problem
        self._library = library_of(X, y, groups)
        return self._keep(problem, solver, outcome)

    def _kept_problem(self) -> Problem:
        """The data of the fit, for what resamples them; they stay out of files."""
        check_is_fitted(self)
        if hasattr(self, "_n_streamed"):
            raise ValueError("a fit that reads its data in passes does not keep them")
        if not hasattr(self, "_problem"):
            raise ValueError(
                f"this {type(self).__name__} was loaded from a file, which does not hold the data "
                "of the fit; fit it again first"
            )
        return self._problem

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the data: files would grow with them, and give them away."""
        state: dict[str, Any] = dict(super().__getstate__())
        state.pop("_problem", None)
        return state

    def _solver(self, problem: Problem) -> LeastSquares:
        return LeastSquares(problem.X, fit_intercept=self.fit_intercept)

    @abstractmethod
    def _run(self, task: Task) -> Outcome:
        """Run the algorithm."""

    def _start(self, task: Task) -> State:
        """Where `init` says to begin."""
        problem, solver = task.problem, task.solver
        if isinstance(self.init, str):
            return start_from_labels(problem, solver, problem.y)
        coef = check_init(self.init, problem.X.shape[1])
        # Any intercept leaves the matching as it is; this one centres the residuals.
        centred = problem.y.mean() - problem.X.mean(axis=0) @ coef
        intercept = float(centred) if self.fit_intercept else 0.0
        return start_from_coefficients(problem, solver, coef, intercept)

    def _keep(self, problem: Problem, solver: LeastSquares, outcome: Outcome) -> Self:
        """Set every fitted attribute, in the user's row order, and say what must be said."""
        result = outcome.result
        for name, value in outcome.extras.items():
            setattr(self, name, value)
        self.coef_ = result.state.coef
        self.intercept_ = result.state.intercept
        self.noise_scale_ = result.state.noise_scale
        self.n_iter_ = len(result.steps)
        self.converged_ = result.converged
        self.objective_path_ = np.array([step.objective for step in result.steps])
        self.coef_path_ = np.array([step.coef for step in result.steps])
        self.expected_labels_ = problem.restore(result.alignment.expected)
        self.permutation_ = problem.restore_permutation(outcome.permutation)
        self.n_groups_ = problem.n_groups
        self.rank_ = solver.rank
        warn_rank(self, solver)
        if not self.converged_ and self._wants_convergence():
            warn_not_converged(self, self._convergence_advice)
        return self

    _convergence_advice: ClassVar[str]
    max_iter: int

    def _wants_convergence(self) -> bool:
        return True


class Ranked(Protocol):
    """A solver that knows which columns depend on others."""

    rank: int
    dependent: IntArray


def warn_rank(estimator: Any, solver: Ranked) -> None:
    """Name the columns whose coefficients are not determined."""
    if not len(solver.dependent):
        return
    names = getattr(estimator, "feature_names_in_", None)
    columns = ", ".join(str(j) if names is None else repr(names[j]) for j in solver.dependent)
    warnings.warn(
        f"X has rank {solver.rank} of {estimator.n_features_in_}: columns {columns} are constant "
        "or linear combinations of each other. The coefficients of minimum norm were taken: "
        "predictions are unaffected, but single coefficients of these columns mean nothing. Drop "
        "columns to get rid of this warning.",
        RankWarning,
        stacklevel=5,
    )


def warn_not_converged(estimator: Any, advice: str) -> None:
    """Say that the iterations did not suffice, and what to do."""
    warnings.warn(
        f"{type(estimator).__name__} did not converge in max_iter={estimator.max_iter} "
        f"iterations; {advice}",
        ConvergenceWarning,
        stacklevel=5,
    )


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


def check_init(init: Any, n_features: int) -> FloatArray:
    """Starting coefficients as a finite vector of the right length."""
    coef = np.asarray(init, dtype=np.float64)
    if coef.shape != (n_features,):
        raise ValueError(
            f"init has shape {coef.shape} but X has {n_features} features; "
            f"give 'ols' or {n_features} starting coefficients"
        )
    if not np.all(np.isfinite(coef)):
        raise ValueError("init holds NaN or infinity; starting coefficients must be finite")
    return coef
