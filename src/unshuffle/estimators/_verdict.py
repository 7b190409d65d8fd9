"""Which checks speak for or against a fit of the front door."""

from typing import Any

import numpy as np

from ..data.problem import Problem
from ..inference import checks
from ..inference.verdict import Reason
from ..search.mostly_right import share_inside
from ..search.starts import MUCH_INSIDE


def reasons_of(model: Any, problem: Problem) -> list[Reason]:
    """What speaks for and against a `ShuffledRegressor` fitted to `problem`."""
    reasons = [
        checks.rank(model.rank_, len(model.coef_)),
        checks.convergence(model.converged_),
    ]
    if model.pairing_ == "mostly-right":
        reasons += _of_order(model)
    elif model.pairing_ == "lost":
        reasons += _of_match(model, problem)
    return [reason for reason in reasons if reason is not None]


def _of_order(model: Any) -> list[Reason | None]:
    tested = not np.isnan(model.pairing_pvalue_)
    return [
        checks.order(model.pairing_pvalue_) if tested else None,
        checks.mismatches(model.mismatch_rate_),
        checks.precision(model.error_inflation_, model.information_left_),
        checks.noise_sensitivity(model.temper_shift_),
    ]


def _of_match(model: Any, problem: Problem) -> list[Reason | None]:
    if model.start_ in {"known rows", "group means"}:
        n_known = problem.n_rows - problem.n_movable
        number = n_known if model.start_ == "known rows" else model.n_groups_
        return [checks.anchor(model.start_, number, model.null_pvalue_)]
    followed = model.start_ == "match"
    compared = checks.unrelated_labels(model.null_pvalue_, followed)
    if not followed:
        share = share_inside(problem)
        if share < MUCH_INSIDE:
            return [checks.narrow_groups(share)]
        return [compared, checks.no_match_used(model.temper_)]
    return [
        compared,
        checks.recovery(model.refit_distances_),
        checks.agreement(model.n_found_, model.certified_),
        checks.precision(model.error_inflation_, model.information_left_),
        checks.noise_sensitivity(model.temper_shift_),
        checks.shrinkage(model.shrinkage_share_) if model._as_given is not None else None,
    ]
