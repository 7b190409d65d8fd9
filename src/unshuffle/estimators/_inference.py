"""Standard errors and intervals of a fitted estimator."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..em import start_from_labels
from ..inference.information import Covariance, louis_covariance
from ..inference.intervals import Estimates
from ..inference.verdict import Verdict
from ..least_squares import LeastSquares
from ..problem import FloatArray
from ..summary import Summary
from ._base import Task


def told_of_uncertainty(
    uncertainty: Covariance | None, noise_scale: float, rate: float, fit_intercept: bool, d: int
) -> dict[str, Any]:
    """Fitted attributes that a covariance gives rise to; nan where there is none."""
    size = d + fit_intercept
    if uncertainty is None:
        return {
            "covariance_": np.full((size, size), np.nan),
            "standard_errors_": np.full(size, np.nan),
            "noise_scale_se_": float("nan"),
            "mismatch_rate_se_": float("nan"),
            "information_left_": float("nan"),
            "error_inflation_": float("nan"),
        }
    covariance = uncertainty.coef if fit_intercept else uncertainty.coef[1:, 1:]
    return {
        "covariance_": covariance,
        "standard_errors_": np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        # The delta method leads from the logarithm and the logit to the scale people read.
        "noise_scale_se_": noise_scale * uncertainty.log_noise**0.5,
        "mismatch_rate_se_": rate * (1.0 - rate) * uncertainty.logit_rate**0.5,
        "information_left_": uncertainty.information_left,
        "error_inflation_": uncertainty.inflation,
    }


def labels_as_given(task: Task) -> Estimates | None:
    """Least squares on the labels as given; None where rows and labels came as two tables."""
    if not task.side_by_side:
        return None
    problem = task.problem
    solver = LeastSquares(problem.X, fit_intercept=task.solver.fit_intercept)
    state = start_from_labels(problem, solver, problem.y)
    nothing_lost = np.empty((0, solver.rank + 2))
    covariance = louis_covariance(problem, solver, state.noise_scale, nothing_lost, None).coef
    values = np.append(state.intercept, state.coef)
    first = 0 if solver.fit_intercept else 1
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Estimates(values[first:], errors[first:], problem.n_rows - solver.n_parameters)


class InferenceMethods:
    """Intervals for estimators that keep a covariance."""

    coef_: FloatArray
    intercept_: float
    standard_errors_: FloatArray
    noise_scale_: float
    noise_scale_se_: float
    mismatch_rate_se_: float
    expected_labels_: FloatArray
    n_groups_: int
    fit_intercept: bool
    _freedom: int
    _as_given: Estimates | None

    def conf_int(self, level: float = 0.95, method: str = "information") -> FloatArray:
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.
        method : {"information"}, default="information"
            "information" inverts the observed information (Louis' formula), in which the lost
            order counts as missing data. It describes the optimum that was found; whether that
            is the right one is another question.

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one; nan for fits that do not
            follow the model (a ridge, a temper other than one).
        """
        check_is_fitted(self)
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is a share between 0 and 1, such as 0.95; got {level}")
        if method != "information":
            raise ValueError(f"method must be 'information', got {method!r}")
        return self._estimates().interval(level)

    def summary(self, level: float = 0.95) -> Summary:
        """Table of coefficients beside least squares on the labels as given, verdict first.

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
        if not hasattr(self, "standard_errors_"):
            raise ValueError("variant='published' has no standard errors; fit variant='exact'")
        found = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(len(self.coef_))] if found is None else list(found)
        if self.fit_intercept:
            names.insert(0, "(intercept)")
        verdict: Verdict | None = getattr(self, "verdict_", None)
        return Summary(names, self._estimates(), self._as_given, self._facts(), verdict, level)

    def _facts(self) -> dict[str, str]:
        noise = f"{self.noise_scale_:.4g}"
        if not np.isnan(self.noise_scale_se_):
            noise += f" (se {self.noise_scale_se_:.2g})"
        facts = {"method": type(self).__name__}
        pairing = getattr(self, "pairing_", None)
        if pairing is not None:
            facts["pairing"] = str(pairing)
        facts |= {
            "rows": f"{len(self.expected_labels_)}",
            "groups": f"{self.n_groups_}",
            "noise": noise,
        }
        rate = getattr(self, "mismatch_rate_", None)
        if rate is not None and pairing != "lost":
            error = (
                "" if np.isnan(self.mismatch_rate_se_) else f" (se {self.mismatch_rate_se_:.2g})"
            )
            facts["mismatched"] = f"{rate:.1%}{error}"
        return facts

    def _estimates(self) -> Estimates:
        values = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        return Estimates(values, self.standard_errors_, self._freedom)
