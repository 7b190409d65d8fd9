"""The only place where fitted attributes are set, and where a fit warns."""

import sys
import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from ..exceptions import RankWarning, UnidentifiableWarning
from ..fits.auto_results import AutoFit, MismatchFit, SearchFit
from ..fits.choice import Choice
from ..fits.results import (
    Design,
    Errors,
    HardFit,
    Iterations,
    Matches,
    MixtureFit,
    StochasticFit,
    Uncertainty,
    standard_errors_of,
)
from ..fits.unequal_results import UnmatchedFit
from ._clues import warn_of_match_model

Fit = StochasticFit | HardFit | MixtureFit | AutoFit


def stack_level() -> int:
    """Level of a warning that names the user's line: the first frame outside the package."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and frame.f_globals["__name__"].startswith("unshuffle"):
        frame, level = frame.f_back, level + 1
    return level


def keep(model: Any, fit: Fit, advice: str) -> None:
    """Set every fitted attribute of `model`, and warn where the answer needs a warning.

    `advice` is what to do about iterations that did not converge.
    """
    model._found = fit
    if isinstance(fit, AutoFit):
        _keep_auto(model, fit)
        stochastic: StochasticFit | HardFit | MixtureFit = fit.fit
    else:
        stochastic = fit
    model.coef_ = stochastic.coef
    model.intercept_ = stochastic.intercept
    model.noise_scale_ = stochastic.noise_scale
    model.rank_ = stochastic.design.rank
    if isinstance(stochastic, MixtureFit):
        _keep_mixture(model, stochastic)
    else:
        model.n_groups_ = stochastic.design.n_groups
        keep_iterations(model, stochastic.iterations)
        if stochastic.matches is not None:
            keep_matches(model, stochastic.matches)
    if isinstance(stochastic, HardFit):
        model.n_init_, model.restart_objectives_ = stochastic.n_init, stochastic.restart_objectives
    if isinstance(stochastic, StochasticFit):
        _keep_stochastic(model, stochastic, chosen=isinstance(fit, StochasticFit))
    if not isinstance(stochastic, HardFit) and stochastic.match_model is not None:
        model.match_model_ = stochastic.match_model
        if stochastic.match_model.dropped or stochastic.match_model.held:
            warn_of_match_model(stochastic.match_model, stack_level() + 1)
    warn_rank(model, stochastic.design)
    runs_to_the_end = isinstance(fit, StochasticFit) and fit.tol == 0.0
    if not model.converged_ and not runs_to_the_end:
        warn_not_converged(model, advice)
    if isinstance(fit, AutoFit) and not fit.determined:
        warnings.warn(
            f"do not trust this fit: {fit.verdict.reasons[0].text}; see verdict_.reasons",
            UnidentifiableWarning,
            stacklevel=stack_level(),
        )


def keep_iterations(model: Any, iterations: Iterations) -> None:
    """The way that EM took."""
    model.n_iter_ = iterations.n_iter
    model.converged_ = iterations.converged
    model.objective_path_ = iterations.objective
    model.coef_path_ = iterations.coef


def keep_matches(model: Any, matches: Matches) -> None:
    """One entry per row."""
    model.expected_labels_ = matches.expected_labels
    model.permutation_ = matches.permutation
    if matches.match_proba is not None:
        model.match_proba_ = matches.match_proba


def _keep_mixture(model: Any, fit: MixtureFit) -> None:
    model.n_iter_, model.converged_ = fit.n_iter, fit.converged
    model.mismatch_rate_ = fit.mismatch_rate
    model.match_proba_ = fit.match_proba
    model.mean_log_density_ = fit.mean_log_density
    model.noise_ = fit.noise
    model.covariance_ = fit.covariance
    model.coef_se_ = model.standard_errors_ = standard_errors_of(fit.covariance)
    model.noise_scale_se_ = fit.noise_scale_se
    model.mismatch_rate_se_ = fit.mismatch_rate_se


def _keep_stochastic(model: Any, fit: StochasticFit, *, chosen: bool) -> None:
    """`chosen` are the settings of `StochasticEMRegressor`, which the default estimator hides."""
    if fit.mismatch_rate is not None:
        model.mismatch_rate_ = fit.mismatch_rate
    if fit.acceptance_rate is not None:
        model.acceptance_rate_ = fit.acceptance_rate
    if fit.uncertainty is not None and fit.errors is not None:
        _keep_uncertainty(model, fit.uncertainty, fit.errors)
    if fit.validation_scores is not None:
        model.validation_scores_ = fit.validation_scores
    if chosen:
        model.tol_ = fit.tol
        model.n_steps_, model.burn_in_, model.thin_ = fit.schedule


def _keep_uncertainty(model: Any, uncertainty: Uncertainty, errors: Errors) -> None:
    """Standard errors as chosen; what is said of the information is the model's."""
    model.covariance_type_, model.covariance_pvalue_ = errors.kind, errors.p_value
    model.covariance_ = errors.uncertainty.covariance
    model.standard_errors_ = errors.uncertainty.standard_errors
    model.noise_scale_se_ = errors.uncertainty.noise_scale_se
    model.mismatch_rate_se_ = errors.uncertainty.mismatch_rate_se
    model.information_kept_ = uncertainty.fraction_kept
    model.error_inflation_ = uncertainty.inflation


def _keep_auto(model: Any, fit: AutoFit) -> None:
    model.pairing_, model.pairing_pvalue_ = fit.pairing, fit.order_p_value
    model.start_ = fit.start
    model.temper_, model.ridge_ = fit.fit.temper, fit.fit.ridge
    model.refit_distances_ = fit.refit_distances
    model.temper_shift_ = fit.temper_shift
    model.shrinkage_share_ = fit.shrinkage_share
    model.objective_ = fit.objective
    model.verdict_ = fit.verdict
    _keep_search(model, fit.search)
    _keep_mismatch(model, fit.mismatch)
    if fit.choice is not None:
        _keep_choice(model, fit.choice)
    if fit.unmatched is not None:
        _keep_unmatched(model, fit.unmatched)
    if fit.law is not None:
        model.noise_, model.noise_gain_ = fit.law.name, fit.law.gain
        model.noise_law_, model.spread_by_fit_ = fit.law.law, False
    means = fit.group_means
    model.group_means_pvalue_ = float("nan") if means is None else means.p_value
    model.group_means_distance_ = float("nan") if means is None else means.distance
    model.curve_pvalue_, model.curved_ = fit.curve_p_value, fit.fit.curve is not None


def _keep_mismatch(model: Any, found: MismatchFit | None) -> None:
    nan = float("nan")
    model.mismatch_pvalue_ = nan if found is None else found.p_value
    model.mismatch_limit_ = nan if found is None else found.rate_limit
    consistency = None if found is None else found.consistency
    model.consistency_distance_ = nan if consistency is None else consistency.distance
    model.consistency_pvalue_ = nan if consistency is None else consistency.p_value
    model.mismatched_slope_ = nan if consistency is None else consistency.slope
    model.model_agreement_ = nan if found is None else found.agreement
    if found is not None:
        model.noise_, model.spread_by_fit_ = found.noise, found.spread_by_fit
        if found.off_proba is not None:
            model.off_proba_ = found.off_proba


def _keep_unmatched(model: Any, unmatched: UnmatchedFit) -> None:
    model.match_share_ = unmatched.match_share
    model.match_share_se_ = unmatched.match_share_se
    model.n_pairs_, model.n_labels_ = unmatched.n_pairs, unmatched.n_labels
    model.unmatched_rows_proba_ = unmatched.row_proba
    model.unmatched_labels_proba_ = unmatched.label_proba
    model.unmatched_rows_ = np.flatnonzero(unmatched.row_proba > 0.5)
    model.unmatched_labels_ = np.flatnonzero(unmatched.label_proba > 0.5)


def _keep_choice(model: Any, choice: Choice) -> None:
    model.chosen_index_, model.best_index_ = choice.chosen, choice.best
    model.cv_results_ = {
        "start": np.array([setting.start for setting in choice.settings]),
        "temper": np.array([setting.temper for setting in choice.settings]),
        "ridge": np.array([setting.ridge for setting in choice.settings]),
        "noise": np.array([setting.noise for setting in choice.settings]),
        "gain": choice.gains.mean(axis=1),
        "gain_by_fold": choice.gains,
        "lost": choice.lost,
        "lost_error": choice.lost_error,
    }


def _keep_search(model: Any, search: SearchFit | None) -> None:
    model.search_ = "none" if search is None else "population"
    model.certified_ = search is not None and search.certified
    model.lower_bound_ = 0.0 if search is None else search.lower_bound
    model.match_score_ = float("nan") if search is None else search.score
    model.null_scores_ = np.empty(0) if search is None else search.null_scores
    model.null_pvalue_ = float("nan") if search is None else search.p_value
    model.n_candidates_ = 0 if search is None else search.n_candidates
    model.n_found_ = 0 if search is None else search.n_found
    if search is not None:
        model.solutions_ = search.solutions
        model.solution_objectives_ = search.objectives
        model.stopped_by_ = search.stopped_by


def forget(model: Any, blank: Any) -> None:
    """Drop what an earlier fit learnt, and take over the features that `blank` recorded."""
    for name in [name for name in vars(model) if name.endswith("_")]:
        delattr(model, name)
    vars(model).pop("_family_data", None)
    for name, value in vars(blank).items():
        if name.endswith("_in_") or name == "design_columns_":
            setattr(model, name, value)


def warn_rank(model: Any, design: Design) -> None:
    """Name the columns whose coefficients are not determined."""
    if not len(design.dependent):
        return
    names = getattr(model, "feature_names_in_", None)
    columns = ", ".join(str(j) if names is None else repr(names[j]) for j in design.dependent)
    warnings.warn(
        f"X has rank {design.rank} of {model.n_features_in_}: columns {columns} are constant "
        "or linear combinations of each other. The coefficients of minimum norm were taken: "
        "predictions are unaffected, but single coefficients of these columns mean nothing. Drop "
        "columns to get rid of this warning.",
        RankWarning,
        stacklevel=stack_level(),
    )


def warn_not_converged(model: Any, advice: str) -> None:
    """State that the iterations did not suffice, and what to do."""
    warnings.warn(
        f"{type(model).__name__} did not converge in max_iter={model.max_iter} "
        f"iterations; {advice}",
        ConvergenceWarning,
        stacklevel=stack_level(),
    )
