"""The end of the default fit: another law of the noise if asked for, all facts, and the verdict."""

from dataclasses import replace

from ..inference.error_size import median_error
from ..inference.group_means import GroupMeans, compare_with_means
from ..inference.verdict import judge
from .as_given import noise_radius
from .auto_results import AutoFit, Isolated, Outcome
from .lost_order import LostOrder
from .noise_law import SHAPES, fit_with_law
from .results import Matches, StochasticFit
from .searched import search_fit
from .table_fits import TableFits, state_of
from .verdict import verdict_of

NO_VERDICT = judge([])


def with_law(fits: TableFits, outcome: Outcome) -> Outcome:
    """Continue under another law of the noise, where one is asked for and the order is lost."""
    asked = fits.settings.noise in SHAPES and outcome.pairing == "lost"
    if not asked or outcome.fit.temper != 1.0 or outcome.fit.ridge:
        return outcome
    fit, law = fit_with_law(
        fits.data, outcome.fit, fits.solver, fits.settings, reporting=fits.reporting
    )
    return outcome._replace(fit=fit, law=law)


def conclude(
    fits: TableFits,
    lost: LostOrder,
    order_p_value: float,
    outcome: Outcome,
    isolated: Isolated | None,
) -> AutoFit:
    """Put everything together, and judge it."""
    problem, fit = fits.data.problem, outcome.fit
    matches = fit.matches
    assert matches is not None
    held = problem.arrange(problem.restore(problem.y)[matches.permutation])
    fitted = state_of(fit).fitted
    if fit.curve is not None:
        fitted = fitted - problem.arrange(fit.curve.bend)
    residual = held - fitted
    numbers = fits.data.label_numbers
    if numbers is not None:  # no label was given beside a row, so none can be its own
        perm = numbers[matches.permutation]
        matches = Matches(matches.expected_labels, perm, match_proba=None)
        fit = replace(fit, mismatch_rate=None, matches=matches)
    finding = outcome.finding
    found = AutoFit(
        fit=fit,
        pairing=outcome.pairing,
        order_p_value=order_p_value,
        start=outcome.start,
        search=None if finding is None else search_fit(finding, lost.searched, problem.n_rows),
        refit_distances=outcome.refit_distances,
        temper_shift=outcome.temper_shift,
        shrinkage_share=outcome.shrinkage_share,
        objective=float(residual @ residual),
        mismatch=outcome.mismatch,
        verdict=NO_VERDICT,
        group_means=_group_means(fits, outcome),
        choice=outcome.choice,
        law=outcome.law,
        expected_error=_expected_error(fits, fit),
        curve_p_value=outcome.curve_p_value,
        isolated=isolated,
    )
    return replace(found, verdict=verdict_of(found, problem))


def _group_means(fits: TableFits, outcome: Outcome) -> GroupMeans | None:
    fit, problem = outcome.fit, fits.data.problem
    if outcome.pairing != "lost" or fit.uncertainty is None or fit.ridge:
        return None
    first = int(fit.design.fit_intercept)
    covariance = fit.uncertainty.covariance[first:, first:]
    return compare_with_means(problem, fits.solver, fit.coef, covariance, fit.noise_scale)


def _expected_error(fits: TableFits, fit: StochasticFit) -> float:
    """Median error by the standard errors, in 95 % radii of a fit with known order."""
    if fit.errors is None:
        return float("nan")
    first, to_theta = int(fit.design.fit_intercept), fits.solver.to_theta
    covariance = fit.errors.uncertainty.covariance[first:, first:]
    radius = noise_radius(fits.solver, fit.noise_scale, max(fit.design.freedom, 1))
    return median_error(to_theta @ covariance @ to_theta.T) / radius if radius > 0.0 else 0.0
