"""Fits where labels are given beside rows and most of them are right.

Labels that are merely odd must not be taken for another row's. So a fit with mismatches is the
answer only where the data show mismatches, and where it is consistent with an estimate that needs
no law of the noise; elsewhere the answer is least squares on the labels as given.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2, norm
from scipy.stats import f as fisher

from ..alignment.priors import Prior
from ..data.problem import Problem
from ..em.memory import start_from_coefficients
from ..families.least_squares import LeastSquares
from ..families.noise import component_shares, off_components
from ..inference.consistency import (
    Consistency,
    compare_with_least_squares,
    slope_among_mismatched,
)
from ..inference.expected_labels import expected_label_covariance, noise_pull
from ..inference.permutations import (
    PermutationPosterior,
    likely_permutation,
    without_features,
)
from ..inference.settings import CHECKS, CheckSettings
from ..kernels.noise import NoiseLaw
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..search.curve import MeanCurve
from ..search.noise_model import NoiseFit, NoiseModel
from ..search.rate_profile import RateProfile, profile_rate, shapes_named
from ..search.settings import DEFAULT, SearchSettings
from .data import InMemory
from .known import fit_known
from .results import (
    Iterations,
    MismatchFit,
    StochasticFit,
    Uncertainty,
    design_of,
    standard_errors_of,
)
from .robust import robust_covariance
from .stochastic import labels_as_given, matches_of

NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Examination:
    """What the labels as given show of mismatches.

    Attributes
    ----------
    problem : Problem
        The rows looked at: all, or a sample.
    model : NoiseModel
    profile : RateProfile
    best : NoiseFit or None
        The fit with mismatches that is the candidate for an answer.
    facts : MismatchFit
    """

    problem: Problem
    model: NoiseModel
    profile: RateProfile
    best: NoiseFit | None
    facts: MismatchFit

    @property
    def normal(self) -> bool:
        """Whether the noise is normal, with one spread for all rows."""
        shape = self.profile.shape
        return shape.name == "normal" and not shape.by_fit

    @property
    def whole(self) -> bool:
        """Whether all rows were looked at."""
        return self.best is not None and len(self.best.fitted) == self.problem.n_rows


def examine(
    problem: Problem,
    solver: LeastSquares,
    noise: str = "auto",
    checks: CheckSettings = CHECKS,
    settings: SearchSettings = DEFAULT,
) -> Examination:
    """Estimate rate and noise, test whether there are mismatches, and check consistency."""
    rows = _sample(problem, settings.profile.many_rows)
    X, y = rows.X[rows.user_rows(np.arange(rows.n_rows))], rows.y
    model = NoiseModel(MeanCurve(X, y, rows.starts, settings.curve), settings=settings.profile)
    profile = profile_rate(model, shapes_named(noise))
    reference = LeastSquares(X, fit_intercept=True)
    p_value = 0.5 * float(chi2.sf(profile.statistic, 1)) if profile.best.rate > 0.0 else 1.0
    facts = MismatchFit(
        answer="none",
        p_value=p_value,
        rate=profile.best.rate,
        rate_limit=profile.upper_limit,
        radius=_radius(reference, y),
        noise=profile.shape.name,
        spread_by_fit=profile.shape.by_fit,
        consistency=None,
        pit_distance=NAN,
        off_proba=None,
    )
    if p_value >= checks.mismatch_p:
        return Examination(rows, model, profile, None, _with_noise(facts, profile.none, model))
    free, tied = model.release(profile.shape, profile.best), profile.best
    found = _consistency(reference, y, free, tied)
    best, answer = free, "mismatches"
    if not _consistent(found, checks):
        best, found = tied, _consistency(reference, y, tied, tied)
        sure = p_value < checks.mismatch_p_sure and found.slope < checks.mismatched_slope
        answer = "bounded" if sure else "inconsistent"
    facts = _with_noise(replace(facts, answer=answer, consistency=found), best, model)
    return Examination(rows, model, profile, best, facts)


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


def _consistency(
    reference: LeastSquares, y: FloatArray, found: NoiseFit, tied: NoiseFit
) -> Consistency:
    fitted = reference.solve(found.expected(y)).fitted
    distance, p_value = compare_with_least_squares(reference.basis(), y, fitted, found.rate)
    slope = slope_among_mismatched(y, found.fitted, found.matched)
    return Consistency(distance, p_value, slope, found.rate - tied.rate)


def _consistent(found: Consistency, checks: CheckSettings) -> bool:
    """Whether least squares as given does not contradict a free fit."""
    near = found.distance < checks.consistent_distance
    close = abs(found.rate_difference) <= checks.rate_difference
    same = close and found.p_value > checks.consistent_p
    near = near and found.rate_difference < checks.rate_difference
    return found.slope < checks.mismatched_slope and (near or same)


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
    return replace(facts, pit_distance=distance, off_proba=_off(u, found.law, found.matched))


def _off(u: FloatArray, law: NoiseLaw, matched: FloatArray) -> FloatArray:
    """Probability that a label is the row's own and from a component of gross errors."""
    return np.asarray(matched * (component_shares(u, law) @ off_components(law)))


def compare_chain(
    problem: Problem,
    fit: StochasticFit,
    facts: MismatchFit | None,
    checks: CheckSettings = CHECKS,
) -> MismatchFit:
    """The facts of a fit by a chain; without an examination only its consistency is known."""
    assert fit.permutations is not None and fit.matches is not None
    state, rate = fit.permutations.state, fit.mismatch_rate
    assert rate is not None
    reference = LeastSquares(problem.X, fit_intercept=True)
    y, fitted = problem.restore(problem.y), problem.restore(state.fitted)
    distance, p_value = compare_with_least_squares(reference.basis(), y, fitted, rate)
    slope = slope_among_mismatched(y, fitted, np.asarray(fit.matches.match_proba))
    difference = NAN if facts is None else rate - facts.rate
    found = Consistency(distance, p_value, slope, difference)
    if facts is None:
        radius = _radius(reference, y)
        return MismatchFit("mismatches", NAN, NAN, NAN, radius, "normal", False, found, NAN, None)
    consistent = distance < checks.consistent_distance or p_value > checks.consistent_p
    answer = facts.answer if consistent else "inconsistent"
    return replace(facts, answer=answer, consistency=found)


def fit_as_given(data: InMemory, solver: LeastSquares, seed: int) -> StochasticFit:
    """Least squares on the labels as given, with standard errors that hold for unequal noise."""
    fit = fit_known(data, solver, seed)
    if data.problem.n_rows <= solver.n_parameters + 1:
        return fit
    robust = robust_covariance(data, fit).covariance.coef
    covariance = robust if solver.fit_intercept else robust[1:, 1:]
    assert fit.uncertainty is not None
    uncertainty = replace(
        fit.uncertainty, covariance=covariance, standard_errors=standard_errors_of(covariance)
    )
    return replace(fit, uncertainty=uncertainty)


def fit_expected(
    data: InMemory, solver: LeastSquares, seed: int, examination: Examination
) -> StochasticFit:
    """Least squares on expected labels: the given one, or the fitted value, by their odds."""
    problem, found = data.problem, examination.best
    assert found is not None
    expected = found.expected(problem.y)
    solution = solver.solve(problem.restore(expected))
    state = start_from_coefficients(problem, solver, solution.coef, solution.intercept)
    residual, weight = problem.y - state.fitted, float(found.matched.sum())
    noise = float(np.sqrt(found.matched @ residual**2 / max(weight - solver.n_parameters, 1.0)))
    rate = 1.0 - weight / problem.n_rows
    state = state._replace(
        noise_scale=noise,
        objective=float(found.matched @ residual**2),
        mismatch_rate=found.rate,
        match_proba=found.matched,
    )
    prior = Prior(found.rate, estimates=True)
    perm = likely_permutation(problem, prior, state)
    state = state._replace(perm=perm)
    return StochasticFit(
        coef=state.coef,
        intercept=state.intercept,
        noise_scale=noise,
        mismatch_rate=rate,
        design=design_of(problem.n_rows, problem.n_groups, solver),
        iterations=Iterations(True, np.array([state.objective]), state.coef[None]),
        acceptance_rate=None,
        tol=0.0,
        schedule=Schedule(0, 0, 1),
        temper=1.0,
        ridge=0.0,
        matches=matches_of(problem, expected, perm, found.matched),
        uncertainty=_uncertainty(problem, solver, state.fitted, expected, found),
        permutations=PermutationPosterior(without_features(problem), prior, state, seed),
        as_given=labels_as_given(data, solver),
    )


def _uncertainty(
    problem: Problem,
    solver: LeastSquares,
    fitted: FloatArray,
    expected: FloatArray,
    found: NoiseFit,
) -> Uncertainty:
    """Standard errors from the sandwich of the estimating equations."""
    n, first = problem.n_rows, int(solver.fit_intercept)
    basis = np.column_stack([np.full(n, n**-0.5), solver.basis()])
    pull = noise_pull((problem.y - fitted) / found.spread, found.law)
    movable = (np.arange(n) < problem.n_movable).astype(float)
    covariance = expected_label_covariance(
        basis,
        *(problem.restore(v) for v in (
            expected - fitted, problem.y - fitted, pull, found.matched, movable,
        )),
    )  # fmt: skip
    leads = np.zeros((1 + len(solver.to_coef), 1 + solver.rank))
    leads[1:, 1:] = solver.to_coef
    if first:
        leads[0] = np.append(n**-0.5, -solver.centre @ solver.to_coef)
    coef = (leads @ covariance.theta @ leads.T)[1 - first :, 1 - first :]
    share = problem.n_movable / n
    return Uncertainty(
        covariance=coef,
        standard_errors=standard_errors_of(coef),
        noise_scale_se=NAN,
        mismatch_rate_se=share * float(np.sqrt(covariance.rate)),
        fraction_kept=covariance.fraction_kept,
        inflation=covariance.inflation,
    )
