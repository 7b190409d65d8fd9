"""What estimators of families share: from data to a fit, and what is asked of it."""

import warnings
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from ..data.problem import Problem
from ..data.threads import Workers
from ..exceptions import UnidentifiableWarning
from ..families.catalogue import FAMILIES
from ..families.exponential import LabelFamily
from ..fits.glm.fit import fit_family
from ..fits.glm.profile import profile_interval
from ..fits.glm.results import NORMAL_FREEDOM, FamilyFit
from ..fits.glm.settings import CHAIN, ChainSettings, GlmSettings
from ..fits.progress import Reporting, quiet
from ..inference.intervals import Estimates, check_level, from_logit, to_logit
from ..inference.ratios import as_ratios
from ..inference.verdict import Verdict
from ..io.frames import feature_names
from ..kernels.types import BoolArray, FloatArray
from ..show.summary import Summary
from ._attributes import forget, stack_level, warn_rank
from ._family_bootstrap import FamilyBootstrap
from ._family_posterior import FamilyPosterior
from ._family_predict import linear_predictor
from ._family_problem import family_problem
from ._family_suspects import FamilySuspects
from ._kept_data import require_kept

METHODS = ("information", "sandwich", "profile", "bootstrap", "posterior")


class FamilyMethods(FamilyBootstrap, FamilySuspects, FamilyPosterior):
    """Attributes and answers of a fit of a family."""

    coef_: FloatArray
    intercept_: float
    mismatch_rate_: float
    match_proba_: FloatArray
    verdict_: Verdict
    fit_intercept: bool
    _found: Any
    _problem: Problem
    _family_advice: ClassVar[str] = "treat the coefficients with caution, or use fewer features"

    def _fit_family(
        self,
        family: LabelFamily | None,
        settings: GlmSettings,
        X: Any,
        y: Any,
        groups: Any,
        known: Any,
        match_prob: Any,
        *,
        sample_weight: Any = None,
        offset: Any = None,
        exposure: Any = None,
        event: FloatArray | None = None,
        workers: Workers | None = None,
        reporting: Reporting = quiet,
    ) -> Self:
        """Fit, and keep what was found; a failed fit leaves an earlier one untouched."""
        model: Any = self
        found = family_problem(
            self, family, X, y, groups, known, match_prob, fit_intercept=settings.fit_intercept,
            sample_weight=sample_weight, offset=offset, exposure=exposure, event=event,
        )  # fmt: skip
        if settings.chain is CHAIN:
            settings = replace(settings, chain=self._family_chain(found.given.X.shape[1]))
        with Workers(1) if workers is None else nullcontext(workers) as pool:
            fit = fit_family(
                found.data, family, settings, names=found.names, workers=pool, reporting=reporting
            )
        forget(model, found.blank)
        self._problem, self._family_data = found.given, found.data
        self._family_settings = settings
        model._library = found.library
        fit = fit if found.kept.all() else _of_all_rows(fit, found.kept)
        _keep(self, fit, to_the_end=settings.chain.tolerance == 0.0)
        return self

    def _family_chain(self, n_features: int) -> ChainSettings:
        """How labels in lost order are averaged."""
        return CHAIN

    @property
    def _family_fit(self) -> FamilyFit:
        check_is_fitted(self)
        fit: FamilyFit = self._found
        return fit

    def _linear_predictor(self, X: Any, offset: Any = None, exposure: Any = None) -> FloatArray:
        """Linear predictor of new rows; offsets belong to rows and are not part of the model."""
        return linear_predictor(self, X, offset, exposure)

    def conf_int(self, level: float = 0.95, method: str = "auto", **options: Any) -> FloatArray:
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.
        method : {"auto", "information", "sandwich", "profile", "bootstrap", "posterior"}, \
default="auto"
            "information" inverts the observed information. "sandwich" takes the spread of the
            scores of rows instead, or of groups where the order is lost, for labels that vary more
            than the family has it. Unless the order is known the coefficients themselves still lean
            on the family. "profile" holds one coefficient fixed after the other, and maximises the
            likelihood over the rest: the better choice for yes/no labels with few rows or an
            estimated rate of mismatches; not for counts and positive labels in lost order.
            "bootstrap" draws rows or groups and fits them again, see `bootstrap`. "posterior"
            draws coefficients, see `posterior`. "auto" is "information".
        **options
            Of `bootstrap` or `posterior`; the other methods have none.

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one.
        """
        check_level(level)
        self._check_method(method, options, METHODS)
        if method == "bootstrap":
            return self.bootstrap(**options).interval(level)
        if method == "posterior":
            return self.posterior(**options).interval(level)
        if method == "profile":
            return self._profile_interval(level)
        errors = np.sqrt(np.diag(self.covariance(method)))
        return self._family_estimates()._replace(standard_errors=errors).interval(level)

    def _profile_interval(self, level: float) -> FloatArray:
        fit = self._family_fit
        require_kept(self, "_family_data")
        family = FAMILIES.get(fit.family)
        return profile_interval(self._family_data, family, fit, self._family_settings, level)

    def covariance(self, method: str = "auto") -> FloatArray:
        """Covariance of the coefficients.

        Parameters
        ----------
        method : {"auto", "information", "sandwich"}, default="auto"
            See `conf_int`.

        Returns
        -------
        covariance : array of shape (n_coefficients, n_coefficients)
            The intercept first when there is one.
        """
        fit = self._family_fit
        self._check_method(method, {}, ("information", "sandwich"))
        if method != "sandwich":
            return fit.covariance.copy()
        if fit.robust is None:
            raise ValueError(
                f"a fit of family {fit.family!r} with pairing_ {fit.pairing!r} has no sandwich: "
                f"{_why_no_sandwich(fit)}; use method='information' or method='bootstrap'"
            )
        return fit.robust.copy()

    def mismatch_rate_interval(
        self, level: float = 0.95, method: str = "auto", **options: Any
    ) -> FloatArray:
        """Confidence interval of the rate of mismatches, on the scale of its logit.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.
        method : {"auto", "information", "bootstrap"}, default="auto"
            See `conf_int`.
        **options
            Of `bootstrap`.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both between 0 and 1.
        """
        fit = self._family_fit
        self._check_method(method, options, ("information", "bootstrap"))
        if np.isnan(fit.mismatch_rate_se):
            raise ValueError(
                "no rate of mismatches was estimated, so it has no interval; fit with "
                "mismatch_rate='estimate' where the order given is mostly right"
            )
        if method == "bootstrap":
            return self.bootstrap(**options).mismatch_rate_interval(level)
        rate = fit.mismatch_rate
        error = fit.mismatch_rate_se / (rate * (1.0 - rate))
        around = Estimates(to_logit(np.array([rate])), np.array([error]), NORMAL_FREEDOM)
        return from_logit(around.interval(level)[0])

    def _check_method(self, method: str, options: dict[str, Any], methods: tuple[str, ...]) -> None:
        """Name what was asked for and cannot be had."""
        if method not in {"auto", *methods}:
            allowed = " or ".join(repr(name) for name in methods)
            raise ValueError(
                f"method must be {allowed} or 'auto', got {method!r}; a fit of family "
                f"{self._family_fit.family!r} has no other"
            )
        if options and method not in {"bootstrap", "posterior"}:
            raise ValueError(
                f"method={method!r} takes no further options, got {', '.join(sorted(options))}; "
                "they belong to method='bootstrap' and method='posterior'"
            )

    def summary(
        self, level: float = 0.95, covariance: str = "auto", *, ratios: bool = False
    ) -> Summary:
        """Table of coefficients beside the model of the labels as given, verdict first.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        covariance : {"auto", "model", "robust"}, default="auto"
            Standard errors from the information, which is "auto" too, or from the sandwich. See
            `conf_int`.
        ratios : bool, default=False
            Show exponentials of the coefficients: odds ratios, rate ratios, hazard ratios.

        Returns
        -------
        summary : Summary
            Prints as text, shows as HTML in a notebook; has `to_frame`, `to_latex`, `to_dict`.
        """
        fit = self._family_fit
        check_level(level)
        if covariance not in {"auto", "model", "robust"}:
            raise ValueError(f"covariance must be 'auto', 'model' or 'robust'; got {covariance!r}")
        ours, given = self._family_estimates(), fit.as_given
        facts = self._family_facts(fit.ratio if ratios else "")
        if covariance == "robust":
            errors = np.sqrt(np.diag(self.covariance("sandwich")))
            ours = ours._replace(standard_errors=errors)
            facts["standard errors"] = "robust (as asked)"
        if ratios:
            if not fit.ratio:
                raise ValueError(f"coefficients of family {fit.family!r} are not logs of ratios")
            ours, given = as_ratios(ours), None if given is None else as_ratios(given)
        names = feature_names(getattr(self, "feature_names_in_", None), len(fit.coef))
        if fit.design.fit_intercept:
            names.insert(0, "(intercept)")
        library = getattr(self, "_library", None)
        return Summary(names, ours, given, facts, fit.verdict, level, library)

    def _family_estimates(self) -> Estimates:
        fit = self._family_fit
        return Estimates(fit.values, fit.standard_errors, fit.freedom)

    def _family_facts(self, ratio: str) -> dict[str, str]:
        fit = self._family_fit
        facts = {
            "method": type(self).__name__,
            "family": fit.family,
            "pairing": fit.pairing,
            "rows": f"{fit.design.n_rows}",
            "groups": f"{fit.design.n_groups}",
        }
        family = FAMILIES.get(fit.family)
        if family is not None and family.has_precision:
            facts["dispersion"] = f"{fit.dispersion:.4g}"
        if fit.pairing == "mostly-right":
            error = "" if np.isnan(fit.mismatch_rate_se) else f" (se {fit.mismatch_rate_se:.2g})"
            facts["mismatched"] = f"{fit.mismatch_rate:.1%}{error}"
        if ratio:
            facts["coefficients"] = f"shown as {ratio}s"
        return facts


def _why_no_sandwich(fit: FamilyFit) -> str:
    if not np.isfinite(fit.covariance).all() or fit.group_sums is None:
        return "it has no information to start from"
    return f"the order is lost inside {fit.design.n_groups} groups, which are too few or too uneven"


def _of_all_rows(fit: FamilyFit, kept: BoolArray) -> FamilyFit:
    """Rows of weight zero have no match probability."""
    matched, eta = np.full(len(kept), np.nan), np.full(len(kept), np.nan)
    matched[kept], eta[kept] = fit.match_proba, fit.linear_predictor
    redraws = fit.redraws
    if redraws is not None:
        redraws = replace(redraws, rows=np.flatnonzero(kept)[redraws.rows])
    return replace(fit, match_proba=matched, linear_predictor=eta, redraws=redraws)


def _keep(model: Any, fit: FamilyFit, *, to_the_end: bool) -> None:
    """Set every fitted attribute, and warn where the answer needs a warning.

    A fit that was asked to run all its iterations is not expected to have converged.
    """
    model._found = fit
    model.coef_, model.intercept_ = fit.coef, fit.intercept
    model.family_ = fit.family
    model.dispersion_ = fit.dispersion
    model.rank_, model.n_groups_ = fit.design.rank, fit.design.n_groups
    model.pairing_, model.pairing_pvalue_ = fit.pairing, fit.order_p_value
    model.mismatch_rate_, model.mismatch_rate_se_ = fit.mismatch_rate, fit.mismatch_rate_se
    model.match_proba_ = fit.match_proba
    model.covariance_, model.standard_errors_ = fit.covariance, fit.standard_errors
    model.covariance_type_ = "model"
    model.information_kept_, model.error_inflation_ = fit.fraction_kept, fit.inflation
    model.log_likelihood_ = fit.log_likelihood
    model.n_iter_, model.converged_ = max(fit.n_iter, 1), fit.converged
    model.verdict_ = fit.verdict
    if fit.expected_labels is not None:
        model.expected_labels_, model.permutation_ = fit.expected_labels, fit.permutation
    warn_rank(model, fit.design)
    if not fit.converged and not to_the_end:
        warnings.warn(
            f"{type(model).__name__} did not converge; {model._family_advice}",
            ConvergenceWarning,
            stacklevel=stack_level(),
        )
    assert fit.verdict is not None
    if fit.verdict.level == "reject":
        warnings.warn(
            f"do not trust this fit: {fit.verdict.reasons[0].text}; see verdict_.reasons",
            UnidentifiableWarning,
            stacklevel=stack_level(),
        )


def rate_setting(mismatch_rate: float | str | None) -> float | None:
    """A rate as a setting: None estimates it, where there is one."""
    return None if mismatch_rate is None or isinstance(mismatch_rate, str) else mismatch_rate
