"""Which checks speak for or against a fit to rows and labels in unequal numbers."""

from ..inference import checks, lost_checks
from ..inference.unequal_checks import match_share, pairs_per_coefficient
from ..inference.verdict import Reason, Verdict, judge
from ..kernels.types import FloatArray
from .auto_results import SearchFit
from .results import StochasticFit
from .unequal_results import UnmatchedFit


def unequal_verdict(
    fit: StochasticFit,
    unmatched: UnmatchedFit,
    start: str,
    search: SearchFit | None,
    n_groups: int,
    distances: FloatArray,
) -> Verdict:
    """Judge a fit by the checks that apply."""
    p_value = float("nan") if search is None else search.p_value
    assert fit.uncertainty is not None
    reasons: list[Reason | None] = [
        checks.rank(fit.design.rank, len(fit.coef)),
        checks.convergence(fit.iterations.converged),
        pairs_per_coefficient(unmatched.n_pairs, fit.design.rank + fit.design.fit_intercept),
        match_share(unmatched.match_share, unmatched.match_share_se),
        checks.precision(fit.uncertainty.inflation, fit.uncertainty.fraction_kept),
    ]
    if start == "match":
        reasons.append(lost_checks.unrelated_labels(p_value, used=False))
        reasons.append(lost_checks.recovery(distances))
        if search is not None:
            reasons.append(lost_checks.agreement(search.n_found, certified=False))
    else:
        reasons.append(lost_checks.anchor(start, n_groups, p_value))
    return judge([reason for reason in reasons if reason is not None])
