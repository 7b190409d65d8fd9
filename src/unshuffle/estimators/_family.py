"""What estimators of families share: from data to a fit, and what is asked of it."""

import warnings
from dataclasses import replace
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import _num_samples, check_is_fitted

from ..data.problem import Problem, make_problem
from ..data.threads import Workers
from ..exceptions import UnidentifiableWarning
from ..families.bernoulli import BERNOULLI
from ..families.catalogue import FAMILIES
from ..families.exponential import LabelFamily
from ..fits.glm.data import arrange_data
from ..fits.glm.fit import fit_family
from ..fits.glm.results import NORMAL_FREEDOM, FamilyFit
from ..fits.glm.settings import GlmSettings
from ..inference.intervals import Estimates, check_level, from_logit, to_logit
from ..inference.ratios import as_ratios
from ..inference.verdict import Verdict
from ..io.frames import feature_names, library_of, make_frame
from ..kernels.types import BoolArray, FloatArray
from ..show.summary import Summary
from ._attributes import forget, stack_level, warn_rank
from ._family_data import check_offset, check_weights
from ._frames import take_frame
from ._sources import into_memory
from ._validation import build_problem, check_rows


class FamilyMethods:
    """Attributes and answers of a fit of a family."""

    coef_: FloatArray
    intercept_: float
    mismatch_rate_: float
    match_proba_: FloatArray
    verdict_: Verdict
    fit_intercept: bool
    _found: Any
    _problem: Problem
    _fits_baseline: ClassVar[bool] = False

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
    ) -> Self:
        """Fit, and keep what was found; a failed fit leaves an earlier one untouched."""
        model: Any = self
        blank = type(model)(**model.get_params(deep=False))
        X, y, groups, known, match_prob = into_memory(self, X, y, groups, known, match_prob)
        X = take_frame(blank, X, y=y, groups=groups, known=known, match_prob=match_prob)
        n = _num_samples(X)
        weights = check_weights(sample_weight, n)
        shift = check_offset(offset, exposure, n)
        problem, match_prob = build_problem(blank, X, y, groups, known, match_prob)
        given = problem
        kept = np.ones(n, dtype=bool) if weights is None else weights > 0.0
        if not kept.all():
            problem, match_prob = _rows_with_weight(problem, match_prob, kept)
            weights, shift, event = (
                None if values is None else values[kept] for values in (weights, shift, event)
            )
        data = arrange_data(
            problem, fit_intercept=settings.fit_intercept and event is None, offset=shift,
            sample_weight=weights, match_prob=match_prob, event=event,
        )  # fmt: skip
        n_coefficients = data.Z.shape[1]
        if problem.n_rows <= n_coefficients and family is not BERNOULLI:
            raise ValueError(
                f"X has n_samples = {problem.n_rows} rows for {n_coefficients} coefficients; give "
                "more rows than coefficients, or choose fewer features"
            )
        names = getattr(blank, "feature_names_in_", None)
        fit = fit_family(
            data, family, settings, names=None if names is None else list(names), workers=workers
        )
        forget(model, blank)
        self._problem = given
        model._library = library_of(X, y, groups)
        _keep(self, fit if kept.all() else _of_all_rows(fit, kept))
        return self

    @property
    def _family_fit(self) -> FamilyFit:
        check_is_fitted(self)
        fit: FamilyFit = self._found
        return fit

    def _linear_predictor(self, X: Any, offset: Any = None, exposure: Any = None) -> FloatArray:
        """Linear predictor of new rows; offsets belong to rows and are not part of the model."""
        fit = self._family_fit
        rows = check_rows(self, X)
        shift = check_offset(offset, exposure, len(rows))
        eta = rows @ fit.coef + fit.intercept
        if not np.isfinite(eta).all():
            raise ValueError(
                f"the prediction of row {int(np.argmin(np.isfinite(eta)))} is too large for a "
                "number; check the units of X"
            )
        return eta if shift is None else eta + shift

    def conf_int(self, level: float = 0.95, method: str = "auto") -> FloatArray:
        """Confidence intervals of the coefficients.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the intervals should cover the truth.
        method : {"auto", "information", "sandwich"}, default="auto"
            "information" inverts the observed information; "sandwich" also holds where labels vary
            more than the family has it, for labels in mostly right order. "auto" is "information".

        Returns
        -------
        interval : array of shape (n_coefficients, 2)
            Lower and upper ends, the intercept first when there is one.
        """
        check_level(level)
        errors = np.sqrt(np.diag(self.covariance(method)))
        return self._family_estimates()._replace(standard_errors=errors).interval(level)

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
        if method not in {"auto", "information", "sandwich"}:
            raise ValueError(
                f"method must be 'information' or 'sandwich' or 'auto', got {method!r}; a fit of "
                f"family {fit.family!r} has no other"
            )
        if method != "sandwich":
            return fit.covariance.copy()
        if fit.robust is None:
            raise ValueError(
                f"a fit of family {fit.family!r} with pairing_ {fit.pairing!r} has no sandwich; "
                "use method='information'"
            )
        return fit.robust.copy()

    def mismatch_rate_interval(self, level: float = 0.95) -> FloatArray:
        """Confidence interval of the rate of mismatches, on the scale of its logit.

        Parameters
        ----------
        level : float, default=0.95
            Share of repetitions in which the interval should cover the truth.

        Returns
        -------
        interval : array of shape (2,)
            Lower and upper end, both between 0 and 1.
        """
        fit = self._family_fit
        if np.isnan(fit.mismatch_rate_se):
            raise ValueError(
                "no rate of mismatches was estimated, so it has no interval; fit with "
                "mismatch_rate='estimate' where the order given is mostly right"
            )
        rate = fit.mismatch_rate
        error = fit.mismatch_rate_se / (rate * (1.0 - rate))
        around = Estimates(to_logit(np.array([rate])), np.array([error]), NORMAL_FREEDOM)
        return from_logit(around.interval(level)[0])

    def suspects(self, threshold: float = 0.5) -> Any:
        """Rows whose label is probably that of another row.

        Parameters
        ----------
        threshold : float, default=0.5
            Rows with a lower probability of holding their own label are listed.

        Returns
        -------
        table : data frame
            Of the library that the data of the fit came in; pandas for arrays. One line per
            suspect, the least likely match first: `row`, `label`, `linear_predictor`,
            `match_proba`.
        """
        fit = self._family_fit
        if not 0.0 <= threshold <= 1.0:
            raise ValueError(f"threshold is a probability between 0 and 1, got {threshold}")
        if not hasattr(self, "_problem"):
            raise ValueError("the labels of the fit are not part of a stored model; fit it again")
        rows = np.flatnonzero(fit.match_proba < threshold)
        rows = rows[np.argsort(fit.match_proba[rows], kind="stable")]
        columns = {
            "row": rows,
            "label": self._labels_given()[rows],
            "linear_predictor": fit.linear_predictor[rows],
            "match_proba": fit.match_proba[rows],
        }
        return make_frame(columns, getattr(self, "_library", None))

    def _labels_given(self) -> Any:
        return self._problem.restore(self._problem.y)

    def summary(self, level: float = 0.95, *, ratios: bool = False) -> Summary:
        """Table of coefficients beside the model of the labels as given, verdict first.

        Parameters
        ----------
        level : float, default=0.95
            Level of the confidence intervals.
        ratios : bool, default=False
            Show exponentials of the coefficients: odds ratios, rate ratios, hazard ratios.

        Returns
        -------
        summary : Summary
            Prints as text, shows as HTML in a notebook; has `to_frame`, `to_latex`, `to_dict`.
        """
        fit = self._family_fit
        check_level(level)
        ours, given = self._family_estimates(), fit.as_given
        if ratios:
            if not fit.ratio:
                raise ValueError(f"coefficients of family {fit.family!r} are not logs of ratios")
            ours, given = as_ratios(ours), as_ratios(given)
        names = feature_names(getattr(self, "feature_names_in_", None), len(fit.coef))
        if fit.design.fit_intercept:
            names.insert(0, "(intercept)")
        facts = self._family_facts(fit.ratio if ratios else "")
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


def _rows_with_weight(
    problem: Problem, match_prob: FloatArray | None, kept: BoolArray
) -> tuple[Problem, FloatArray | None]:
    """The rows that take part, in the user's order."""
    codes = np.full(problem.n_rows, problem.n_blocks, dtype=np.float64)
    codes[: problem.n_movable] = np.repeat(np.arange(problem.n_blocks), np.diff(problem.starts))
    codes = problem.restore(codes)[kept]
    pinned = codes == problem.n_blocks
    numbers = np.unique(codes, return_inverse=True)[1].astype(np.int64)
    part = make_problem(problem.X[kept], problem.restore(problem.y)[kept], numbers, pinned)
    given = None if match_prob is None else part.arrange(problem.restore(match_prob)[kept])
    return part, given


def _of_all_rows(fit: FamilyFit, kept: BoolArray) -> FamilyFit:
    """Rows of weight zero have no match probability."""
    matched, eta = np.full(len(kept), np.nan), np.full(len(kept), np.nan)
    matched[kept], eta[kept] = fit.match_proba, fit.linear_predictor
    return replace(fit, match_proba=matched, linear_predictor=eta)


def _keep(model: Any, fit: FamilyFit) -> None:
    """Set every fitted attribute, and warn where the answer needs a warning."""
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
    if not fit.converged:
        warnings.warn(
            f"{type(model).__name__} did not converge; treat the coefficients with caution, or "
            "use fewer features",
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


def rate_setting(mismatch_rate: float | str) -> float | None:
    """A rate as a setting: None estimates it."""
    return None if isinstance(mismatch_rate, str) else float(mismatch_rate)
