"""Linked labels with a known or audited rate of mismatches, and no law of the noise."""

from collections.abc import Mapping
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..data.problem import make_problem
from ..fits.moments import MomentFit, fit_moments
from ..fits.moments_passes import fit_moments_in_passes
from ..fits.results import standard_errors_of
from ..inference.audited_rate import Audit
from ..inference.intervals import check_level
from ..io.frames import feature_names, library_of, plain_column
from ..kernels.types import FloatArray
from ..show.summary import Summary
from ._attributes import forget, warn_rank
from ._base import BaseLinearRegressor, check_enough_rows
from ._frames import take_frame
from ._rates import exchange_of, one_rate
from ._sources import (
    arbitrary_groups,
    find_source,
    into_memory,
    reads_in_passes,
    record_features,
)
from ._validation import check_features_and_labels, check_lengths, check_match_prob
from .streaming import Streaming


class MomentRegressor(BaseLinearRegressor):
    r"""Linear regression on linked labels whose rate of mismatches is known or was audited.

    A row holds its own label with probability :math:`1 - q_i` and otherwise that of another row of
    its group, so that the labels as given have the mean

    .. math::

        E[y_i \mid X] = b + ((1 - q_i) x_i + q_i h_i)^\top w,

    where :math:`h_i` is the mean of the features over the other rows of the group (weighted by
    their own :math:`q_j`, where these differ: only labels that were lost can be found elsewhere).
    With :math:`E[A] X` for the matrix of the :math:`(1 - q_i) x_i + q_i h_i`, the equations

    .. math:: Z^\top (y - b - E[A] X w) = 0

    are unbiased whatever the law of the noise: skewed, heavy-tailed, or different between rows.
    In one group of n rows with rate r all methods give the slopes of ordinary least squares divided
    by :math:`1 - r n / (n - 1)`.

    Use it where the rate is known, or was found by checking some links (`Audit`), and where the
    likelihood fits (`ShuffledRegressor`, `StochasticEMRegressor`, `MixtureRegressor`) are not
    consistent with least squares. Where the noise is near normal they are more exact, since they
    find out which links are wrong; this estimator does not.

    Parameters
    ----------
    method : {"lahiri-larsen", "chambers", "ratio"}, default="lahiri-larsen"
        "lahiri-larsen" takes :math:`Z = E[A] X`: least squares of the labels on expected features.
        "chambers" takes :math:`Z = X`. "ratio" takes X less its group means: the slope inside
        groups divided by the share of it that the exchange leaves. It also holds where groups
        differ in ways that the features do not explain, and needs features that vary inside groups.
        They differ only where there are several groups or rates, or no intercept.
    mismatch_rate : float, Audit, mapping or None, default=None
        Share of the rows of this file that hold another row's label; rows that are alone in their
        group do not count. An `Audit` adds its uncertainty to the standard errors. A mapping holds
        a number or an `Audit` per group (or per stratum, see `fit`). None needs `match_prob`.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    streaming : {"auto", "never"} or Streaming, default="auto"
        Whether to read the data in passes instead of holding them in memory, see
        `StochasticEMRegressor`. In passes there is one rate for all rows.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    covariance_ : array of shape (k, k)
        Covariance of intercept (when there is one) and coefficients.
    covariance_type_ : {"robust"}
        It is a sandwich: of groups where there are 25 more of like size than parameters, else of
        rows (which is on the safe side where groups are few and differ in their features).
    standard_errors_ : array of shape (k,)
        Square roots of its diagonal.
    noise_scale_ : float
        Standard deviation of the noise.
    mismatch_rate_, mismatch_rate_se_ : float
        Share of rows that do not hold their own label, and its standard error by the audit.
    attenuation_ : float
        Smallest factor by which the mismatches shrink a direction of the coefficients.
    n_groups_ : int
        Number of groups.
    rank_ : int
        Rank of X, centred when there is an intercept.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the features, where X had string column names.

    Notes
    -----
    The covariance is :math:`(Z^\top E[A]X)^{-1} M (Z^\top E[A]X)^{-\top}`. M adds up the squared
    scores :math:`z_i (y_i - \hat y_i)` of the units, and the delta method's
    :math:`\mathrm{Var}(r)\, g g^\top` for every audited rate, with g the derivative of the
    equations by the rate. A rate is taken for the share of mismatches in this file, so that the
    variance of a share of independent draws, :math:`r (1 - r) / n`, is taken off.
    With `match_prob` every mismatch is a draw of its own.

    The cost is O(n d²). In passes, on this machine or on Dask, the data are read five or six times.

    References
    ----------
    P. Lahiri and M. D. Larsen, "Regression analysis with linked data", Journal of the American
    Statistical Association 100, 2005.

    R. Chambers, "Regression analysis of probability-linked data", Official Statistics Research
    Series 4, 2009.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import Audit, MomentRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     2000, 2, noise=1.0, shuffle="fraction", fraction=0.2, random_state=0
    ... )
    >>> model = MomentRegressor(mismatch_rate=Audit(checked=300, wrong=60)).fit(data.X, data.y)
    >>> interval = model.conf_int()[1:]
    >>> bool(((interval[:, 0] < data.coef) & (data.coef < interval[:, 1])).all())
    True
    """

    __metadata_request__fit: ClassVar = {"groups": True, "match_prob": True, "strata": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "method": [StrOptions({"lahiri-larsen", "chambers", "ratio"})],
        "mismatch_rate": [None, Interval(Real, 0, 1, closed="left"), Audit, Mapping],
        "fit_intercept": ["boolean"],
        "streaming": [StrOptions({"auto", "never"}), Streaming],
    }
    _moments: MomentFit
    covariance_: FloatArray
    standard_errors_: FloatArray

    def __init__(
        self,
        *,
        method: str = "lahiri-larsen",
        mismatch_rate: float | Audit | Mapping[Any, float | Audit] | None = None,
        fit_intercept: bool = True,
        streaming: Any = "auto",
    ) -> None:
        self.method = method
        self.mismatch_rate = mismatch_rate
        self.fit_intercept = fit_intercept
        self.streaming = streaming

    def fit(
        self, X: Any, y: Any, groups: Any = None, match_prob: Any = None, strata: Any = None
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, most of them beside their own row.
        groups : array-like of shape (n_samples,), optional
            Any hashable label per row. Labels were exchanged only inside their group (the blocks
            of the linkage). None means one group.
        match_prob : array-like of shape (n_samples,), optional
            Probability that each label is the row's own; takes the place of `mismatch_rate`.
        strata : array-like of shape (n_samples,), optional
            Stratum of each row, for a `mismatch_rate` that is a mapping from strata. Left out, the
            strata are the groups.

        Returns
        -------
        self : object
            The fitted estimator. An interrupted or failed fit leaves an earlier one untouched.
        """
        self._validate_params()
        if reads_in_passes(self.streaming, X):
            return self._fit_in_passes(X, y, groups, match_prob, strata)
        blank = type(self)(**self.get_params(deep=False))
        X, y, groups, match_prob, strata = into_memory(self, X, y, groups, match_prob, strata)
        if y is None:
            raise ValueError("MomentRegressor requires y to be passed, but the target y is None")
        library = library_of(X, y, groups)
        X = take_frame(blank, X, y=y, groups=groups, match_prob=match_prob, strata=strata)
        y, groups, match_prob, strata = map(plain_column, (y, groups, match_prob, strata))
        check_lengths(X, y, groups)
        rows, labels = check_features_and_labels(blank, X, y)
        n = len(labels)
        probability = check_match_prob(match_prob, n)
        exchange = exchange_of(self.mismatch_rate, n, groups, strata, probability)
        problem = make_problem(rows, labels, exchange.blocks, np.zeros(n, dtype=bool))
        check_enough_rows(problem, self.fit_intercept)
        with self._workers():  # one thread: more of them would change the rounding
            fit = fit_moments(rows, labels, exchange, self.method, fit_intercept=self.fit_intercept)
        forget(self, blank)
        self._library = library
        self._keep(fit)
        return self

    def _fit_in_passes(self, X: Any, y: Any, groups: Any, match_prob: Any, strata: Any) -> Self:
        """Fit data that may be larger than memory."""
        rate, variance = one_rate(self.mismatch_rate, match_prob, strata)
        streaming = self.streaming if isinstance(self.streaming, Streaming) else Streaming()
        # Where all rows are one group, any cut of them will do.
        cut = groups if groups is not None else arbitrary_groups(X, streaming.rows_per_part)
        source = find_source(streaming, X, y, cut, None)
        assert source is not None
        n, d = source.shape
        if n <= d + self.fit_intercept:
            raise ValueError(
                f"there are {n} rows for {d} features; give more rows than coefficients"
            )
        with source.parts(streaming, 1) as parts:
            fit = fit_moments_in_passes(
                parts, rate, variance, self.method,
                one_block=groups is None, fit_intercept=self.fit_intercept,
            )  # fmt: skip
        blank = type(self)(**self.get_params(deep=False))
        record_features(blank, source)
        forget(self, blank)
        self._library = None
        self._keep(fit)
        return self

    def _keep(self, fit: MomentFit) -> None:
        """Set every fitted attribute."""
        self._moments = fit
        self.coef_, self.intercept_ = fit.coef, fit.intercept
        self.covariance_, self.covariance_type_ = fit.covariance, "robust"
        self.standard_errors_ = standard_errors_of(fit.covariance)
        self.noise_scale_ = fit.noise_scale
        self.mismatch_rate_, self.mismatch_rate_se_ = fit.mismatch_rate, fit.mismatch_rate_se
        self.attenuation_ = fit.attenuation
        self.n_groups_, self.rank_ = fit.design.n_groups, fit.design.rank
        warn_rank(self, fit.design)

    def conf_int(self, level: float = 0.95) -> FloatArray:
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one.
        """
        check_is_fitted(self)
        return self._moments.estimates.interval(level)

    def stderr(self) -> FloatArray:
        """Standard errors of the coefficients, the intercept first when there is one.

        Returns
        -------
        errors : array of shape (n_coefficients,)
        """
        check_is_fitted(self)
        return self.standard_errors_.copy()

    def summary(self, level: float = 0.95) -> Summary:
        """Table of coefficients beside least squares on the labels as given.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.

        Returns
        -------
        summary : Summary
            Prints as text, shows as HTML in a notebook; has `to_frame`, `to_latex`, `to_dict`.
        """
        check_is_fitted(self)
        check_level(level)
        fit = self._moments
        names = feature_names(getattr(self, "feature_names_in_", None), len(self.coef_))
        if self.fit_intercept:
            names.insert(0, "(intercept)")
        audited = f" (se {fit.mismatch_rate_se:.2g})" if fit.mismatch_rate_se else ""
        facts = {
            "method": f"MomentRegressor ({self.method})",
            "rows": f"{fit.design.n_rows}",
            "groups": f"{fit.design.n_groups}",
            "noise": f"{fit.noise_scale:.4g}",
            "mismatched": f"{fit.mismatch_rate:.1%}{audited}",
            "standard errors": f"robust, from {fit.units}{', with the audit' if audited else ''}",
        }
        library = getattr(self, "_library", None)
        return Summary(names, fit.estimates, fit.as_given, facts, None, level, library)

    def _assumed_pairing(self) -> tuple[str, float]:
        """Without a law of the noise labels have no density: they are scored by R²."""
        return "known", 0.0

    def _compute(self, data: Any, seed: int) -> Any:
        raise NotImplementedError("MomentRegressor solves its equations in fit")
