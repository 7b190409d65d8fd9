"""Standard errors, intervals and summary of a mixture, from its observed information."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..inference.intervals import Estimates, check_level, from_logit, to_logit
from ..io.frames import feature_names
from ..kernels.types import FloatArray
from ..show.summary import Summary
from ._only_normal import only_normal

METHODS = ("auto", "information")
COVARIANCES = ("auto", "model")


class MixtureInference:
    """What can be said of the coefficients of a mixture with normal noise."""

    coef_: FloatArray
    intercept_: float
    noise_scale_: float
    noise_scale_se_: float
    mismatch_rate_: float
    mismatch_rate_se_: float
    covariance_: FloatArray
    standard_errors_: FloatArray
    r2_: float
    fit_intercept: bool
    _found: Any

    def conf_int(self, level: float = 0.95, method: str = "auto") -> FloatArray:
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.
        method : {"auto", "information"}, default="auto"
            Both invert the observed information of coefficients, noise and mismatches.

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one.
        """
        self._check_mixture_method(method)
        return self._estimates().interval(level)

    def covariance(self, method: str = "auto") -> FloatArray:
        """Covariance of the coefficients, the intercept first when there is one.

        Parameters
        ----------
        method : {"auto", "information"}, default="auto"
            See `conf_int`.

        Returns
        -------
        covariance : array of shape (n_coefficients, n_coefficients)
        """
        self._check_mixture_method(method)
        return self.covariance_.copy()

    @only_normal
    def noise_scale_interval(self, level: float = 0.95, method: str = "auto") -> FloatArray:
        """Confidence interval of the noise, on the scale of its logarithm.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.
        method : {"auto", "information"}, default="auto"
            See `conf_int`.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both positive.
        """
        self._check_mixture_method(method)
        error = self.noise_scale_se_ / self.noise_scale_
        return np.exp(self._interval(float(np.log(self.noise_scale_)), error, level))

    def mismatch_rate_interval(self, level: float = 0.95, method: str = "auto") -> FloatArray:
        """Confidence interval of the rate of mismatches, on the scale of its logit.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.
        method : {"auto", "information"}, default="auto"
            See `conf_int`.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both between 0 and 1.
        """
        self._check_mixture_method(method)
        rate, error = self.mismatch_rate_, self.mismatch_rate_se_
        if np.isnan(error):
            raise ValueError(
                "no single rate of mismatches was estimated, so it has no interval; fit with "
                "mismatch_rate='estimate', and without match_prob and match_features"
            )
        around = self._interval(float(to_logit(np.array(rate))), error / (rate * (1 - rate)), level)
        return from_logit(around)

    def summary(self, level: float = 0.95, covariance: str = "auto") -> Summary:
        """Table of coefficients beside least squares on the labels as given.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        covariance : {"auto", "model"}, default="auto"
            Standard errors: both are from the information.

        Returns
        -------
        summary : Summary
            Prints as text, shows as HTML in a notebook; has `to_frame`, `to_latex`, `to_dict`.
        """
        self._check_mixture_method("auto")
        check_level(level)
        if covariance not in COVARIANCES:
            raise ValueError(f"covariance must be 'auto' or 'model', got {covariance!r}")
        names = feature_names(getattr(self, "feature_names_in_", None), len(self.coef_))
        return Summary(
            ["(intercept)", *names] if self.fit_intercept else names,
            self._estimates(),
            self._found.as_given,
            self._facts(),
            None,
            level,
            getattr(self, "_library", None),
            getattr(self, "match_model_", None),
        )

    def _facts(self) -> dict[str, str]:
        return {
            "method": type(self).__name__,
            "rows": f"{self._found.design.n_rows}",
            "noise": f"{self.noise_scale_:.4g}{_error(self.noise_scale_se_)}",
            "R squared": f"{self.r2_:.3f}",
            "mismatched": f"{self.mismatch_rate_:.1%}{_error(self.mismatch_rate_se_)}",
            "standard errors": "model",
        }

    def _estimates(self) -> Estimates:
        values = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        return Estimates(values, self.standard_errors_, self._found.design.freedom)

    def _interval(self, value: float, error: float, level: float) -> FloatArray:
        around = Estimates(np.array([value]), np.array([error]), self._found.design.freedom)
        ends: FloatArray = around.interval(level)[0]
        return ends

    def _check_mixture_method(self, method: str) -> None:
        """Name what was asked for and cannot be had."""
        check_is_fitted(self)
        if method not in METHODS:
            raise ValueError(
                f"method must be 'auto' or 'information' for a mixture, got {method!r}; "
                "ShuffledRegressor has the sandwich, the bootstrap and the posterior"
            )


def _error(value: float) -> str:
    return "" if np.isnan(value) else f" (se {value:.2g})"
