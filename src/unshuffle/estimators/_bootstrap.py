"""Parametric bootstrap of a fitted estimator."""

from collections.abc import Callable
from numbers import Integral
from typing import Any

from sklearn.utils.validation import check_is_fitted

from ..data.problem import Problem
from ..data.threads import Workers
from ..fits.bootstrap import bootstrap
from ..fits.data import InMemory
from ..fits.results import StochasticFit
from ..fits.settings import StochasticSettings
from ..inference.bootstrap import BootstrapResult
from ..kernels.types import FloatArray
from ._attributes import Fit
from ._progress import reporting
from ._seeding import seed_from
from ._unmatched_bootstrap import bootstrap_unmatched, check_resample


class BootstrapMethods:
    """The bootstrap, for estimators that know the settings of a refit."""

    coef_: FloatArray
    intercept_: float
    noise_scale_: float
    fit_intercept: bool
    _found: Fit
    # Where these come from: the base class, and the estimator itself.
    _stochastic: StochasticFit
    _kept_problem: Callable[[], Problem]
    _workers: Callable[..., Workers]
    _refitting: Callable[[], StochasticSettings]

    def bootstrap(
        self,
        n_boot: int = 200,
        *,
        resample: str = "labels",
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> BootstrapResult:
        """Parametric bootstrap: fit labels that are simulated from this fit.

        Labels are drawn from the fitted coefficients and noise, shuffled as the model says (inside
        groups, or at the fitted rate of mismatches, or not at all), and fitted with the same
        settings from the coefficients found. So the intervals also cover bias, fits with a
        ridge or inflated noise, and information that is nearly zero. They do not show whether
        another optimum might be the right one: a search for every replicate would cost as much as
        the search of the fit, and its answer is the business of the verdict.

        Parameters
        ----------
        n_boot : int, default=200
            Replicates.
        resample : {"labels", "groups"}, default="labels"
            "labels" simulates labels from the fit. "groups" draws whole groups with replacement,
            which assumes nothing of noise and strangers; it is for fits with
            ``unmatched="model"`` to 20 groups and more.
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
            `mismatch_rate_interval(level)`; for fits with ``unmatched="model"`` also
            `match_share_interval(level)`.

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
        if check_resample(resample, self._found):
            with self._workers(n_jobs) as workers:
                return bootstrap_unmatched(
                    self,
                    workers,
                    resample=resample,
                    n_boot=int(n_boot),
                    random_state=random_state,
                    reporting=reporting(verbose, None),
                )
        problem = self._kept_problem()
        with self._workers(n_jobs) as workers:
            return bootstrap(
                InMemory(problem, workers),
                self._stochastic,
                self._refitting(),
                n_boot=int(n_boot),
                seed=self._seed_of_fit(random_state),
                reporting=reporting(verbose, None),
            )

    def _seed_of_fit(self, random_state: Any) -> int:
        """The seed given, or that of the fit, so that the same fit has the same answer."""
        posterior = self._stochastic.permutations
        if random_state is None and posterior is not None:
            return posterior.seed
        return seed_from(random_state)


def check_has_standard_errors(model: Any) -> None:
    """The published variant keeps no posterior to make them from."""
    if not hasattr(model, "standard_errors_"):
        raise ValueError("variant='published' has no standard errors; fit variant='exact'")
