"""Standard errors and intervals of a fitted estimator."""

from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..fits.auto_results import AutoFit
from ..fits.bootstrap import estimated_rate
from ..fits.data import InMemory
from ..fits.results import Uncertainty, standard_errors_of
from ..fits.robust import robust_covariance
from ..inference.intervals import Estimates, check_level, from_logit, to_logit
from ..inference.sandwich import Robust
from ..io.frames import feature_names
from ..kernels.types import FloatArray
from ..show.markup import p_value
from ..show.summary import Summary
from ._bootstrap import BootstrapMethods, check_has_standard_errors
from ._only_normal import only_normal
from ._unmatched_answers import unmatched_facts

METHODS = ("information", "sandwich", "bootstrap", "posterior", "auto")
OF_SUMMARY = {"auto": "auto", "model": "information", "robust": "sandwich"}
NOISE_LAWS = {
    "normal": "normal",
    "t": "Student's t",
    "mixture": "mixture of normals",
    "any": "none needed: association of labels with fitted values",
}
OF_NOISE = ("information", "sandwich", "bootstrap", "auto")


class InferenceMethods(BootstrapMethods):
    """Intervals for estimators that keep a covariance."""

    covariance_: FloatArray
    covariance_type_: str
    covariance_pvalue_: float
    standard_errors_: FloatArray
    noise_scale_se_: float
    mismatch_rate_: float
    mismatch_rate_se_: float
    match_proba_: FloatArray
    spread_by_fit_: bool
    curve_pvalue_: float
    n_groups_: int

    def conf_int(self, level: float = 0.95, method: str = "auto", **options: Any) -> FloatArray:
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.
        method : {"auto", "information", "sandwich", "bootstrap", "posterior"}, default="auto"
            "auto" takes the standard errors that the fit reports: "sandwich" where
            `covariance_type_` is "robust", "information" otherwise.

            "information" inverts the observed information (Louis' formula), in which the lost
            order counts as missing data. It costs nothing, the fit has done the work.

            "sandwich" also holds where the noise differs between rows (where nothing is lost it
            is HC1). It needs many groups where the order is lost.

            "bootstrap" fits labels simulated from the fit, see `bootstrap`. Use it where the
            information is not positive (`information_kept_` at or below zero), and for fits that
            do not maximise the likelihood (a ridge, a temper other than one), which the other two
            do not cover.

            "posterior" samples coefficients and permutations, see `posterior`.

            All describe the optimum that was found; whether that is the right one is another
            question.
        **options
            Of `bootstrap` or `posterior`; the other methods have none.

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one; nan for
            "auto", "information" and fits that do not maximise the likelihood.
        """
        self._check_asked(level, method, options)
        if method == "bootstrap":
            return self.bootstrap(**options).interval(level)
        if method == "posterior":
            sampled: FloatArray = self._posterior_method()(**options).interval(level)
            return sampled
        return self._estimates_by(method).interval(level)

    def _estimates_by(self, method: str) -> Estimates:
        """Coefficients with the standard errors of a method: "auto" are those of the fit."""
        estimates = self._estimates()
        if method == "information":
            errors = standard_errors_of(self._of_model().covariance)
            freedom = self._stochastic.design.freedom
            return estimates._replace(standard_errors=errors, freedom=freedom)
        if method == "sandwich":
            robust = self._robust()
            errors = standard_errors_of(self.covariance("sandwich"))
            return estimates._replace(standard_errors=errors, freedom=robust.freedom)
        return estimates

    def covariance(self, method: str = "auto") -> FloatArray:
        """Covariance of the coefficients.

        Parameters
        ----------
        method : {"auto", "information", "sandwich"}, default="auto"
            See `conf_int`.

        Returns
        -------
        covariance : array of shape (n_coefficients, n_coefficients)
            The intercept first when there is one; for "auto" this is `covariance_`.
        """
        if method not in {"auto", "information", "sandwich"}:
            raise ValueError(
                f"method must be 'information' or 'sandwich' or 'auto', got {method!r}"
            )
        self._check_asked(0.5, method, {})
        if method == "auto":
            return self.covariance_.copy()
        if method == "information":
            return self._of_model().covariance.copy()
        found = self._robust().covariance.coef
        return found if self.fit_intercept else found[1:, 1:]

    @only_normal
    def noise_scale_interval(
        self, level: float = 0.95, method: str = "auto", **options: Any
    ) -> FloatArray:
        """Confidence interval of the noise, on the scale of its logarithm.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.
        method : {"auto", "information", "sandwich", "bootstrap"}, default="auto"
            See `conf_int`.
        **options
            Of `bootstrap`.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both positive.
        """
        self._check_asked(level, method, options, OF_NOISE)
        method = self._resolved(method)
        if method == "bootstrap":
            return self.bootstrap(**options).noise_scale_interval(level)
        error = self._of_model().noise_scale_se / self.noise_scale_
        freedom = self._stochastic.design.freedom
        if method == "sandwich":
            robust = self._robust()
            error, freedom = robust.covariance.log_noise**0.5, robust.freedom
        around = Estimates(np.log([self.noise_scale_]), np.array([error]), freedom)
        with np.errstate(over="ignore"):  # next to no information: any noise is possible
            return np.asarray(np.exp(around.interval(level)[0]))

    def mismatch_rate_interval(
        self, level: float = 0.95, method: str = "auto", **options: Any
    ) -> FloatArray:
        """Confidence interval of the rate of mismatches, on the scale of its logit.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.
        method : {"auto", "information", "sandwich", "bootstrap"}, default="auto"
            See `conf_int`.
        **options
            Of `bootstrap`.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both between 0 and 1.
        """
        self._check_asked(level, method, options, OF_NOISE)
        method = self._resolved(method)
        if estimated_rate(self._stochastic) is None:
            raise ValueError(
                "no rate of mismatches was estimated, so it has no interval; fit with "
                "mismatch_rate='estimate' where the order given is mostly right"
            )
        if method == "bootstrap":
            return self.bootstrap(**options).mismatch_rate_interval(level)
        rate: float = self.mismatch_rate_
        error = self._of_model().mismatch_rate_se / max(rate * (1.0 - rate), 1e-300)
        freedom = self._stochastic.design.freedom
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
        check_level(level)
        if method not in methods:
            allowed = ", ".join(repr(name) for name in methods)
            raise ValueError(f"method must be one of {allowed}; got {method!r}")
        if options and method in {"auto", "information", "sandwich"}:
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

    def _resolved(self, method: str) -> str:
        """The method that "auto" means for this fit."""
        if method != "auto":
            return method
        return "sandwich" if self.covariance_type_ == "robust" else "information"

    def _of_model(self) -> Uncertainty:
        """Standard errors from the observed information, whatever the fit reports."""
        found = self._stochastic.uncertainty
        assert found is not None
        return found

    def _robust(self) -> Robust:
        """The sandwich of the fit; where it has none, its chain continues for a while."""
        errors = self._stochastic.errors
        if errors is not None and errors.robust is not None:
            return errors.robust
        problem = self._kept_problem()
        with self._workers() as workers:
            return robust_covariance(InMemory(problem, workers), self._stochastic)

    def summary(self, level: float = 0.95, covariance: str = "auto") -> Summary:
        """Table of coefficients beside least squares on the labels as given, verdict first.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        covariance : {"auto", "model", "robust"}, default="auto"
            Standard errors: those of the fit (`covariance_type_`), from the information, or from
            the sandwich. See `conf_int`.

        Returns
        -------
        summary : Summary
            Prints as text, shows as HTML in a notebook; has `to_frame`, `to_latex`, `to_dict`.
        """
        check_is_fitted(self)
        check_level(level)
        check_has_standard_errors(self)
        if covariance not in OF_SUMMARY:
            raise ValueError(f"covariance must be 'auto', 'model' or 'robust'; got {covariance!r}")
        facts = self._facts()
        if covariance not in {"auto", self.covariance_type_}:
            facts["standard errors"] = f"{covariance} (as asked)"
        names = feature_names(getattr(self, "feature_names_in_", None), len(self.coef_))
        if self.fit_intercept:
            names.insert(0, "(intercept)")
        verdict = self._found.verdict if isinstance(self._found, AutoFit) else None
        return Summary(
            names,
            self._estimates_by(OF_SUMMARY[covariance]),
            self._stochastic.as_given,
            facts,
            verdict,
            level,
            getattr(self, "_library", None),
            getattr(self, "match_model_", None),
        )

    def _facts(self) -> dict[str, str]:
        noise = f"{self.noise_scale_:.4g}"
        if not np.isnan(self.noise_scale_se_):
            noise += f" (se {self.noise_scale_se_:.2g})"
        facts = {"method": type(self).__name__}
        pairing = getattr(self, "pairing_", None)
        if pairing is not None:
            facts["pairing"] = str(pairing)
        facts |= {
            "rows": f"{self._stochastic.design.n_rows}",
            "groups": f"{self.n_groups_}",
            "noise": noise,
        }
        facts |= unmatched_facts(self)
        facts |= self._explained_facts()
        facts |= self._noise_facts()
        rate = getattr(self, "mismatch_rate_", None)
        if rate is not None and (np.isnan(rate) or pairing != "lost"):
            facts["mismatched"] = self._mismatched(rate)
        if hasattr(self, "cv_results_"):
            facts["setting"] = self._chosen_setting()
        facts["standard errors"] = self._kind_of_errors()
        return facts

    def _mismatched(self, rate: float) -> str:
        """The rate of mismatches, and how well it is known."""
        error, limit = self.mismatch_rate_se_, getattr(self, "mismatch_limit_", np.nan)
        if np.isnan(rate):
            return "cannot be determined"
        if not np.isnan(error):
            return f"{rate:.1%} (se {error:.2g})"
        return f"{rate:.1%}" + ("" if np.isnan(limit) else f" (95 % limit {limit:.1%})")

    def _explained_facts(self) -> dict[str, str]:
        """Share of the variance explained, where the labels were in memory."""
        r2, inside = getattr(self, "r2_", np.nan), getattr(self, "r2_within_", np.nan)
        if np.isnan(r2):
            return {}
        within = "" if np.isnan(inside) else f" (inside groups {inside:.3f})"
        return {"R squared": f"{r2:.3f}{within}"}

    def _chosen_setting(self) -> str:
        """What held-out groups chose, and how sure that is."""
        model: Any = self
        found, chosen, best = model.cv_results_, model.chosen_index_, model.best_index_
        n_folds, gain = found["gain_by_fold"].shape[1], found["gain"][chosen]
        lost, error = found["lost"][chosen], found["lost_error"][chosen]
        beside = (
            "the best of" if chosen == best
            else f"{lost:.2g} (se {error:.2g}) below the best, the plainest near it of"
        )  # fmt: skip
        laws = found["noise"]
        law = f", noise {laws[chosen]}" if len(set(laws)) > 1 else ""
        return (
            f"start {found['start'][chosen]}, temper {found['temper'][chosen]:.3g}, ridge "
            f"{found['ridge'][chosen]:.3g}{law}; log density of held-out labels {gain:+.3f} each, "
            f"{beside} {len(found['gain'])} settings in {n_folds} folds"
        )

    def _noise_facts(self) -> dict[str, str]:
        """Law of the noise, test of mismatches, and labels that look wrong, where known."""
        facts: dict[str, str] = {}
        law = getattr(self, "noise_", None)
        if law is not None:
            name = NOISE_LAWS[law]
            grows = ", spread depends on the fitted value" if self.spread_by_fit_ else ""
            gain = getattr(self, "noise_gain_", None)
            facts["noise law"] = f"{name}{grows}"
            if gain is not None:
                facts["noise law"] += f", log likelihood {gain:+.1f} beside normal noise (BIC)"
        if getattr(self, "curved_", False):
            p = _p_equals(self.curve_pvalue_)
            facts["labels aligned"] = f"around a curve (a plane has {p})"
        p_value = getattr(self, "mismatch_pvalue_", np.nan)
        if not np.isnan(p_value):
            facts["any mismatches"] = f"p = {p_value:.2g}"
        off = getattr(self, "off_proba_", None)
        if off is not None:
            exchanged = int(np.sum(1.0 - self.match_proba_ > 0.5))
            facts["suspects"] = (
                f"{exchanged} labels look exchanged, {int(np.sum(off > 0.5))} look wrong but "
                "nobody else's"
            )
        return facts

    def _kind_of_errors(self) -> str:
        if self.covariance_type_ == "model" or np.isnan(self.covariance_pvalue_):
            return self.covariance_type_
        return f"robust (noise differs between rows, {_p_equals(self.covariance_pvalue_)})"

    def _estimates(self) -> Estimates:
        values = np.append(self.intercept_, self.coef_) if self.fit_intercept else self.coef_
        errors = self._stochastic.errors
        freedom = self._stochastic.design.freedom if errors is None else errors.freedom
        return Estimates(values, self.standard_errors_, freedom)


def _p_equals(value: float) -> str:
    """A p-value in a sentence."""
    p = p_value(value)
    return f"p {p}" if p.startswith("<") else f"p = {p}"
