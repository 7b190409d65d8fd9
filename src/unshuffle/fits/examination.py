"""What do labels given beside rows show of mismatches?

Heavy tails, skew, curvature and noise that grows look like mismatches to a normal likelihood. Here
the law of the noise is estimated with the rate, and a fit with mismatches is compared with least
squares on the labels as given, which needs no law of the noise.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2, norm
from scipy.stats import f as fisher

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..families.noise import NoiseShape, component_shares, off_components
from ..inference.consistency import (
    Consistency,
    compare_with_least_squares,
    slope_among_mismatched,
)
from ..inference.settings import CHECKS, CheckSettings
from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray
from ..search.kernel_curve import KernelCurve, best_curve
from ..search.noise_model import NoiseFit, NoiseModel
from ..search.rate_profile import RateProfile, criterion, profile_rate, shapes_named
from ..search.robust import median_scale
from ..search.settings import DEFAULT, SearchSettings
from .auto_results import MismatchFit
from .results import StochasticFit

NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Examination:
    """What the labels as given show of mismatches.

    Attributes
    ----------
    best : NoiseFit or None
        The fit with mismatches; None where there is no sign of any.
    facts : MismatchFit
    whole : bool
        Whether all rows were looked at, not a sample.
    curved : bool
        Whether labels scatter around a curve that features and their products do not describe.
    """

    best: NoiseFit | None
    facts: MismatchFit
    whole: bool
    curved: bool

    @property
    def normal(self) -> bool:
        """Whether a plane with normal noise of one spread describes the labels."""
        return self.facts.noise == "normal" and not self.facts.spread_by_fit and not self.curved


def examine(
    problem: Problem,
    noise: str = "auto",
    checks: CheckSettings = CHECKS,
    settings: SearchSettings = DEFAULT,
) -> Examination:
    """Estimate rate and noise, test whether there are mismatches, and check consistency."""
    rows = _sample(problem, settings.profile.many_rows)
    whole = rows is problem
    X, y = rows.X[rows.user_rows(np.arange(rows.n_rows))], rows.y
    curve = best_curve(X, y, rows.starts, settings.curve)
    curved = isinstance(curve, KernelCurve)
    model = NoiseModel(curve, settings=settings.profile)
    profile = profile_rate(model, shapes_named(noise))
    reference = LeastSquares(X, fit_intercept=True)
    p_value = 0.5 * float(chi2.sf(profile.statistic, 1)) if profile.best.rate > 0.0 else 1.0
    residual = y - reference.solve(y).fitted
    facts = MismatchFit(
        answer="none",
        p_value=p_value,
        rate=profile.best.rate,
        rate_limit=profile.upper_limit,
        radius=_radius(reference, y),
        tail_share=_tail_share(residual, checks.tail_scales),
        largest_share=float((residual**2).max() / max(float(residual @ residual), 1e-300)),
        gain=profile.statistic / rows.n_rows,
        r_squared=_r_squared(reference, y),
        noise=profile.shape.name,
        spread_by_fit=profile.shape.by_fit,
        consistency=None,
        pit_distance=NAN,
        off_proba=None,
    )
    if p_value >= checks.mismatch_p:
        facts = _with_noise(facts, profile.none, model)
        return Examination(None, _by_row(facts, problem, whole), whole, curved)
    shape, tied, best = _free_fit(model, profile)
    facts = replace(facts, noise=shape.name, spread_by_fit=shape.by_fit)
    found = _consistency(reference, y, best, tied)
    answer = "mismatches"
    if (
        facts.spread_by_fit
        and facts.gain < checks.doubtful_gain
        and facts.r_squared < checks.doubtful_r_squared
    ):
        answer = "doubtful"
    elif not _consistent(found, checks):
        answer = "inconsistent"
    used = best if answer == "mismatches" else profile.none
    facts = _with_noise(replace(facts, answer=answer, consistency=found), used, model)
    return Examination(best, _by_row(facts, problem, whole), whole, curved)


def _free_fit(model: NoiseModel, profile: RateProfile) -> tuple[NoiseShape, NoiseFit, NoiseFit]:
    """The law, the fit tied to least squares and the free fit.

    Tied fitted values are off by the sampling error of least squares, which makes simple noise look
    like other noise; so simpler laws are compared once more, each with its own free fit.
    """
    tied = {profile.shape: profile.best} | profile.simpler
    free = {shape: model.release(shape, start) for shape, start in tied.items()}
    shape = min(free, key=lambda shape: criterion(shape, free[shape]))
    return shape, tied[shape], free[shape]


def _by_row(facts: MismatchFit, problem: Problem, whole: bool) -> MismatchFit:
    """Probabilities in the user's order; a sample has none."""
    off = problem.restore(facts.off_proba) if whole and facts.off_proba is not None else None
    return replace(facts, off_proba=off)


def _sample(problem: Problem, many: int) -> Problem:
    """All rows, or whole groups of a large table, or every k-th row of one large group."""
    step = -(-problem.n_rows // many)
    if step == 1:
        return problem
    if problem.n_blocks > step:
        return problem.thinned(step)
    rows = np.arange(0, problem.n_rows, step)
    starts = np.searchsorted(rows, problem.starts).astype(np.int64)
    X = problem.X[problem.user_rows(rows)]
    return Problem(X, problem.y[rows], starts, None, problem.n_groups)


def _radius(reference: LeastSquares, y: FloatArray) -> float:
    """95 % radius of least squares, as a share of its length."""
    solution, freedom = reference.solve(y), len(y) - reference.n_parameters
    length = reference.length(solution.coef)
    if length == 0.0 or freedom < 1:
        return float("inf")
    quantile = float(fisher.ppf(0.95, reference.rank, freedom))
    return float(np.sqrt(reference.rank * quantile * solution.residual_ss / freedom)) / length


def _tail_share(residual: FloatArray, scales: float) -> float:
    """Share of residuals that lie many robust standard deviations from their median."""
    size = np.abs(residual - np.median(residual))
    return float(np.mean(size > scales * median_scale(size)))


def _r_squared(reference: LeastSquares, y: FloatArray) -> float:
    """Share of the labels' variance that least squares explains."""
    total = float(((y - y.mean()) ** 2).sum())
    return 1.0 - reference.solve(y).residual_ss / total if total > 0.0 else 0.0


def _consistency(
    reference: LeastSquares, y: FloatArray, found: NoiseFit, tied: NoiseFit
) -> Consistency:
    fitted = reference.solve(found.expected(y)).fitted
    distance, p_value = compare_with_least_squares(reference.basis(), y, fitted, found.rate)
    slope = slope_among_mismatched(y, found.fitted, found.matched)
    return Consistency(distance, p_value, slope, found.rate - tied.rate)


def _consistent(found: Consistency, checks: CheckSettings) -> bool:
    """Whether least squares as given does not contradict a free fit."""
    near = found.distance < checks.consistent_distance or found.p_value > checks.consistent_p
    same_rate = abs(found.rate_difference) <= checks.rate_difference
    return near and same_rate and found.slope < checks.mismatched_slope


def _with_noise(facts: MismatchFit, found: NoiseFit, model: NoiseModel) -> MismatchFit:
    """Add how well the law describes the residuals, and which labels are far off."""
    u = (model.y - found.fitted) / found.spread
    order = np.argsort(u)
    weight = found.matched[order] / found.matched.sum()
    expected = sum(
        w * norm.cdf((u[order] - m) / s)
        for w, m, s in zip(found.law.weights, found.law.means, found.law.scales, strict=True)
    )
    distance = float(np.max(np.abs(np.cumsum(weight) - 0.5 * weight - expected)))
    off = np.zeros(len(u)) if facts.noise == "t" else _off(u, found.law, found.matched)
    return replace(facts, pit_distance=distance, off_proba=off)


def _off(u: FloatArray, law: NoiseLaw, matched: FloatArray) -> FloatArray:
    """Probability that a label is the row's own and from a component of gross errors."""
    return np.asarray(matched * (component_shares(u, law) @ off_components(law)))


def compare_chain(
    problem: Problem,
    fit: StochasticFit,
    facts: MismatchFit | None,
    checks: CheckSettings = CHECKS,
    *,
    expected: FloatArray | None = None,
) -> MismatchFit:
    """The facts of a fit by a chain; without an examination only its consistency is known.

    `expected` are labels beside rows that the fit expects, in the user's order, where mismatches
    are not equally likely in all rows.
    """
    assert fit.permutations is not None and fit.matches is not None
    state, rate = fit.permutations.state, fit.mismatch_rate
    assert rate is not None
    reference = LeastSquares(problem.X, fit_intercept=True)
    y, fitted = problem.restore(problem.y), problem.restore(state.fitted)
    seen, seen_rate = (fitted, rate) if expected is None else (expected, 0.0)
    distance, p_value = compare_with_least_squares(reference.basis(), y, seen, seen_rate)
    slope = slope_among_mismatched(y, fitted, np.asarray(fit.matches.match_proba))
    difference = NAN if facts is None else rate - facts.rate
    found = Consistency(distance, p_value, slope, difference)
    if facts is None:
        return MismatchFit(
            answer="mismatches",
            p_value=NAN,
            rate=NAN,
            rate_limit=NAN,
            radius=_radius(reference, y),
            tail_share=NAN,
            largest_share=NAN,
            gain=NAN,
            r_squared=_r_squared(reference, y),
            noise="normal",
            spread_by_fit=False,
            consistency=found,
            pit_distance=NAN,
            off_proba=None,
        )
    consistent = distance < checks.consistent_distance or p_value > checks.consistent_p
    answer = facts.answer if consistent else "inconsistent"
    return replace(facts, answer=answer, consistency=found)
