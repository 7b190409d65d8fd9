"""The two-component mixture: labels that are the row's own, or anybody's."""

from numbers import Integral, Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils._param_validation import Interval, StrOptions

from ..families.least_squares import LeastSquares
from ..search.robust import fit_mixture
from ._base import LinearPrediction, check_enough_rows, warn_not_converged, warn_rank
from ._notebook import NotebookMethods
from ._validation import build_problem


class MixtureRegressor(NotebookMethods, LinearPrediction, RegressorMixin, BaseEstimator):  # type: ignore[misc]
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
    mismatch_rate : "estimate" or float, default="estimate"
        Share of labels that are not the row's own; a number is kept as it is.
    max_iter : int, default=500
        Most EM iterations of each start.
    tol : float, default=1e-10
        Stop when the mean log density rises by less than this share of itself.
    fit_intercept : bool, default=True
        Whether to fit an intercept.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Coefficients.
    intercept_ : float
        Intercept.
    noise_scale_ : float
        Standard deviation of the noise (maximum likelihood).
    mismatch_rate_ : float
        Share of labels that are not the row's own.
    match_proba_ : array of shape (n_samples,)
        Probability that the label of a row is its own.
    mean_log_density_ : float
        Mean log density of the labels under the model, the quantity that was maximised.
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
    """

    __metadata_request__fit: ClassVar = {"known": True, "match_prob": True}
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "mismatch_rate": [StrOptions({"estimate"}), Interval(Real, 0, 1, closed="neither")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "fit_intercept": ["boolean"],
    }

    def __init__(
        self,
        *,
        mismatch_rate: float | str = "estimate",
        max_iter: int = 500,
        tol: float = 1e-10,
        fit_intercept: bool = True,
    ) -> None:
        self.mismatch_rate = mismatch_rate
        self.max_iter = max_iter
        self.tol = tol
        self.fit_intercept = fit_intercept

    def fit(self, X: Any, y: Any, known: Any = None, match_prob: Any = None) -> Self:
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

        Returns
        -------
        self : object
            The fitted estimator.
        """
        self._validate_params()
        blank = type(self)(**self.get_params(deep=False))
        problem, probability = build_problem(blank, X, y, None, known, match_prob)
        check_enough_rows(problem, self.fit_intercept)
        solver = LeastSquares(problem.X, fit_intercept=self.fit_intercept)
        pinned = np.zeros(problem.n_rows)
        pinned[problem.n_movable :] = 1.0
        estimate = self.mismatch_rate == "estimate"
        mixture = fit_mixture(
            solver,
            problem.restore(problem.y),
            mismatch_rate=None if estimate else float(self.mismatch_rate),
            match_prob=None if probability is None else problem.restore(probability),
            known=problem.restore(pinned) == 1.0,
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._forget(blank)
        self.coef_ = mixture.coef
        self.intercept_ = mixture.intercept
        self.noise_scale_ = mixture.noise_scale
        self.mismatch_rate_ = mixture.mismatch_rate
        self.match_proba_ = mixture.match_proba
        self.mean_log_density_ = mixture.log_likelihood
        self.n_iter_ = mixture.n_iter
        self.converged_ = mixture.converged
        self.rank_ = solver.rank
        warn_rank(self, solver)
        if not mixture.converged:
            warn_not_converged(self, "raise max_iter or tol.")
        return self
