"""Which checks speak for or against a fit by `fit_auto`."""

from math import isnan

import numpy as np

from ..data.problem import Problem
from ..inference import checks, lost_checks, order_checks
from ..inference.match_check import match_model
from ..inference.sampling_settings import SANDWICH
from ..inference.verdict import Reason, Verdict, judge
from ..search.mostly_right import share_inside
from ..search.settings import DEFAULT as SEARCH
from .auto_results import AutoFit, MismatchFit
from .results import StochasticFit


def verdict_of(found: AutoFit, problem: Problem) -> Verdict:
    """Judge a fit to `problem` by all checks that apply."""
    fit = found.fit
    reasons = [
        checks.rank(fit.design.rank, len(fit.coef)),
        checks.convergence(fit.iterations.converged),
        _isolated(found),
    ]
    if found.pairing == "mostly-right":
        reasons += _order_checks(found, inside_groups=problem.n_blocks > 1)
    elif found.pairing == "lost":
        reasons += _match_checks(found, problem)
        if found.group_means is not None:
            reasons.append(lost_checks.group_means(found.group_means))
        if found.law is not None:
            law = found.law
            reasons.append(checks.other_noise(law.name, law.distance, law.p_value))
        if found.start == "match":
            reasons.append(lost_checks.doubts(reasons))
    return judge([reason for reason in reasons if reason is not None])


def _isolated(found: AutoFit) -> Reason | None:
    """What labels far from all others do, where there are any."""
    facts, isolated = found.mismatch, found.isolated
    if isolated is None:
        return None
    hidden = facts is not None and facts.answer == "isolated"
    return checks.isolated(isolated.labels, isolated.shift, mismatches=hidden)


def _order_checks(found: AutoFit, *, inside_groups: bool) -> list[Reason | None]:
    fit, p_value, facts = found.fit, found.order_p_value, found.mismatch
    assert facts is not None
    order = None if isnan(p_value) else order_checks.order(p_value, inside_groups=inside_groups)
    if facts.answer == "unclear":
        return [order_checks.order_unclear(p_value)]
    consistency = facts.consistency
    if facts.answer == "none":
        return [
            order,
            order_checks.mismatch_test(
                facts.p_value, two_models=facts.two_models, least_squares=not facts.named_law
            ),
            order_checks.hidden_mismatches(facts.rate_limit, facts.hidden_error),
            order_checks.tails(facts.tail_share, facts.hidden_error),
            *_no_mismatches_checks(found, facts),
        ]
    if facts.answer != "mismatches":
        return [order, _why_not_used(facts)]
    assert consistency is not None and fit.mismatch_rate is not None
    return [
        order,
        order_checks.mismatches(fit.mismatch_rate),
        order_checks.named_law(facts.noise, consistency)
        if facts.named_law
        else order_checks.consistency(consistency.distance, consistency.p_value),
        order_checks.mismatched_slope(consistency.slope),
        order_checks.noise_law(facts.noise, facts.pit_distance),
        *_description_checks(facts, fit.mismatch_rate),
        _normal_agreement(fit, facts),
        _precision(found),
        order_checks.expected_error(found.expected_error),
        None if isnan(facts.chain_inflation) else order_checks.chain(facts.chain_inflation),
        None
        if isnan(found.temper_shift)
        else checks.noise_sensitivity(found.temper_shift, order_used=True),
        None if fit.match_model is None else match_model(fit.match_model),
    ]


def _why_not_used(facts: MismatchFit) -> Reason | None:
    """Why the fit is not one with mismatches, though there is a sign of them."""
    if facts.answer == "isolated":
        return None  # the check of isolated labels says so
    if facts.answer == "doubtful":
        return order_checks.doubtful_mismatches(facts.gain)
    assert facts.consistency is not None
    if facts.named_law:
        return order_checks.law_not_consistent(facts.noise, facts.consistency)
    return order_checks.not_consistent(facts.consistency)


def _no_mismatches_checks(found: AutoFit, facts: MismatchFit) -> list[Reason]:
    """What can be wrong with labels that are used as given."""
    if not facts.named_law:
        return [order_checks.one_label(facts.largest_share)]
    assert facts.consistency is not None
    return [order_checks.named_law(facts.noise, facts.consistency), _precision(found)]


def _description_checks(facts: MismatchFit, rate: float) -> list[Reason]:
    """Would another description of the noise give the same fit?"""
    reasons = []
    if not isnan(facts.agreement):
        reasons.append(order_checks.agreement(facts.agreement))
    elif facts.noise == "mixture":
        reasons.append(order_checks.rate_under_mixture(rate))
    if facts.needs_evidence:
        reasons.append(order_checks.evidence(facts.gain, facts.weight))
    return reasons


def _normal_agreement(fit: StochasticFit, facts: MismatchFit) -> Reason | None:
    """Would a fit without a law be the same, where normal noise of one spread is in doubt?"""
    even = fit.errors is not None and fit.errors.p_value >= SANDWICH.level
    if even or isnan(facts.normal_distance):
        return None
    return order_checks.agreement(facts.normal_distance, normal=True)


def _match_checks(found: AutoFit, problem: Problem) -> list[Reason | None]:
    search = found.search
    p_value = float("nan") if search is None else search.p_value
    if found.start in {"known rows", "group means"}:
        n_known = problem.n_rows - problem.n_movable
        number = n_known if found.start == "known rows" else problem.n_groups
        held = lost_checks.anchor(found.start, number, p_value)
        if found.start == "group means":
            held = lost_checks.sufficient(held, found.group_means)
        return [held, _precision(found)]
    followed = found.start == "match"
    compared = lost_checks.unrelated_labels(p_value, followed)
    if not followed:
        share = share_inside(problem)
        if share < SEARCH.anchor.much_inside:
            return [lost_checks.narrow_groups(share)]
        return [compared, lost_checks.no_match_used(found.fit.temper)]
    assert search is not None
    as_given = found.fit.as_given
    means = found.group_means
    return [
        lost_checks.confirmed(compared, means),
        *_distinct_values(found, problem),
        lost_checks.confirmed(lost_checks.recovery(found.refit_distances), means),
        lost_checks.agreement(search.n_found, search.certified, one_group=problem.n_blocks == 1),
        _precision(found),
        lost_checks.confirmed(checks.noise_sensitivity(found.temper_shift), means),
        None if as_given is None else lost_checks.shrinkage(found.shrinkage_share),
    ]


def _distinct_values(found: AutoFit, problem: Problem) -> list[Reason | None]:
    """Labels and fitted values that repeat, unless group means determine the fit by themselves."""
    fit, n = found.fit, problem.n_movable
    if problem.n_groups >= SEARCH.anchor.rows_per_direction * (fit.design.rank + 1):
        return []
    assert fit.permutations is not None
    fitted = fit.permutations.state.fitted[:n]
    # Fitted values of equal rows may differ in the last digits.
    unit = 1e-9 * float(np.ptp(fitted))
    steps = np.round(fitted / unit) if unit > 0.0 else np.zeros(n)
    return [
        lost_checks.distinct_values(problem.y[:n], "labels"),
        lost_checks.distinct_values(steps, "fitted values"),
    ]


def _precision(found: AutoFit) -> Reason:
    uncertainty = found.fit.uncertainty
    assert uncertainty is not None
    return checks.precision(
        uncertainty.inflation,
        uncertainty.fraction_kept,
        order_used=found.pairing == "mostly-right",
    )
