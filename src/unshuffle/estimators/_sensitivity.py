"""What the coefficients would be if a given share of the labels were exchanged."""

from collections.abc import Callable, Sequence

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.problem import Problem
from ..fits.auto_results import AutoFit
from ..fits.results import StochasticFit
from ..inference.intervals import Estimates
from ..inference.mismatch_sensitivity import check_rates, estimates_by_rate
from ..io.frames import feature_names
from ..kernels.types import FloatArray
from ._attributes import Fit
from ._only_normal import only_normal
from ._sensitivity_result import SensitivityResult

RATES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)


class SensitivityMethods:
    """Coefficients against the rate of exchanged labels, for estimators that keep their data."""

    coef_: FloatArray
    intercept_: float
    mismatch_rate_: float
    fit_intercept: bool
    # Where these come from: the base class, and the methods of inference.
    _found: Fit
    _stochastic: StochasticFit
    _kept_problem: Callable[[], Problem]
    _estimates: Callable[[], Estimates]

    @only_normal
    def mismatch_sensitivity(self, rates: Sequence[float] = RATES) -> SensitivityResult:
        r"""Coefficients if given shares of the labels were exchanged at random inside groups.

        If each label that can move was exchanged with probability a, that is, stands beside a row
        of its group drawn at random, then

        .. math::

            E[y_i] = b + ( (1 - a)\, x_i + a\, \bar x_i )^\top w,

        where :math:`\bar x_i` is the mean of the features over the rows of the group of row i that
        can move; rows with a known label have a = 0. For each rate the labels as given are fitted
        by least squares on features averaged in this way. No law of the noise is assumed, and
        neither the fit nor its estimate of the rate is used.

        Use it to see which conclusions depend on the rate of mismatches. Where exchanges are not
        random inside the groups (similar rows are confused more often, or labels moved between
        groups), the answer is another one.

        Parameters
        ----------
        rates : sequence of float, default=(0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3)
            Shares of exchanged labels among those that can move, from 0 to below 1.

        Returns
        -------
        result : SensitivityResult
            `rates`, `coef` and `standard_errors` of shape (n_rates, k), the intercept first when
            there is one; `interval`, `to_frame`; prints as a table.

        Notes
        -----
        In one group, and with an intercept, the slopes at rate a are those of the labels as given
        divided by 1 - a. A label may return to its own row: in a group of m rows a share
        :math:`a (1 - 1/m)` stands beside another row. Standard errors are sandwich (HC1) ones
        at the given rate, which counts as known; that of the intercept is too large, because an
        exchange leaves the mean of the labels as it is. `match_prob`, `max_shift` and `ridge` of
        the fit play no role.

        References
        ----------
        Lahiri, P. and Larsen, M. D. (2005). Regression analysis with linked data. Journal of the
        American Statistical Association 100, 222-230.

        Examples
        --------
        >>> from unshuffle import ShuffledRegressor
        >>> from unshuffle.datasets import make_shuffled_regression
        >>> data = make_shuffled_regression(
        ...     300, 2, noise=0.3, shuffle="fraction", fraction=0.2, random_state=0
        ... )
        >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
        >>> result = model.mismatch_sensitivity(rates=(0, 0.2))
        >>> ratio = result.coef[1, 1:] / result.coef[0, 1:]  # of the slopes: 1 / (1 - 0.2)
        >>> ratio.round(6).tolist()
        [1.25, 1.25]
        """
        check_is_fitted(self)
        asked = check_rates(rates)
        fit = self._stochastic
        if fit.matches is None:
            raise ValueError(
                "mismatch_sensitivity needs the rows, and a fit that reads its data in passes does "
                "not keep them; fit a sample of whole groups in memory"
            )
        if isinstance(self._found, AutoFit) and fit.as_given is None:
            raise ValueError(
                "fit_unpaired takes labels without an order, so that there is no pairing of which "
                "a share could be wrong; mismatch_sensitivity is for fit(X, y)"
            )
        problem = self._kept_problem()
        found = estimates_by_rate(problem, asked, fit_intercept=self.fit_intercept)
        names = feature_names(getattr(self, "feature_names_in_", None), len(self.coef_))
        return SensitivityResult(
            ["(intercept)", *names] if self.fit_intercept else names,
            found.rates,
            found.coef,
            found.standard_errors,
            found.freedom,
            self._own_estimates(),
            self._exchange_rate(problem),
            getattr(self, "_library", None),
        )

    def _own_estimates(self) -> Estimates:
        if hasattr(self, "standard_errors_"):
            return self._estimates()
        # The published variant has no standard errors.
        values = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        missing = np.full(len(values), np.nan)
        return Estimates(values, missing, self._stochastic.design.freedom)

    def _exchange_rate(self, problem: Problem) -> float:
        """The share exchanged at random that leaves the fitted share beside another row.

        In a group of m rows one in m exchanged labels returns to its own row.
        """
        if not hasattr(self, "mismatch_rate_"):
            return float("nan")
        away = self.mismatch_rate_ * problem.n_rows
        return float(min(away / (problem.n_movable - problem.n_blocks), 1.0))
