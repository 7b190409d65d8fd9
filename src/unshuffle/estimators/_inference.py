"""Standard errors and intervals of a fitted estimator."""

from typing import Any

import numpy as np
from joblib import effective_n_jobs
from sklearn.utils.validation import check_is_fitted

from ..alignment.chain import Chain
from ..alignment.sampled import SampledAlignment
from ..data.threads import Workers
from ..em.information import SWEEPS_PER_SNAPSHOT, Covariance, louis_covariance
from ..em.loop import start_from_labels
from ..families.least_squares import LeastSquares
from ..inference.intervals import Estimates, from_logit, to_logit
from ..inference.sandwich import Robust, check_units, expect, nothing_lost, sandwich, unit_codes
from ..inference.verdict import Verdict
from ..kernels.streams import FIRST_SANDWICH
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..show.summary import Summary
from ._base import Task
from ._bootstrap import BootstrapMethods, check_has_standard_errors

METHODS = ("information", "sandwich", "bootstrap", "posterior")


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
    problem, solver = task.problem, task.solver
    if solver.ridge:
        solver = LeastSquares(problem.X, fit_intercept=solver.fit_intercept)
    state = start_from_labels(problem, solver, problem.y)
    nothing_lost = np.empty((0, solver.rank + 2))
    covariance = louis_covariance(problem, solver, state.noise_scale, nothing_lost, None).coef
    values = np.append(state.intercept, state.coef)
    first = 0 if solver.fit_intercept else 1
    errors = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return Estimates(values[first:], errors[first:], problem.n_rows - solver.n_parameters)


class InferenceMethods(BootstrapMethods):
    """Intervals for estimators that keep a covariance."""

    covariance_: FloatArray
    standard_errors_: FloatArray
    noise_scale_se_: float
    mismatch_rate_: float
    mismatch_rate_se_: float
    expected_labels_: FloatArray
    n_groups_: int
    _freedom: int
    _as_given: Estimates | None

    def conf_int(
        self, level: float = 0.95, method: str = "information", **options: Any
    ) -> FloatArray:
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.
        method : {"information", "sandwich", "bootstrap", "posterior"}, default="information"
            "information" inverts the observed information (Louis' formula), in which the lost
            order counts as missing data. It costs nothing, the fit has done the work.

            "sandwich" also holds where the noise differs between rows (where nothing is lost it
            is HC1). It needs many groups where the order is lost.

            "bootstrap" fits labels simulated from the fit, see `bootstrap`. Use it where the
            information is not positive (`information_left_` at or below zero), and for fits that
            do not follow the model (a ridge, a temper other than one), for which the other two
            have nothing to say.

            "posterior" samples coefficients and permutations, see `posterior`.

            All describe the optimum that was found; whether that is the right one is another
            question.
        **options
            Of `bootstrap` or `posterior`; the other methods have none.

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one; nan for
            method="information" and fits that do not follow the model.
        """
        self._check_asked(level, method, options)
        if method == "bootstrap":
            return self.bootstrap(**options).interval(level)
        if method == "posterior":
            sampled: FloatArray = self._posterior_method()(**options).interval(level)
            return sampled
        if method == "information":
            return self._estimates().interval(level)
        robust = self._robust()
        kept = told_of_uncertainty(robust.covariance, 1.0, 0.5, self.fit_intercept, 0)
        estimates = self._estimates()._replace(
            standard_errors=kept["standard_errors_"], freedom=robust.freedom
        )
        return estimates.interval(level)

    def covariance(self, method: str = "information") -> FloatArray:
        """Covariance of the coefficients.

        Parameters
        ----------
        method : {"information", "sandwich"}, default="information"
            See `conf_int`.

        Returns
        -------
        covariance : array of shape (n_coefficients, n_coefficients)
            The intercept first when there is one; for "information" this is `covariance_`.
        """
        if method not in {"information", "sandwich"}:
            raise ValueError(f"method must be 'information' or 'sandwich', got {method!r}")
        self._check_asked(0.5, method, {})
        if method == "information":
            return self.covariance_.copy()
        found = self._robust().covariance.coef
        return found if self.fit_intercept else found[1:, 1:]

    def noise_scale_interval(
        self, level: float = 0.95, method: str = "information", **options: Any
    ) -> FloatArray:
        """Confidence interval of the noise, on the scale of its logarithm.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.
        method : {"information", "sandwich", "bootstrap"}, default="information"
            See `conf_int`.
        **options
            Of `bootstrap`.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both positive.
        """
        self._check_asked(level, method, options, ("information", "sandwich", "bootstrap"))
        if method == "bootstrap":
            return self.bootstrap(**options).noise_scale_interval(level)
        error, freedom = self.noise_scale_se_ / self.noise_scale_, self._freedom
        if method == "sandwich":
            robust = self._robust()
            error, freedom = robust.covariance.log_noise**0.5, robust.freedom
        around = Estimates(np.log([self.noise_scale_]), np.array([error]), freedom)
        return np.asarray(np.exp(around.interval(level)[0]))

    def mismatch_rate_interval(
        self, level: float = 0.95, method: str = "information", **options: Any
    ) -> FloatArray:
        """Confidence interval of the rate of mismatches, on the scale of its logit.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.
        method : {"information", "sandwich", "bootstrap"}, default="information"
            See `conf_int`.
        **options
            Of `bootstrap`.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both between 0 and 1.
        """
        self._check_asked(level, method, options, ("information", "sandwich", "bootstrap"))
        if self._estimated_rate() is None:
            raise ValueError(
                "no rate of mismatches was estimated, so it has no interval; fit with "
                "mismatch_rate='estimate' where the order given is mostly right"
            )
        if method == "bootstrap":
            return self.bootstrap(**options).mismatch_rate_interval(level)
        rate: float = self.mismatch_rate_
        error, freedom = self.mismatch_rate_se_ / max(rate * (1.0 - rate), 1e-300), self._freedom
        if method == "sandwich":
            robust = self._robust()
            error, freedom = robust.covariance.logit_rate**0.5, robust.freedom
        around = Estimates(to_logit(np.array([rate])), np.array([error]), freedom)
        return from_logit(around.interval(level)[0])

    def _check_asked(
        self,
        level: float,
        method: str,
        options: dict[str, Any],
        methods: tuple[str, ...] = METHODS,
    ) -> None:
        """Name what was asked for and cannot be had."""
        check_is_fitted(self)
        if not 0.0 < level < 1.0:
            raise ValueError(f"level is a share between 0 and 1, such as 0.95; got {level}")
        if method not in methods:
            allowed = ", ".join(repr(name) for name in methods)
            raise ValueError(f"method must be one of {allowed}; got {method!r}")
        if options and method in {"information", "sandwich"}:
            raise ValueError(
                f"method={method!r} takes no further options, got {', '.join(sorted(options))}; "
                "they belong to method='bootstrap' or method='posterior'"
            )
        check_has_standard_errors(self)

    def _posterior_method(self) -> Any:
        sample = getattr(self, "posterior", None)
        if sample is None:
            raise ValueError(
                f"{type(self).__name__} has no method posterior; ShuffledRegressor and "
                "StochasticEMRegressor have one"
            )
        return sample

    def _robust(self) -> Robust:
        """The sandwich, from the data of the fit and its chain, which goes on for a while."""
        problem = self._kept_problem()
        if np.isnan(self.standard_errors_).all():
            raise ValueError(
                "this fit does not follow the model (a ridge, or a temper other than one), so that "
                "no sandwich can be built; use method='bootstrap'"
            )
        solver = LeastSquares(problem.X, fit_intercept=self.fit_intercept)
        state, prior = self._pairing.state, self._pairing.prior
        lost = self._can_move() and not prior.mostly_right
        codes = unit_codes(problem, by_group=lost)
        rate = self._estimated_rate()
        check_units(codes, solver.n_parameters + 1 + (rate is not None))
        if not self._can_move():
            expected = nothing_lost(problem, solver)
        else:
            steps = SWEEPS_PER_SNAPSHOT * problem.n_movable
            with Workers(effective_n_jobs(self.n_jobs)) as workers:
                chain = Chain(problem, Schedule(steps, 0, 1), self._pairing.seed, workers)
                align = SampledAlignment(chain, prior)
                expected = expect(problem, solver, state, align, FIRST_SANDWICH)
        return sandwich(problem, solver, state, expected, codes, rate)

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
        check_has_standard_errors(self)
        found = getattr(self, "feature_names_in_", None)
        names = [f"x{j}" for j in range(len(self.coef_))] if found is None else list(found)
        if self.fit_intercept:
            names.insert(0, "(intercept)")
        verdict: Verdict | None = getattr(self, "verdict_", None)
        return Summary(names, self._estimates(), self._as_given, self._facts(), verdict, level,
                       getattr(self, "_library", None))  # fmt: skip

    def _facts(self) -> dict[str, str]:
        noise = f"{self.noise_scale_:.4g}"
        if not np.isnan(self.noise_scale_se_):
            noise += f" (se {self.noise_scale_se_:.2g})"
        facts = {"method": type(self).__name__}
        pairing = getattr(self, "pairing_", None)
        if pairing is not None:
            facts["pairing"] = str(pairing)
        facts |= {
            "rows": f"{self._n_rows()}",
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

    def _n_rows(self) -> int:
        streamed: int | None = vars(self).get("_n_streamed")
        return len(self.expected_labels_) if streamed is None else streamed

    def _estimates(self) -> Estimates:
        values = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        return Estimates(values, self.standard_errors_, self._freedom)
