"""Estimators of normal labels that also take other families: which way a call goes."""

from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from ..families.catalogue import FAMILIES
from ..fits.audited import rate_of
from ..fits.glm.results import FamilyFit
from ..fits.glm.settings import GlmSettings
from ..inference.audited_rate import Audit
from ..kernels.types import FloatArray
from ..metrics.given import finite_vector
from ..show.summary import Summary
from ._family import FamilyMethods, rate_setting
from ._family_data import check_weights

Method = TypeVar("Method", bound=Callable[..., object])
BESIDE_ROWS = ("sample_weight", "offset", "exposure")
ONLY_NORMAL = (
    "bootstrap", "posterior", "pair_probabilities", "noise_scale_interval",
    "mismatch_sensitivity",
)  # fmt: skip


def where_there(name: str) -> Callable[[Method], Method]:
    """A method that only some fits have: those of families, and estimators that define it."""

    def check(model: Any) -> bool:
        return model._has_family or hasattr(super(FamilyMethods, model), name)

    return cast(Callable[[Method], Method], available_if(check))


class FamilyDispatch(FamilyMethods):
    """Fits of other families go one way, those of normal labels the way they always went."""

    family: str = "normal"
    mismatch_rate: float | str | Audit | Mapping[Any, Any]
    _pairing_of_family: ClassVar[str | None] = None

    def _wants_family(self, beside: dict[str, Any]) -> bool:
        """Whether this fit is one of the families' engine: another family, weights or offsets."""
        wrong = set(beside) - set(BESIDE_ROWS)
        if wrong:
            raise TypeError(
                f"{type(self).__name__}.fit() got an unexpected keyword argument "
                f"{sorted(wrong)[0]!r}"
            )
        return self.family != "normal" or any(value is not None for value in beside.values())

    def _refuse_clues(self, match_features: Any) -> None:
        if match_features is not None:
            raise ValueError(
                f"match_features are for family='normal' without weights and offsets, not for "
                f"family={self.family!r}; give match_prob"
            )

    def _fit_dispatched(
        self, X: Any, y: Any, groups: Any, known: Any, match_prob: Any, beside: dict[str, Any]
    ) -> Self:
        model: Any = self
        model._validate_params()
        for name in ("search", "temper", "ridge", "noise", "alignment", "n_candidates"):
            default = type(model)().get_params().get(name)
            if model.get_params().get(name) != default:
                raise ValueError(
                    f"{name}={model.get_params()[name]!r} is for family='normal' without weights "
                    f"and offsets; leave it out for family={self.family!r}"
                )
        if isinstance(self.mismatch_rate, Mapping):
            raise ValueError(
                "a mismatch_rate per stratum is for family='normal' without weights and offsets; "
                "give match_prob, whose uncertainty the standard errors leave out"
            )
        settings = GlmSettings(
            model._draw_seed(),
            pairing=self._pairing_of_family or model.pairing,
            mismatch_rate=rate_setting(rate_of(self.mismatch_rate)),
            audit=self.mismatch_rate if isinstance(self.mismatch_rate, Audit) else None,
            fit_intercept=self.fit_intercept,
        )
        with model._workers() as workers:
            return self._fit_family(
                FAMILIES[self.family], settings, X, y, groups, known, match_prob,
                workers=workers, **beside,
            )  # fmt: skip

    @property
    def _has_family(self) -> bool:
        return isinstance(getattr(self, "_found", None), FamilyFit)

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
        return FAMILIES[self._family_fit.family].mean(self._linear_predictor(X, offset, exposure))

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
        fit = self._family_fit
        family, labels = FAMILIES[fit.family], finite_vector(y, "y")
        weights = check_weights(sample_weight, len(labels))
        weights = np.ones(len(labels)) if weights is None else weights
        mean = np.full(len(labels), float(np.average(labels, weights=weights)))
        ours = weights @ family.deviance(labels, self.predict(X), fit.precision)
        return float(1.0 - ours / (weights @ family.deviance(labels, mean, fit.precision)))

    @where_there("conf_int")
    def conf_int(self, level: float = 0.95, method: str = "auto", **options: Any) -> FloatArray:
        """Confidence intervals of the coefficients; see `ShuffledRegressor`."""
        if self._has_family:
            self._refuse_options(options)
            return super().conf_int(level, method)
        found: FloatArray = self._beyond.conf_int(level, method, **options)
        return found

    @where_there("covariance")
    def covariance(self, method: str = "auto") -> FloatArray:
        """Covariance of the coefficients; see `conf_int`."""
        found: FloatArray
        found = super().covariance(method) if self._has_family else self._beyond.covariance(method)
        return found

    @where_there("mismatch_rate_interval")
    def mismatch_rate_interval(
        self, level: float = 0.95, method: str = "auto", **options: Any
    ) -> FloatArray:
        """Confidence interval of the rate of mismatches; see `conf_int`."""
        if self._has_family:
            self._refuse_options(options)
            return super().mismatch_rate_interval(level)
        found: FloatArray = self._beyond.mismatch_rate_interval(level, method, **options)
        return found

    @where_there("summary")
    def summary(
        self, level: float = 0.95, covariance: str = "auto", *, ratios: bool = False
    ) -> Summary:
        """Table of coefficients beside those of the labels as given, verdict first.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        covariance : {"auto", "model", "robust"}, default="auto"
            Standard errors: those of the fit, from the information, or from the sandwich; for
            other families than normal those of the fit.
        ratios : bool, default=False
            Show exponentials of the coefficients, for families whose coefficients are logs.

        Returns
        -------
        summary : Summary
            Prints as text, shows as HTML in a notebook; has `to_frame`, `to_latex`, `to_dict`.
        """
        if self._has_family:
            if covariance != "auto":
                raise ValueError(
                    "covariance is for family='normal'; conf_int(method='sandwich') has robust "
                    "intervals of other families"
                )
            return super().summary(level, ratios=ratios)
        if ratios:
            raise ValueError("coefficients of family 'normal' are not logs of ratios")
        found: Summary = self._beyond.summary(level, covariance)
        return found

    @where_there("suspects")
    def suspects(self, threshold: float = 0.5, *, n_partners: int = 3, id: Any = None) -> Any:
        """Rows whose label is probably not their own, or far off, and whose it may be instead.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding a label that is their own and not far off
            are listed.
        n_partners : int, default=3
            Most partners named for each row; none for other families than normal.
        id : array-like of shape (n_samples,), optional
            Names of the rows, for normal labels.

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first.
        """
        if self._has_family:
            return super().suspects(threshold)
        return self._beyond.suspects(threshold, n_partners=n_partners, id=id)

    def __getattribute__(self, name: str) -> Any:
        """Name the methods that only fits of normal labels have."""
        if name in ONLY_NORMAL and isinstance(self.__dict__.get("_found"), FamilyFit):
            raise AttributeError(
                f"a fit of family {self.__dict__['_found'].family!r} (or with weights or offsets) "
                f"has no {name}; conf_int and mismatch_rate_interval have intervals"
            )
        return super().__getattribute__(name)

    @property
    def _beyond(self) -> Any:
        """The estimator of normal labels, behind the methods of families."""
        check_is_fitted(self)
        return super(FamilyMethods, self)

    @staticmethod
    def _refuse_options(options: dict[str, Any]) -> None:
        if options:
            raise ValueError(
                f"fits of families take no further options, got {', '.join(sorted(options))}"
            )
