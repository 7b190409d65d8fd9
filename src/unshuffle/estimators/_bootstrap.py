"""Parametric bootstrap of a fitted estimator."""

from collections.abc import Callable
from numbers import Integral
from typing import TYPE_CHECKING, Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from ..alignment.chain import Chain
from ..alignment.priors import Prior
from ..data.problem import Problem
from ..data.threads import Workers
from ..em.loop import Step, run_em, settle_on_average, start_from_labels
from ..em.sample import WINDOW
from ..families.least_squares import LeastSquares
from ..inference.bootstrap import BootstrapResult, Draw, Refit, Source, replicate
from ..inference.permutations import PermutationPosterior
from ..kernels.types import FloatArray
from ._base import Task
from ._beginning import begin
from ._plan import Plan, aligner, plan_of
from ._progress import Progress, reporting
from ._seeding import seed_from

if TYPE_CHECKING:
    from .stochastic import StochasticEMRegressor

# Proposals per row and iteration of a replicate. A fit of small data makes more of them, for a
# steadier answer; beside the spread of the replicates that would not be seen.
SWEEPS = 50


class BootstrapMethods:
    """The bootstrap, for estimators that say what refits simulated labels."""

    coef_: FloatArray
    intercept_: float
    noise_scale_: float
    fit_intercept: bool
    n_jobs: int | None
    _pairing: PermutationPosterior
    # Where these come from: the base class, and the estimator itself.
    _kept_problem: Callable[[], Problem]
    _refitting: Callable[[], "StochasticEMRegressor"]

    def bootstrap(
        self,
        n_boot: int = 200,
        *,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> BootstrapResult:
        """Parametric bootstrap: fit labels that are simulated from this fit.

        Labels are drawn from the fitted coefficients and noise, shuffled as the model says (inside
        groups, or at the fitted rate of mismatches, or not at all), and fitted with the same
        settings from the coefficients found. So the intervals also tell of bias, of fits with a
        ridge or inflated noise, and of information that is nearly gone. They do not tell whether
        another optimum might be the right one: a search for every replicate would cost as much as
        the search of the fit, and its answer is the business of the verdict.

        Parameters
        ----------
        n_boot : int, default=200
            Replicates.
        random_state : int, RandomState or None, default=None
            Seed of the replicates. None takes the seed of the fit, so that the answer can be had
            again.
        n_jobs : int, default=None
            Threads over replicates; None takes `n_jobs` of the estimator. The answer does not
            depend on it.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        result : BootstrapResult
            With `draws`, `standard_errors`, `interval(level)`, `noise_scale_interval(level)` and
            `mismatch_rate_interval(level)`.

        Examples
        --------
        >>> from unshuffle import StochasticEMRegressor
        >>> from unshuffle.datasets import make_shuffled_regression
        >>> data = make_shuffled_regression(
        ...     60, 1, noise=0.1, shuffle="groups", n_groups=20, random_state=0
        ... )
        >>> model = StochasticEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
        >>> model.bootstrap(40).interval().shape
        (2, 2)
        """
        check_is_fitted(self)
        check_has_standard_errors(self)
        if not isinstance(n_boot, Integral) or isinstance(n_boot, bool) or n_boot < 2:
            raise ValueError(f"n_boot must be a whole number of at least 2, got {n_boot!r}")
        problem: Problem = self._kept_problem()
        seed = self._pairing.seed if random_state is None else seed_from(random_state)
        rate, state = self._estimated_rate(), self._pairing.state
        prior = self._pairing.prior if self._can_move() else None
        source = Source(
            problem, prior, state.fitted, state.noise_scale, np.nan if rate is None else rate
        )
        refit = _least_squares(problem, self.fit_intercept)
        if prior is not None:
            refit = _stochastic_em(self._refitting(), problem, prior)
        total = int(n_boot)
        with (
            Workers(effective_n_jobs(self.n_jobs if n_jobs is None else n_jobs)) as workers,
            reporting(verbose, total, "replicates", None) as report,
        ):
            draws = replicate(
                source,
                refit,
                total,
                seed,
                workers,
                lambda done: report(Progress(done, total, np.nan, np.nan, None)),
            )
        first = 0 if self.fit_intercept else 1
        share = problem.n_movable / problem.n_rows
        return BootstrapResult(
            np.append(self.intercept_, self.coef_)[first:],
            np.array([draw.coef[first:] for draw in draws]),
            self.noise_scale_,
            np.array([draw.noise_scale for draw in draws]),
            np.nan if rate is None else rate * share,
            np.array([np.nan if rate is None else draw.rate for draw in draws]),
            sum(not draw.settled for draw in draws),
        )

    def _can_move(self) -> bool:
        """Whether the fit allowed any label to move."""
        known = getattr(self, "pairing_", None) == "known"
        return not known and self._pairing.problem.n_movable > 0

    def _estimated_rate(self) -> float | None:
        """Rate of mismatches among the rows that can move; None where it was not estimated."""
        if not self._can_move() or not self._pairing.prior.estimates:
            return None
        matched = np.asarray(self._pairing.state.match_proba)
        return float(1.0 - matched[: self._pairing.problem.n_movable].mean())


def _least_squares(problem: Problem, fit_intercept: bool) -> Refit:
    """Refit labels that all stand beside their own row."""
    solver = LeastSquares(problem.X, fit_intercept=fit_intercept)

    def refit(simulated: Problem, seed: int) -> Draw:
        state = start_from_labels(simulated, solver, simulated.y)
        return Draw(np.append(state.intercept, state.coef), state.noise_scale, 0.0, True)

    return refit


def _stochastic_em(inner: "StochasticEMRegressor", problem: Problem, prior: Prior) -> Refit:
    """Refit with the settings of `inner`, without standard errors and long final runs."""
    solver = inner._solver(problem)
    plan = plan_of(inner, Task(problem, solver, 0, Workers(1), prior.match_prob))
    schedule = plan.schedule
    if inner.n_steps == "auto" and inner.burn_in == "auto":
        steps = min(schedule.n_steps, SWEEPS * problem.n_movable)
        schedule = schedule._replace(n_steps=steps, burn_in=steps // 5)
    plan = Plan(prior, schedule, plan.tol)

    def ignore(step: Step) -> None:
        """A replicate goes on unheard."""

    def refit(simulated: Problem, seed: int) -> Draw:
        task = Task(simulated, solver, seed, Workers(1), prior.match_prob)
        align = aligner(inner, Chain(simulated, schedule, seed, task.workers), prior)
        beginning = begin(inner, task, plan)
        result = run_em(
            simulated,
            solver,
            beginning.start,
            align,
            max_iter=inner.max_iter,
            settled=beginning.settled,
            report=ignore,
        )
        n_last = min(2 * WINDOW, (len(result.steps) + 1) // 2)
        result = settle_on_average(simulated, solver, result, align, n_last)
        state, matched = result.state, np.asarray(result.alignment.match_proba)
        return Draw(
            np.append(state.intercept, state.coef),
            state.noise_scale,
            float(1.0 - matched.mean()),
            result.converged,
        )

    return refit


def check_has_standard_errors(model: Any) -> None:
    """The published variant keeps no posterior to make them from."""
    if not hasattr(model, "standard_errors_"):
        raise ValueError("variant='published' has no standard errors; fit variant='exact'")
