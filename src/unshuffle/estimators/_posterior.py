"""Draws from the posterior of a fitted estimator."""

import warnings
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.problem import Problem
from ..data.threads import Workers
from ..exceptions import MixingWarning
from ..fits.data import InMemory
from ..fits.posterior import sample_posterior
from ..fits.results import StochasticFit
from ..inference.diagnostics import FEWEST_DRAWS
from ..inference.posterior import Posterior
from ..io.frames import feature_names
from ..kernels.types import FloatArray
from ._only_normal import only_normal
from ._progress import reporting

LARGEST_R_HAT, SMALLEST_ESS = 1.01, 400.0


class PosteriorMethods:
    """Posterior sampling for estimators that keep their data."""

    coef_: FloatArray
    _stochastic: StochasticFit
    _kept_problem: Callable[[], Problem]
    _workers: Callable[..., Workers]
    _seed_of_fit: Callable[[Any], int]

    @only_normal
    def posterior(
        self,
        *,
        n_chains: int = 4,
        n_draws: int = 1000,
        n_warmup: int = 500,
        thin: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> Posterior:
        r"""Draw from the posterior over coefficients, noise, permutation and rate of mismatches.

        The model is :math:`y_{\pi(i)} = m + u_i^\top \theta + \varepsilon_i`,
        :math:`\varepsilon_i \sim N(0, s^2)`, in an orthonormal basis of the (centred) columns of X,
        with the belief about permutations of the fit: uniform inside groups, or with few
        mismatches. The priors of the parameters are proper and wide. With :math:`\bar y` and
        :math:`\tau` the mean and the standard deviation of the labels,

        .. math::

            \theta_j \sim N(0, 100\, n \tau^2), \quad m \sim N(\bar y, 100\, \tau^2), \quad
            s \sim \text{half-}t_3(\tau), \quad \alpha \sim U(0, 1),

        where the rate :math:`\alpha` is drawn only if the fit estimated it. A `temper` or `ridge`
        of the fit plays no role.

        Parameters
        ----------
        n_chains : int, default=4
            Chains. They start at the distinct optima of a search, where there was one, and
            scattered around the fit.
        n_draws : int, default=1000
            Draws kept of each chain.
        n_warmup : int, default=500
            Iterations of each chain that are forgotten; proposals adapt during these alone.
        thin : int, default=1
            Iterations between two draws that are kept.
        random_state : int, RandomState or None, default=None
            Seed; None takes that of the fit, so that the same fit has the same posterior.
        n_jobs : int, default=None
            Threads, over chains; None takes that of the estimator. The draws do not depend on it.
        verbose : int, default=0
            1 shows a progress bar.

        Returns
        -------
        posterior : Posterior
            Draws, intervals, R-hat and effective sample sizes.

        Warns
        -----
        MixingWarning
            Where some R-hat is above 1.01 or some effective sample size below 400.

        Notes
        -----
        An iteration costs O(n d) and keeps a copy of X in the orthonormal basis.
        """
        check_is_fitted(self)
        check_counts(n_chains=n_chains, n_draws=n_draws, n_warmup=n_warmup, thin=thin)
        problem = self._kept_problem()
        found = getattr(self, "solutions_", None)
        with self._workers(n_jobs) as workers:
            posterior = sample_posterior(
                InMemory(problem, workers),
                self._stochastic,
                self.coef_[None] if found is None else found,
                feature_names(getattr(self, "feature_names_in_", None), len(self.coef_)),
                n_chains=int(n_chains),
                n_draws=int(n_draws),
                n_warmup=int(n_warmup),
                thin=int(thin),
                seed=self._seed_of_fit(random_state),
                reporting=reporting(verbose, None),
            )
        warn_not_mixed(posterior)
        return posterior


def check_counts(**counts: Any) -> None:
    """Whole numbers of chains, draws and iterations."""
    fewest = {"n_chains": 1, "n_draws": FEWEST_DRAWS, "n_warmup": 0, "thin": 1}
    for name, value in counts.items():
        if not isinstance(value, Integral) or isinstance(value, bool) or value < fewest[name]:
            raise ValueError(f"{name} is a whole number of at least {fewest[name]}, got {value!r}")


def warn_not_mixed(posterior: Posterior) -> None:
    """Name the worst quantity, if the chains cannot be relied upon yet."""
    r_hats = {k: v for k, v in posterior.r_hat.items() if not np.isnan(v)}
    worst = max(r_hats, key=lambda name: r_hats[name], default=None)
    sizes = {
        (name, kind): size
        for kind, found in (("bulk", posterior.ess_bulk), ("tail", posterior.ess_tail))
        for name, size in found.items()
        if not np.isnan(size)
    }
    fewest = min(sizes, key=lambda name: sizes[name], default=None)
    n_chains, n_draws = posterior.intercept.shape
    said = []
    if worst is not None and r_hats[worst] > LARGEST_R_HAT:
        said.append(f"R-hat of {worst} is {r_hats[worst]:.3f}, above {LARGEST_R_HAT}")
    if fewest is not None and sizes[fewest] < SMALLEST_ESS:
        name, kind = fewest
        said.append(
            f"the effective sample size of {name} ({kind}) is {sizes[fewest]:.0f} of "
            f"{n_chains * n_draws} draws, below {SMALLEST_ESS:.0f}"
        )
    if said:
        warnings.warn(
            f"the chains have not mixed: {'; '.join(said)}. Raise n_draws (now {n_draws}) and "
            "n_warmup, or thin; if that does not help, the chains sit in different solutions and "
            "the posterior is not to be relied upon (compare coef.mean(axis=1) of the chains)",
            MixingWarning,
            stacklevel=3,
        )
