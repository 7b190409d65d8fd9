"""Yes/no labels when the pairing between rows and labels is lost, wholly or in part."""

from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets, type_of_target
from sklearn.utils.validation import column_or_1d

from ..families.bernoulli import BERNOULLI
from ..fits.glm.settings import GlmSettings
from ..inference.audited_rate import Audit
from ..io.frames import plain_column
from ..kernels.types import FloatArray
from ._family import FamilyMethods
from ._family_data import check_weights
from ._frames import take_frame
from ._notebook import NotebookMethods
from ._rates import family_rate
from ._seeding import seed_from
from ._validation import check_features_and_labels, check_lengths


class ShuffledClassifier(FamilyMethods, NotebookMethods, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    r"""Logistic regression when the pairing between rows and labels is lost, wholly or in part.

    The model is :math:`P(y = 1 \mid x) = 1 / (1 + e^{-b - x^\top w})` for the label of a row. `fit`

    1. tests whether the order given carries information (inside groups);
    2. where it does, takes each label as the row's own, or as that of any row of its group; the
       share of the latter is estimated with the coefficients, by maximum likelihood;
    3. where it does not, uses of each group the number of its labels alone, with the exact
       distribution of that number. Groups must differ in their features, and be many; otherwise the
       verdict is "reject", and the coefficients are those of the labels as given.

    Parameters
    ----------
    pairing : {"auto", "lost", "mostly-right", "known"}, default="auto"
        What is assumed of the order given. "auto" tests it.
    mismatch_rate : float, Audit or "estimate", default="estimate"
        Share of rows that do not hold their own label, where the order is mostly right. An `Audit`
        of checked links adds its uncertainty to the standard errors.
    fit_intercept : bool, default=True
        Whether to fit an intercept.
    random_state : int, RandomState or None, default=None
        Kept for pipelines; a fit of yes/no labels draws nothing.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Log odds ratios.
    intercept_ : float
        Intercept.
    classes_ : array of shape (2,)
        The two labels; probabilities of the second are modelled.
    verdict_ : Verdict
        Whether the fit can be trusted: `level` ("trust", "caution" or "reject") and `reasons`.
    pairing_ : {"lost", "mostly-right", "known"}
        What the order given was taken for.
    pairing_pvalue_ : float
        p-value of the labels as given against labels shuffled inside groups.
    mismatch_rate_, mismatch_rate_se_ : float
        Expected share of rows whose label is not their own, and its standard error.
    match_proba_ : array of shape (n_samples,)
        Probability that the label given beside a row is its own.
    covariance_ : array of shape (k, k)
        Covariance of intercept (when there is one) and coefficients.
    standard_errors_ : array of shape (k,)
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

    Notes
    -----
    With yes/no labels the rate of mismatches shows in one thing only: how far probabilities stay
    away from 0 and 1. Its error, and with it that of the coefficients, is large where features
    hardly predict; give an `Audit` of links checked by hand where there is one.

    Examples
    --------
    >>> import numpy as np
    >>> from unshuffle import ShuffledClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(2000, 2))
    >>> ill = rng.random(2000) < 1 / (1 + np.exp(-X @ [2.0, -1.0]))
    >>> ill[:400] = ill[:400][rng.permutation(400)]  # a fifth is linked wrongly
    >>> model = ShuffledClassifier().fit(X, np.where(ill, "ill", "well"))
    >>> [str(name) for name in model.classes_]
    ['ill', 'well']
    >>> bool(abs(model.mismatch_rate_ - 0.2) < 0.1)
    True
    """

    __metadata_request__fit: ClassVar = {
        "groups": True, "known": True, "match_prob": True, "offset": True,
    }  # fmt: skip
    _parameter_constraints: ClassVar[dict[str, list[Any]]] = {
        "pairing": [StrOptions({"auto", "lost", "mostly-right", "known"})],
        "mismatch_rate": [StrOptions({"estimate"}), Interval(Real, 0, 1, closed="neither"), Audit],
        "fit_intercept": ["boolean"],
        "random_state": ["random_state"],
    }
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        pairing: str = "auto",
        mismatch_rate: float | str | Audit = "estimate",
        fit_intercept: bool = True,
        random_state: Any = None,
    ) -> None:
        self.pairing = pairing
        self.mismatch_rate = mismatch_rate
        self.fit_intercept = fit_intercept
        self.random_state = random_state

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
        """Fit the model to rows and labels given side by side.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Features.
        y : array-like of shape (n_samples,)
            Labels of two classes; inside each group they may stand in any order.
        groups : array-like of shape (n_samples,), optional
            Any hashable label per row. Labels have moved only inside their group.
        known : array-like of bool of shape (n_samples,), optional
            True where the label given beside a row is surely its own.
        match_prob : array-like of shape (n_samples,), optional
            Probability that the label given beside a row is its own; takes the place of
            `mismatch_rate` and means that the order is mostly right.
        sample_weight : array-like of shape (n_samples,), optional
            How many rows each row stands for; not for labels in lost order.
        offset : array-like of shape (n_samples,), optional
            Added to the linear predictor of each row.

        Returns
        -------
        self : object
            The fitted estimator. A failed fit leaves an earlier one untouched.
        """
        self._validate_params()
        settings = GlmSettings(
            seed_from(self.random_state),
            pairing=self.pairing,
            **family_rate(self.mismatch_rate),
            fit_intercept=self.fit_intercept,
        )
        classes, codes = self._encode(X, y)
        weights = check_weights(sample_weight, len(codes))
        if weights is not None and len(np.unique(codes[weights > 0.0])) < 2:
            raise ValueError(
                "all rows with a positive sample_weight are of one class: there is nothing to fit"
            )
        self._fit_family(
            BERNOULLI, settings, X, codes, groups, known, match_prob,
            sample_weight=sample_weight, offset=offset,
        )  # fmt: skip
        self.classes_ = classes
        return self

    def _encode(self, X: Any, y: Any) -> tuple[NDArray[Any], FloatArray]:
        """The two classes, and labels as 0 and 1."""
        if y is None:
            raise ValueError("ShuffledClassifier requires y to be passed, but the target y is None")
        labels = column_or_1d(plain_column(y), warn=True)
        check_lengths(X, labels, None)
        blank = type(self)(**self.get_params(deep=False))
        features = take_frame(blank, X, y=y)
        check_features_and_labels(blank, features, np.arange(len(labels), dtype=np.float64))
        classes, codes = _distinct(labels)
        with np.errstate(invalid="ignore"):  # it casts numbers of any size to integers
            check_classification_targets(labels)
        if len(classes) > 2:
            raise ValueError(
                "Only binary classification is supported. The type of the target is "
                f"{type_of_target(labels)}: there are {len(classes)} classes, such as "
                f"{', '.join(repr(c) for c in classes[:3].tolist())}; fit two at a time, or counts "
                "with ShuffledRegressor(family='poisson')"
            )
        if len(classes) < 2:
            raise ValueError(
                f"all {len(labels)} labels are {classes.tolist()[0]!r}: there is only one class, "
                "and nothing to fit; check that y is the right column"
            )
        return classes, codes.astype(np.float64)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Share of labels that are predicted right, of labels in known order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional

        Returns
        -------
        score : float
        """
        return float(super().score(X, y, sample_weight))

    def decision_function(self, X: Any) -> FloatArray:
        """Log odds of the second class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        log_odds : array of shape (n_samples,)
        """
        return self._linear_predictor(X)

    def predict_proba(self, X: Any) -> FloatArray:
        """Probability of each class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        probability : array of shape (n_samples, 2)
            In the order of `classes_`.
        """
        log_odds = self.decision_function(X)
        return np.column_stack([expit(-log_odds), expit(log_odds)])

    def predict(self, X: Any) -> NDArray[Any]:
        """The more probable class.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        y : array of shape (n_samples,)
        """
        likely = (self.decision_function(X) > 0.0).astype(int)
        found: NDArray[Any] = self.classes_[likely]
        return found

    def _labels_given(self) -> NDArray[Any]:
        codes = super()._labels_given().astype(int)
        labels: NDArray[Any] = self.classes_[codes]
        return labels

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags


def _distinct(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Distinct labels in their order, and the number of each label."""
    try:
        return np.unique(labels, return_inverse=True)
    except TypeError as error:
        kinds = list(dict.fromkeys(type(label).__name__ for label in labels.tolist()))
        raise ValueError(
            f"labels are of several kinds ({', '.join(kinds[:3])}) and have no order; give all as "
            "text or all as numbers, and drop rows without a label"
        ) from error
