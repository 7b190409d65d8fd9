"""Stochastic EM: expected labels from a Metropolis-Hastings chain over permutations."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from joblib import effective_n_jobs
from sklearn.utils._param_validation import Interval, StrOptions

from ..families.catalogue import REGRESSIONS
from ..fits.audited import rate_of, refit_at, with_audit
from ..fits.clued import fit_clued
from ..fits.data import InMemory, InPasses
from ..fits.early_stopping import fit_with_early_stopping
from ..fits.progress import Progress
from ..fits.results import StochasticFit
from ..fits.settings import StochasticSettings
from ..fits.stochastic import fit_stochastic
from ..inference.audited_rate import Audit
from ._attributes import forget, keep
from ._family_sampled import FamilySampledRegressor
from ._progress import reporting
from ._rates import GIVEN_RATES
from ._seeding import seed_from
from ._sources import PassesSource, find_source, record_features
from ._streamed import StreamedAttributes
from ._validation import check_init, open_setting
from .streaming import Streaming


class StochasticEMRegressor(StreamedAttributes, FamilySampledRegressor):
    r"""Linear regression on shuffled labels by Stochastic EM.

    The model is :math:`y_{\pi(i)} = b + x_i^\top w + \varepsilon_i` with
    :math:`\varepsilon_i \sim N(0, s^2)` and an unknown permutation :math:`\pi` that moves labels
    inside groups only. EM alternates

    .. math::

        \hat y_i = E[y_{\pi(i)} \mid w, s] \quad\text{(a chain over permutations)}, \qquad
        w = \arg\min \|\hat y - b - Xw\|^2, \qquad
        s^2 = \frac{\|y\|^2 - \|\hat y\|^2 + \|\hat y - b - Xw\|^2}{n - p}.

    Use it when labels are shuffled inside groups of moderate size, or with `mismatch_rate` when
    the order given is mostly right (record linkage, swapped samples): then every row that does
    not hold its own label costs :math:`\gamma`, :math:`\mathrm{prior}(\pi) \propto
    \exp(-\gamma \cdot \#\{i: \pi(i) \ne i\})`. On one fully shuffled group with many features no
    method recovers the coefficients; this one included.

    Parameters
    ----------
    variant : {"exact", "published"}, default="exact"
        "exact" samples from the model above. "published" does what the authors of the paper ran:
        the averaged labels of each iteration replace the labels of the next, which shrinks them,
        and the noise forgets the spread of the labels.
    max_iter : int, default=50
        Most EM iterations; of other families four times as many, which make fewer proposals.
    tol : float or "auto", default="auto"
        Stop when coefficients and noise, averaged over the last 5 iterations, have moved since
        the 5 iterations before by less than `tol` standard errors (those of a fit with known
        order; the root mean square over coefficients), or by no more than the scatter of single
        iterations explains. 0 runs all iterations. "auto" is 0.2 for "exact" and 0 for
        "published".
    n_steps : int or "auto", default="auto"
        Proposals of one iteration over all groups together; each group gets the share of its
        rows. "auto" is, for "exact", 4 per row but at least 100,000 (300,000 where the order is
        mostly right), 24 per row where Newton's steps are taken (200,000 rows or more that lost
        their order inside 400 groups or more), and 36 per row in passes; for "published" n log n.
    burn_in : int or "auto", default="auto"
        Proposals of each iteration that are not averaged. "auto" is, for "exact", a fifth of
        `n_steps` (a tenth with Newton's steps, two fifths in passes, where chains restart); for
        "published" n.
    thin : int or "auto", default="auto"
        Distance of the averaged states. "auto" is 1 ("exact": every state counts, at no cost)
        or n / 10 ("published").
    init : "ols" or array of shape (n_features,), default="ols"
        Starting coefficients; "ols" fits the labels as given, robustly where they are assumed
        to be mostly right.
    mismatch_rate : None, float, Audit, mapping or "estimate", default=None
        Share of rows that do not hold their own label. None assumes nothing about the order
        given; a number between 0 and 1 is kept; "estimate" learns it from the data. The rate of an
        `Audit` is kept, and two further fits, one standard error of it below and above, add its
        uncertainty to the standard errors. A mapping has a rate or an `Audit` per stratum (`strata`
        of `fit`, or its groups), in memory.
    mismatch_rate_max : float, optional
        Bound on the mean rate of mismatches, for fits with `match_features`.
    max_shift : int, default=None
        A label is at most so many rows of the table away from its own (plates, time stamps).
    alignment : {"chain", "sinkhorn", "exact"}, default="chain"
        How expected labels are found: by sampling, by Sinkhorn scaling (deterministic; with
        `max_shift` for groups of up to 5,000 rows), or by enumeration (groups of up to 8 rows).
    temper : float, default=1.0
        Labels are aligned as if there were `temper` times the noise estimated, from 1e-6 to 1e6.
        Above one the fit is more cautious: it follows the labels inside groups less and their
        means more.
    ridge : float, default=0.0
        Penalty on the squares of the coefficients of standardised columns, per row.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    covariance_type : {"auto", "model", "robust"}, default="auto"
        Covariance of the coefficients behind `standard_errors_`, `summary` and `conf_int`. "model"
        inverts the observed information. "robust" is the sandwich, which also holds where the noise
        differs between rows or groups; it needs at least ten more independent groups (where the
        order is lost; rows otherwise) than parameters, and raises an error where there are fewer.
        "auto" takes the sandwich where there are enough, and where a test of the model's
        covariance has a p-value below 0.1: of noise that changes with the fitted values, and of
        the scores of the groups against the information. With more than
        100,000 rows "auto" is "model": the test would need a second array of the size of X, and a
        sandwich longer chains than the fit. In passes "auto" is "model", and "robust" is refused.
    early_stopping : bool, default=False
        Whether held-out groups decide on the number of iterations: EM runs `max_iter` iterations
        on the other groups, the held-out labels are scored after each (`log_density_gain` in
        `unshuffle.metrics`), and all groups are fitted with the number that scored best. `tol`
        then plays no role. For labels in lost order, in memory, in at least two groups.
    validation_fraction : float, default=0.2
        About the share of rows, in whole groups, that is held out.
    n_jobs : int, default=None
        Threads over groups. The answer does not depend on it.
    random_state : int, RandomState or None, default=None
        Seed of the chain.
    streaming : {"auto", "never"} or Streaming, default="auto"
        Whether to read the data in passes instead of holding them in memory. "auto" does so where
        X and y have more than 200 million numbers, wherever they are (arrays, memory maps, Dask
        collections). A streamed fit keeps nothing per row; see `Streaming`.
    verbose : int, default=0
        1 shows a progress bar.
    callback : callable, default=None
        Called after each iteration with a `Progress` tuple.
    family : {"normal", "poisson", "gamma", "negative-binomial"}, default="normal"
        Law of the labels. Other families than normal have the log link, start from the sums of
        labels in groups, and have `verdict_`; with `mismatch_rate` see `MixtureRegressor`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients; for "exact" the average over the last iterations.
    intercept_ : float
        Intercept.
    noise_scale_ : float
        Standard deviation of the noise.
    n_iter_ : int
        Iterations run.
    validation_scores_ : array of shape (`max_iter`,)
        With `early_stopping`: gain in log density per held-out label after each iteration on the
        other groups; `n_iter_` is the number with the highest.
    converged_ : bool
        Whether the tolerance was met.
    objective_path_ : array of shape (`n_iter_`,)
        Expected sum of squares after each iteration.
    coef_path_ : array of shape (`n_iter_`, n_features)
        Coefficients after each iteration.
    expected_labels_ : array of shape (n_samples,)
        Expected label of each row, in the order of the rows given.
    permutation_ : array of shape (n_samples,)
        A most likely permutation at the fitted coefficients: row i holds ``y[permutation_[i]]``.
    match_proba_ : array of shape (n_samples,)
        Probability that the label given beside a row is its own. Not for "published".
    mismatch_rate_ : float
        Expected share of rows whose label is not their own. Not for "published".
    match_model_ : MatchModel
        Who is mismatched: coefficients of the clues. Only with `match_features`.
    covariance_ : array of shape (k, k)
        Covariance of intercept (when there is one) and coefficients, of the kind
        `covariance_type_`. Not for "published"; nan for fits with a ridge or a temper other
        than one.
    covariance_type_ : {"model", "robust"}
        What `covariance_type` became.
    covariance_pvalue_ : float
        p-value of the model's covariance; nan where it was not tested.
    standard_errors_ : array of shape (k,)
        Square roots of its diagonal.
    noise_scale_se_, mismatch_rate_se_ : float
        Standard errors of noise and rate of mismatches (nan where the rate is not estimated).
    information_kept_ : float
        Smallest fraction of the information kept (observed / complete) in any direction.
    error_inflation_ : float
        Standard errors as a multiple of those with known order (root mean square over directions).
    acceptance_rate_ : float
        Share of accepted proposals in the last iteration.
    r2_, r2_within_ : float
        Share of the variance of the labels that is explained: of all of them, and inside groups.
    n_groups_, rank_ : int
        Number of groups, and rank of X, centred when there is an intercept.
    tol_, n_steps_, burn_in_, thin_ : float and int
        What "auto" became.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the features, where X had string column names.

    Notes
    -----
    A proposal costs O(1), an iteration O(n_steps + n d), memory is O(n) beyond X.

    References
    ----------
    A. Abid and J. Zou, "Stochastic EM for Shuffled Linear Regression", 2018, arXiv:1804.00681.

    Examples
    --------
    >>> from unshuffle import StochasticEMRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     400, 3, noise=0.1, shuffle="groups", n_groups=40, random_state=0
    ... )
    >>> model = StochasticEMRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    >>> bool(abs(model.coef_ - data.coef).max() < 0.05)
    True
    """

    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "variant": [StrOptions({"exact", "published"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "n_steps": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "burn_in": [StrOptions({"auto"}), Interval(Integral, 0, None, closed="left")],
        "thin": [StrOptions({"auto"}), Interval(Integral, 1, None, closed="left")],
        "init": [StrOptions({"ols"}), "array-like"],
        "mismatch_rate": [None, StrOptions({"estimate"}), *GIVEN_RATES],
        "mismatch_rate_max": [None, Interval(Real, 0, 1, closed="neither")],
        "max_shift": [None, Interval(Integral, 0, None, closed="left")],
        "alignment": [StrOptions({"chain", "sinkhorn", "exact"})],
        "temper": [Interval(Real, 1e-6, 1e6, closed="both")],
        "ridge": [Interval(Real, 0, 1e30, closed="both")],
        "fit_intercept": ["boolean"],
        "covariance_type": [StrOptions({"auto", "model", "robust"})],
        "early_stopping": ["boolean"],
        "validation_fraction": [Interval(Real, 0, 0.5, closed="right")],
        "n_jobs": [None, Integral],
        "random_state": ["random_state"],
        "streaming": [StrOptions({"auto", "never"}), Streaming],
        "verbose": ["verbose"],
        "callback": [None, callable],
        "family": [StrOptions(set(REGRESSIONS))],
    }
    _convergence_advice = "raise max_iter, or raise n_steps for a steadier chain, or raise tol."

    def __init__(
        self,
        *,
        variant: str = "exact",
        max_iter: int = 50,
        tol: float | str = "auto",
        n_steps: int | str = "auto",
        burn_in: int | str = "auto",
        thin: int | str = "auto",
        init: Any = "ols",
        mismatch_rate: float | str | Audit | Mapping[Any, Any] | None = None,
        mismatch_rate_max: float | None = None,
        max_shift: int | None = None,
        alignment: str = "chain",
        temper: float = 1.0,
        ridge: float = 0.0,
        fit_intercept: bool = True,
        covariance_type: str = "auto",
        early_stopping: bool = False,
        validation_fraction: float = 0.2,
        n_jobs: int | None = None,
        random_state: Any = None,
        streaming: Any = "auto",
        verbose: int = 0,
        callback: Callable[[Progress], object] | None = None,
        family: str = "normal",
    ) -> None:
        self.variant = variant
        self.max_iter = max_iter
        self.tol = tol
        self.n_steps = n_steps
        self.burn_in = burn_in
        self.thin = thin
        self.init = init
        self.mismatch_rate = mismatch_rate
        self.mismatch_rate_max = mismatch_rate_max
        self.max_shift = max_shift
        self.alignment = alignment
        self.temper = temper
        self.ridge = ridge
        self.fit_intercept = fit_intercept
        self.covariance_type = covariance_type
        self.early_stopping = early_stopping
        self.validation_fraction = validation_fraction
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.streaming = streaming
        self.verbose = verbose
        self.callback = callback
        self.family = family

    def _fit(
        self, X: Any, y: Any, groups: Any, known: Any, match_prob: Any, match_features: Any
    ) -> Self:
        self._validate_params()
        source = find_source(self.streaming, X, y, groups, known)
        if source is None:
            return super()._fit(X, y, groups, known, match_prob, match_features)
        if match_features is not None or self.mismatch_rate_max is not None:
            raise ValueError(
                "match_features is not for data that are read in passes; use mismatch_rate, or fit "
                "a sample in memory"
            )
        if match_prob is not None:
            raise ValueError(
                "match_prob and rates per stratum are not for data that are read in passes; use "
                "one mismatch_rate, or fit a sample in memory"
            )
        return self._fit_in_passes(source)

    def _fit_in_passes(self, source: PassesSource) -> Self:
        """Fit data that may be larger than memory."""
        if self.early_stopping:
            raise ValueError(
                "early_stopping is not for data that are read in passes; leave it out, or fit a "
                "sample in memory"
            )
        streaming = self.streaming if isinstance(self.streaming, Streaming) else Streaming()
        n, d = source.shape
        if n <= d + self.fit_intercept:
            raise ValueError(
                f"there are {n} rows for {d} features; give more rows than coefficients"
            )
        streaming.checkpoint_file().check()
        settings = self._settings(self._seed(streaming), d)
        with source.parts(streaming, effective_n_jobs(self.n_jobs)) as parts:
            fit = fit_stochastic(
                InPasses(parts, streaming.checkpoint_file()),
                settings,
                reporting=reporting(self.verbose, self.callback),
            )
            fit = with_audit(
                fit, self.mismatch_rate, partial(refit_at, InPasses(parts), settings, fit)
            )
        blank = type(self)(**self.get_params(deep=False))
        record_features(blank, source)
        forget(self, blank)
        self.__dict__.pop("_problem", None)
        keep(self, fit, self._convergence_advice)
        return self

    def _compute(self, data: InMemory, seed: int) -> StochasticFit:
        settings = self._settings(seed, data.problem.X.shape[1])
        report = reporting(self.verbose, self.callback)
        if data.clues is not None and not self.early_stopping:
            return fit_clued(data, settings, reporting=report)
        if not self.early_stopping:
            fit = fit_stochastic(data, settings, reporting=report)
            given = data.strata or self.mismatch_rate
            return with_audit(fit, given, partial(refit_at, data, settings, fit))
        fit, path = fit_with_early_stopping(
            data, settings, float(self.validation_fraction), reporting=report
        )
        return replace(fit, validation_scores=path.scores)

    def _settings(self, seed: int, n_features: int) -> StochasticSettings:
        tol = open_setting(self.tol)
        return StochasticSettings(
            seed,
            variant=self.variant,
            max_iter=self.max_iter,
            tol=None if tol is None else float(tol),
            n_steps=open_setting(self.n_steps),
            burn_in=open_setting(self.burn_in),
            thin=open_setting(self.thin),
            init=check_init(self.init, n_features),
            mismatch_rate=rate_of(self.mismatch_rate),
            max_shift=self.max_shift,
            alignment=self.alignment,
            temper=float(self.temper),
            ridge=float(self.ridge),
            fit_intercept=self.fit_intercept,
            covariance=self.covariance_type,
        )

    def _refitting(self) -> StochasticSettings:
        """Settings of a fit to simulated labels: the same, from these coefficients."""
        return replace(self._settings(0, len(self.coef_)), init=self.coef_)

    def _seed(self, streaming: Streaming) -> int:
        """The seed; a fit without `random_state` that is resumed keeps the one it started with."""
        stored = None if self.random_state is not None else streaming.checkpoint_file().stored()
        return seed_from(self.random_state) if stored is None else stored.seed
