"""Times to an event when some rows hold the time of another row."""

from numbers import Real
from typing import Any, ClassVar, Self

from sklearn.base import BaseEstimator
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from ..families.cox import check_times, concordance
from ..fits.glm.results import Baseline
from ..fits.glm.settings import GlmSettings
from ..inference.audited_rate import Audit
from ..kernels.types import FloatArray
from ._family import FamilyMethods
from ._family_data import split_times
from ._notebook import NotebookMethods
from ._rates import family_rate


class ShuffledCoxRegressor(FamilyMethods, NotebookMethods, BaseEstimator):  # type: ignore[misc]
    r"""Cox's model where some rows hold the time and event of another row.

    The hazard of a row is :math:`h_0(t)\, e^{x^\top w}` with a free baseline (Breslow's). A row
    holds its own time and event, or those of any row of its group; the share of the latter is
    estimated with coefficients and baseline, by maximum likelihood. Censoring must not depend on
    the features.

    Parameters
    ----------
    pairing : {"auto", "mostly-right", "known"}, default="auto"
        What is assumed of the order given. "auto" tests it, and refuses times whose order says
        nothing about the rows.
    mismatch_rate : float, Audit or "estimate", default="estimate"
        Share of rows that do not hold their own time. An `Audit` of checked links adds its
        uncertainty to the standard errors.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Log hazard ratios.
    intercept_ : float
        Minus the linear predictor of average features, so that the baseline is that of an average
        row.
    baseline_hazard_ : array of shape (n_events,)
        Jumps of the baseline hazard at `event_times_`.
    event_times_ : array of shape (n_events,)
        Distinct times with an event.
    verdict_ : Verdict
        Whether the fit can be trusted: `level` ("trust", "caution" or "reject") and `reasons`.
    pairing_ : {"mostly-right", "known"}
        What the order given was taken for.
    pairing_pvalue_ : float
        p-value of the times as given against times shuffled inside groups.
    mismatch_rate_, mismatch_rate_se_ : float
        Expected share of rows whose time is not their own, and its standard error.
    match_proba_ : array of shape (n_samples,)
        Probability that the time given beside a row is its own.
    covariance_ : array of shape (n_features, n_features)
        Covariance of the coefficients, from the curvature of the profile likelihood.
    standard_errors_ : array of shape (n_features,)
        Square roots of its diagonal.
    information_kept_, error_inflation_ : float
        Smallest fraction of the information kept, and standard errors as a multiple of those with
        known order.
    n_iter_ : int
        Iterations.
    converged_ : bool
        Whether they converged.
    n_groups_, rank_ : int
        Number of groups, and rank of X.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the features, where X had string column names.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import ShuffledCoxRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(1000, 2))
    >>> time = rng.exponential(np.exp(-X @ [1.0, -0.5]))
    >>> y = np.column_stack([time < 3, np.minimum(time, 3)])  # event, time
    >>> y[:200] = y[:200][rng.permutation(200)]  # a fifth is linked wrongly
    >>> model = ShuffledCoxRegressor().fit(X, y)
    >>> bool(abs(model.coef_ - [1.0, -0.5]).max() < 0.2)
    True
    """

    __metadata_request__fit: ClassVar = {
        "groups": True, "known": True, "match_prob": True, "offset": True,
    }  # fmt: skip
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "pairing": [StrOptions({"auto", "mostly-right", "known"})],
        "mismatch_rate": [StrOptions({"estimate"}), Interval(Real, 0, 1, closed="neither"), Audit],
    }
    fit_intercept = False
    baseline_hazard_: FloatArray
    event_times_: FloatArray

    def __init__(
        self, *, pairing: str = "auto", mismatch_rate: float | str | Audit = "estimate"
    ) -> None:
        self.pairing = pairing
        self.mismatch_rate = mismatch_rate

    def fit(
        self,
        X: Any,
        y: Any,
        groups: Any = None,
        known: Any = None,
        match_prob: Any = None,
        sample_weight: Any = None,
        offset: Any = None,
    ) -> Self:
        """Fit the model to rows and times given side by side.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : structured array of shape (n_samples,), or array-like of shape (n_samples, 2)
            Event (True, or False for a censored time) and time, in this order; a structured array
            as scikit-survival has it, or two columns.
        groups : array-like of shape (n_samples,), optional
            Any hashable label per row. Times have moved only inside their group.
        known : array-like of bool of shape (n_samples,), optional
            True where the time given beside a row is surely its own.
        match_prob : array-like of shape (n_samples,), optional
            Probability that the time given beside a row is its own; takes the place of
            `mismatch_rate`.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor of each row.

        Returns
        -------
        self : object
            The fitted estimator. A failed fit leaves an earlier one untouched.
        """
        self._validate_params()
        time, event = split_times(y)
        check_times(time, event)
        settings = GlmSettings(
            pairing=self.pairing,
            **family_rate(self.mismatch_rate),
            fit_intercept=False,
        )
        self._fit_family(
            None, settings, X, time, groups, known, match_prob,
            sample_weight=sample_weight, offset=offset, event=event,
        )  # fmt: skip
        self.baseline_hazard_ = self._baseline.hazard
        self.event_times_ = self._baseline.times
        return self

    @property
    def _baseline(self) -> Baseline:
        baseline = self._family_fit.baseline
        assert baseline is not None
        return baseline

    def predict(self, X: Any) -> FloatArray:
        """Risk score: log hazard ratio against a row of average features.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        risk : array of shape (n_samples,)
        """
        return self._linear_predictor(X)

    def predict_survival_function(self, X: Any, times: Any = None) -> FloatArray:
        """Probability of no event up to given times.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        times : array-like of shape (n_times,), optional
            By default `event_times_`.

        Returns
        -------
        survival : array of shape (n_samples, n_times)
            Constant after the last event of the fit, of which the data say nothing.
        """
        check_is_fitted(self)
        return self._baseline.survival(self.predict(X), times)

    def score(self, X: Any, y: Any) -> float:
        """Concordance of risk scores and times (Harrell's); 0.5 is guessing, 1 perfect.

        Times that were mismatched agree with no risk score, so that they lower it.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : structured array or array-like of shape (n_samples, 2)
            As in `fit`.

        Returns
        -------
        concordance : float
        """
        time, event = split_times(y)
        return concordance(time, event, self.predict(X))
