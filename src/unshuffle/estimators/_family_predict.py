"""Predictions and scores of regressors that also take other families than the normal one."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..families.catalogue import FAMILIES
from ..fits.glm.hard import HardFamilyFit
from ..fits.glm.results import FamilyFit
from ..kernels.types import FloatArray
from ..metrics.given import finite_vector
from ._family_data import check_offset, check_weights
from ._validation import check_rows

BESIDE_ROWS = ("sample_weight", "offset", "exposure")


class FamilyPrediction:
    """Which way a fit goes, and expected labels of either."""

    family: str = "normal"
    _found: Any

    def _wants_family(self, beside: dict[str, Any]) -> bool:
        """Whether this fit is one of the families' engine: another family, weights or offsets."""
        wrong = set(beside) - set(BESIDE_ROWS)
        if wrong:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument "
                f"{sorted(wrong)[0]!r}"
            )
        refuse_other_estimators(self.family)
        return self.family != "normal" or any(value is not None for value in beside.values())

    @property
    def _has_family(self) -> bool:
        return isinstance(getattr(self, "_found", None), FamilyFit | HardFamilyFit)

    def predict(
        self, X: Any, interval: float | None = None, *, offset: Any = None, exposure: Any = None
    ) -> Any:
        """Predict the expected labels of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        interval : float, optional
            A share such as 0.95: intervals that hold so many of the labels of new rows are returned
            too. They include the error of the coefficients, and assume normal noise.
        offset, exposure : array-like of shape (n_samples,), optional
            Of these rows, for fits with weights, offsets, or another family than normal.

        Returns
        -------
        y : array of shape (n_samples,)
        ends : array of shape (n_samples, 2)
            Lower and upper ends of the intervals; only if `interval` is given.
        """
        if not self._has_family:
            if offset is not None or exposure is not None:
                check_is_fitted(self)
                raise ValueError("offset and exposure are for fits that were given one")
            return super().predict(X, interval)  # type: ignore[misc]
        if interval is not None:
            raise ValueError(
                "intervals of predictions are for family='normal' without weights and offsets"
            )
        return FAMILIES[self._found.family].mean(linear_predictor(self, X, offset, exposure))

    def score(self, X: Any, y: Any, sample_weight: Any = None, groups: Any = None) -> float:
        """Score labels; larger is better, 1 is perfect, 0 is what ignoring the features gives.

        For the normal family see `ShuffledRegressor`; for others the share of the deviance that is
        explained, of labels in known order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : array-like of shape (n_samples,)
        sample_weight : array-like of shape (n_samples,), optional
        groups : array-like of shape (n_samples,), optional
            Labels may stand in any order inside each group; for the normal family.

        Returns
        -------
        score : float
        """
        if not self._has_family:
            return float(super().score(X, y, sample_weight, groups))  # type: ignore[misc]
        if groups is not None:
            raise ValueError("groups are for scores of family='normal'; leave them out")
        fit = self._found
        family, labels = FAMILIES[fit.family], finite_vector(y, "y")
        weights = check_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if weights is None else weights
        mean = np.full(len(labels), float(np.average(labels, weights=weights)))
        ours = weights @ family.deviance(labels, self.predict(X), fit.precision)
        return float(1.0 - ours / (weights @ family.deviance(labels, mean, fit.precision)))


def linear_predictor(model: Any, X: Any, offset: Any = None, exposure: Any = None) -> FloatArray:
    """Linear predictor of new rows; offsets belong to rows and are not part of the model."""
    check_is_fitted(model)
    fit, rows = model._found, check_rows(model, X)
    shift = check_offset(offset, exposure, len(rows))
    eta: FloatArray = rows @ fit.coef + fit.intercept
    if not np.isfinite(eta).all():
        raise ValueError(
            f"the prediction of row {int(np.argmin(np.isfinite(eta)))} is too large for a "
            "number; check the units of X"
        )
    return eta if shift is None else eta + shift


def refuse_other_estimators(family: Any) -> None:
    """Name the estimator of a family that has one of its own."""
    own = {"bernoulli": "ShuffledClassifier", "cox": "ShuffledCoxRegressor"}
    if isinstance(family, str) and family in own:
        raise ValueError(
            f"family={family!r} has an estimator of its own: use {own[family]}; families of this "
            "one are 'normal', 'poisson', 'gamma' and 'negative-binomial'"
        )


def refuse_settings(model: Any, refused: dict[str, str]) -> None:
    """Name a setting that means nothing to another family, and what to use instead.

    `refused` has the names of settings that must have their default, with what to do.
    """
    defaults, given = type(model)().get_params(), model.get_params()
    for name, advice in refused.items():
        if name in given and given[name] != defaults[name]:
            raise ValueError(
                f"{name}={given[name]!r} is for family='normal' without weights and offsets; "
                f"{advice} for family={model.family!r}"
            )
