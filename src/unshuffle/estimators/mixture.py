"""The two-component mixture: labels that are the row's own, or anybody's."""

from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any, ClassVar, Self

from sklearn.utils._param_validation import Interval, StrOptions

from ..families.catalogue import REGRESSIONS
from ..fits.audited import rate_of
from ..fits.data import InMemory
from ..fits.mixture import fit_mixture
from ..fits.results import MixtureFit
from ..fits.settings import MixtureSettings
from ..inference.audited_rate import Audit
from ._base import BaseLinearRegressor
from ._family_dispatch import FamilyDispatch, refuse_strata
from ._mixture_inference import MixtureInference
from ._mixture_suspects import MixtureSuspects
from ._rates import GIVEN_RATES, given_strata


class MixtureRegressor(FamilyDispatch, MixtureInference, MixtureSuspects, BaseLinearRegressor):
    r"""Linear regression where some labels are not the row's own.

    A label is the row's own with probability :math:`1 - \alpha`, or drawn from the labels at
    large, whose density :math:`f` is estimated once by Gaussian kernels:

    .. math::

        p(y_i) = (1 - \alpha) N(y_i; b + x_i^\top w, s^2) + \alpha f(y_i).

    Coefficients, noise and :math:`\alpha` maximise this likelihood (EM from OLS and from Huber's
    regression; the higher one wins). It is the right tool when labels were lost or replaced. When
    they were *permuted*, `StochasticEMRegressor(mismatch_rate="estimate")` also knows that every
    label belongs to somebody.

    Parameters
    ----------
    mismatch_rate : "estimate", float, Audit or mapping, default="estimate"
        Share of labels that are not the row's own; a number, or the rate of an `Audit`, is kept as
        it is. A mapping has a number or an `Audit` per stratum, see `fit`.
    mismatch_rate_max : float, optional
        Bound on the mean rate of mismatches, for fits with `match_features`.
    max_iter : int, default=500
        Most EM iterations of each start.
    tol : float, default=1e-10
        Stop when the mean log density rises by less than this share of itself.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    noise : {"normal", "t", "mixture", "auto"}, default="normal"
        Law of the noise of own labels: normal, Student's t, or a mixture of up to three normals;
        "auto" chooses by the Bayesian information criterion. With another law than "normal" the
        density :math:`f` is the mean of the densities at all rows, tied to the model. Where the
        noise is far from normal the coefficients are more exact than least squares with known
        order.
    family : {"normal", "poisson", "gamma", "negative-binomial"}, default="normal"
        Law of the labels. Other families than normal have the log link, and a density :math:`f`
        tied to the model; they have `summary`, `conf_int`, `suspects` and `verdict_`, see
        `ShuffledRegressor`.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    noise_scale_ : float
        Standard deviation of the noise (maximum likelihood).
    r2_, r2_within_ : float
        Share of the variance of the labels that is explained: of all of them, and inside groups.
    mismatch_rate_ : float
        Share of labels that are not the row's own.
    match_proba_ : array of shape (n_samples,)
        Probability that the label of a row is its own.
    mean_log_density_ : float
        Mean log density of the labels under the model, the quantity that was maximised.
    match_model_ : MatchModel
        Who is mismatched: coefficients of the clues. Only with `match_features`.
    covariance_ : array of shape (k, k)
        Covariance of intercept (when there is one) and coefficients, from the observed
        information, jointly with noise and rate of mismatches or match model. Only for normal
        noise, as are the standard errors.
    coef_se_, standard_errors_ : array of shape (k,)
        Standard errors, the square roots of its diagonal.
    noise_scale_se_, mismatch_rate_se_ : float
        Standard errors of noise and rate; nan for a rate that was given.
    noise_ : {"normal", "t", "mixture"}
        Law of the noise.
    n_iter_ : int
        Iterations of the winning start.
    converged_ : bool
        Whether the tolerance was met.
    rank_ : int
        Rank of X, centred when there is an intercept.
    n_features_in_ : int
        Number of features seen during fit.
    feature_names_in_ : array of shape (`n_features_in_`,)
        Names of the features, where X had string column names.

    Notes
    -----
    An iteration costs O(n d²). With many features and few right labels the likelihood has high
    and narrow maxima that fit a few rows perfectly; the permutation model does not.

    References
    ----------
    M. Slawski, G. Diao and E. Ben-David, "A pseudo-likelihood approach to linear regression with
    partially shuffled data", Journal of Computational and Graphical Statistics 30, 2021.

    Examples
    --------
    >>> from unshuffle import MixtureRegressor
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(
    ...     500, 3, noise=0.3, shuffle="fraction", fraction=0.2, random_state=3
    ... )
    >>> model = MixtureRegressor().fit(data.X, data.y)
    >>> bool(abs(model.coef_ - data.coef).max() < 0.05)
    True
    >>> round(model.mismatch_rate_, 1)
    0.2
    >>> model.conf_int().shape
    (4, 2)
    """

    __metadata_request__fit: ClassVar = {
        "known": True, "match_prob": True, "match_features": True, "strata": True,
    }  # fmt: skip
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "mismatch_rate": [StrOptions({"estimate"}), *GIVEN_RATES],
        "mismatch_rate_max": [None, Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
        "noise": [StrOptions({"normal", "t", "mixture", "auto"})],
        "family": [StrOptions(set(REGRESSIONS))],
    }

    _convergence_advice = "raise max_iter or tol."
    _pairing_of_family = "mostly-right"

    def __init__(
        self,
        *,
        mismatch_rate: float | str | Audit | Mapping[Any, Any] = "estimate",
        mismatch_rate_max: float | None = None,
        max_iter: int = 500,
        tol: float = 1e-10,
        fit_intercept: bool = True,
        noise: str = "normal",
        family: str = "normal",
    ) -> None:
        self.mismatch_rate = mismatch_rate
        self.mismatch_rate_max = mismatch_rate_max
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept
        self.noise = noise
        self.family = family

    def fit(
        self,
        X: Any,
        y: Any,
        known: Any = None,
        match_prob: Any = None,
        match_features: Any = None,
        *,
        strata: Any = None,
        **beside: Any,
    ) -> Self:
        """Fit the model.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels, most of them beside their own row.
        known : array-like of bool of shape (n_samples,), optional
            True where the label is surely the row's own.
        match_prob : array-like of shape (n_samples,), optional
            Probability that each label is the row's own; takes the place of `mismatch_rate`.
        match_features : data frame or array-like of shape (n_samples, n_clues), optional
            Clues of whether a label is the row's own: numbers, or categories; values may be
            missing. The probability of an own label is logistic in them, and is estimated along
            (`match_model_`). The logit of `match_prob` is then an offset.
        strata : array-like of shape (n_samples,), optional
            Stratum of each row, for a `mismatch_rate` that is a mapping from strata.
        **beside
            `sample_weight`, `offset` and `exposure`, one number per row each, see
            `ShuffledRegressor`.

        Returns
        -------
        self : object
            The fitted estimator.
        """
        if self._wants_family(beside):
            self._refuse_clues(match_features)
            refuse_strata(strata)
            return self._fit_dispatched(X, y, None, known, match_prob, beside)
        match_prob = given_strata(
            self.mismatch_rate, strata, match_prob, match_features=match_features
        )
        return self._fit_in_memory(X, y, None, known, match_prob, match_features=match_features)

    def _compute(self, data: InMemory, seed: int) -> MixtureFit:
        estimates = rate_of(self.mismatch_rate) == "estimate"
        settings = MixtureSettings(
            None if estimates else float(rate_of(self.mismatch_rate)),
            self.max_iter,
            self.tol,
            self.fit_intercept,
            self.noise,
        )
        return fit_mixture(data, settings)
