"""Hard EM: one most likely permutation at a time, from many starts."""

from collections.abc import Callable
from numbers import Integral
from typing import Any, ClassVar

from sklearn.utils._param_validation import Interval, StrOptions

from ..families.catalogue import REGRESSIONS
from ..fits.data import InMemory
from ..fits.hard import fit_hard
from ..fits.progress import Progress
from ..fits.results import HardFit
from ..fits.settings import HardSettings
from ._family_hard import FamilyHardRegressor
from ._progress import reporting
from ._validation import check_init, open_setting


class HardEMRegressor(FamilyHardRegressor):
    r"""Linear regression on shuffled labels by Hard EM with restarts.

    Minimises the matched sum of squares over coefficients and permutations inside groups,

    .. math:: \min_{w, b, \pi} \; \sum_i (y_{\pi(i)} - b - x_i^\top w)^2,

    by alternating the two halves: for fixed coefficients the best permutation sorts the labels
    of each group like the fitted values, for a fixed permutation the best coefficients are
    least squares. Each descent ends in a local optimum, so many starts are made and the lowest
    objective wins.

    Its noise estimate is too small, because the best of all permutations also fits the noise.

    Parameters
    ----------
    n_init : int or "auto", default="auto"
        Number of starts. The first is always the order given; the others are random shuffles
        inside the groups. "auto" is the number of rows, as in the paper; for other families than
        normal at most 100.
    max_iter : int, default=50
        Most iterations of each descent.
    init : "ols" or array of shape (n_features,), default="ols"
        Coefficients to start from *in addition* to the order given; "ols" adds none.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    n_jobs : int, default=None
        Threads over starts. The answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the shuffles.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable, default=None
        Called after each batch of starts with a `Progress` tuple.
    family : {"normal", "poisson", "gamma", "negative-binomial"}, default="normal"
        Law of the labels. For other families than normal, which have the log link, labels are
        sorted like the linear predictors, coefficients are those of a generalised linear model, and
        minus twice the log-likelihood of the matched labels takes the place of the sum of squares,
        and `dispersion_` (1 for counts of family "poisson") that of the noise.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients of the best descent.
    intercept_ : float
        Intercept.
    noise_scale_ : float
        Standard deviation of the matched residuals.
    restart_objectives_ : array of shape (`n_init_`,)
        Matched sum of squares each start ended with: the order given first, then `init` where
        it is an array, then the shuffles.
    n_init_ : int
        Number of starts made.
    n_iter_ : int
        Iterations of the best descent.
    converged_ : bool
        Whether the best descent ended in a local optimum.
    objective_path_ : array of shape (`n_iter_`,)
        Matched sum of squares along the best descent; it never rises.
    coef_path_ : array of shape (`n_iter_`, n_features)
        Coefficients along the best descent.
    expected_labels_ : array of shape (n_samples,)
        The label matched to each row.
    permutation_ : array of shape (n_samples,)
        Row i is matched with ``y[permutation_[i]]``.
    r2_, r2_within_ : float
        Share of the variance of the labels that is explained: of all of them, and inside groups.
    n_groups_, rank_ : int
        Number of groups, and rank of X, centred when there is an intercept.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the features, where X had string column names.

    Notes
    -----
    An iteration costs O(n d + n log n). With ``n_init="auto"`` the whole fit is quadratic in n:
    set `n_init` on large data.

    References
    ----------
    A. Abid and J. Zou, "Stochastic EM for Shuffled Linear Regression", 2018, arXiv:1804.00681.

    Examples
    --------
    >>> from unshuffle import HardEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(200, 1, noise=0.1, shuffle="full", random_state=0)
    >>> model = HardEMRegressor(n_init=10, random_state=0).fit(data.X, data.y)
    >>> bool(abs(abs(model.coef_) - abs(data.coef)).max() < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "n_init": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"ols"}), "array-like"],
        "fit_intercept": ["boolean"],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "verbose": ["verbose"],
        "callback": [None, callable],
        "family": [StrOptions(set(REGRESSIONS))],
    }
    _convergence_advice = "raise max_iter."

    def __init__(
        self,
        *,
        n_init: int | str = "auto",
        max_iter: int = 50,
        init: Any = "ols",
        fit_intercept: bool = True,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callback: Callable[[Progress], object] | None = None,
        family: str = "normal",
    ) -> None:
        self.n_init = n_init
        self.max_iter = max_iter
        self.init = init
        self.fit_intercept = fit_intercept
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.callback = callback
        self.family = family

    def _compute(self, data: InMemory, seed: int) -> HardFit:
        settings = self._settings(seed, data.problem.X.shape[1])
        return fit_hard(data, settings, reporting=reporting(self.verbose, self.callback))

    def _settings(self, seed: int, n_features: int) -> HardSettings:
        return HardSettings(
            seed,
            n_init=open_setting(self.n_init),
            max_iter=self.max_iter,
            init=check_init(self.init, n_features),
            fit_intercept=self.fit_intercept,
        )
