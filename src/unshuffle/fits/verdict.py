"""Which checks speak for or against a fit by `fit_auto`."""

from math import isnan

from ..data.problem import Problem
from ..inference import checks
from ..inference.verdict import Reason, Verdict, judge
from ..search.mostly_right import share_inside
from ..search.settings import DEFAULT as SEARCH
from .results import AutoFit


def verdict_of(found: AutoFit, problem: Problem) -> Verdict:
    """Judge a fit to `problem` by all checks that apply."""
    fit = found.fit
    reasons = [
        checks.rank(fit.design.rank, len(fit.coef)),
        checks.convergence(fit.iterations.converged),
    ]
    if found.pairing == "mostly-right":
        reasons += _order_checks(found)
    elif found.pairing == "lost":
        reasons += _match_checks(found, problem)
        if found.group_means is not None:
            reasons.append(checks.group_means(found.group_means))
    return judge([reason for reason in reasons if reason is not None])


def _order_checks(found: AutoFit) -> list[Reason | None]:
    fit, p_value = found.fit, found.order_p_value
    assert fit.mismatch_rate is not None
    return [
        None if isnan(p_value) else checks.order(p_value),
        checks.mismatches(fit.mismatch_rate),
        _precision(found),
        checks.noise_sensitivity(found.temper_shift),
    ]


def _match_checks(found: AutoFit, problem: Problem) -> list[Reason | None]:
    search = found.search
    p_value = float("nan") if search is None else search.p_value
    if found.start in {"known rows", "group means"}:
        n_known = problem.n_rows - problem.n_movable
        number = n_known if found.start == "known rows" else problem.n_groups
        held = checks.anchor(found.start, number, p_value)
        if found.start == "group means":
            held = checks.sufficient(held, found.group_means)
        return [held, _precision(found)]
    followed = found.start == "match"
    compared = checks.unrelated_labels(p_value, followed)
    if not followed:
        share = share_inside(problem)
        if share < SEARCH.anchor.much_inside:
            return [checks.narrow_groups(share)]
        return [compared, checks.no_match_used(found.fit.temper)]
    assert search is not None
    as_given = found.fit.as_given
    means = found.group_means
    return [
        checks.confirmed(compared, means),
        checks.confirmed(checks.recovery(found.refit_distances), means),
        checks.agreement(search.n_found, search.certified),
        _precision(found),
        checks.confirmed(checks.noise_sensitivity(found.temper_shift), means),
        None if as_given is None else checks.shrinkage(found.shrinkage_share),
    ]


def _precision(found: AutoFit) -> Reason:
    uncertainty = found.fit.uncertainty
    assert uncertainty is not None
    return checks.precision(uncertainty.inflation, uncertainty.fraction_kept)
