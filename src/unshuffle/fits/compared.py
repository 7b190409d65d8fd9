"""How a chain over permutations, or a law that was asked for, compares with other fits.

What the examination found of the labels stays; what it found of its own fit is replaced.
"""

from dataclasses import replace

import numpy as np

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..inference.consistency import (
    Consistency,
    compare_with_least_squares,
    slope_among_mismatched,
)
from ..inference.settings import CHECKS, CheckSettings
from ..kernels.types import FloatArray
from ..search.label_fit import LabelFit
from ..search.law_mixture import LawMixture
from .as_given import noise_radius, r_squared, radius_of
from .auto_results import NAN, MismatchFit
from .mismatch_candidates import is_near
from .results import StochasticFit


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
            radius=radius_of(reference, y),
            tail_share=NAN,
            largest_share=NAN,
            gain=NAN,
            r_squared=r_squared(reference, y),
            noise="normal",
            spread_by_fit=False,
            consistency=found,
            pit_distance=NAN,
            off_proba=None,
            two_models=False,
            agreement=NAN,
        )
    near = is_near(distance, p_value, checks)
    other_rate = abs(difference) > checks.rate_difference
    answer = "inconsistent" if other_rate or not near else facts.answer
    return replace(facts, answer=answer, consistency=found)


def radii_between(
    problem: Problem, solver: LeastSquares, fit: StochasticFit, other: LabelFit
) -> float:
    """Distance of a fit from least squares on the labels that another expects.

    In 95 % radii of a fit with known order and the noise of the first; nan without noise.
    """
    assert fit.permutations is not None
    labels = problem.restore(other.expected(problem.y))
    apart = solver.solve(labels).fitted - problem.restore(fit.permutations.state.fitted)
    radius = noise_radius(solver, fit.noise_scale, max(fit.design.freedom, 1))
    return float(np.linalg.norm(apart - apart.mean())) / radius if radius > 0.0 else NAN


def compare_law(
    problem: Problem, mixture: LawMixture, facts: MismatchFit, checks: CheckSettings = CHECKS
) -> MismatchFit:
    """The facts of maximum likelihood under a law of the noise that was asked for."""
    reference, found = LeastSquares(problem.X, fit_intercept=True), mixture.found
    y, fitted = problem.restore(problem.y), problem.restore(found.fitted)
    distance, p_value = compare_with_least_squares(reference.basis(), y, fitted, found.rate)
    slope = slope_among_mismatched(problem.y, found.fitted, found.matched)
    answer = "none" if facts.answer == "none" else "mismatches"
    matched = problem.restore(found.matched)
    return replace(
        facts,
        answer=answer if is_near(distance, p_value, checks) else "inconsistent",
        consistency=Consistency(distance, p_value, slope, NAN),
        noise=mixture.shape.name,
        spread_by_fit=False,
        off_proba=None if facts.off_proba is None else np.minimum(facts.off_proba, matched),
        named_law=True,
    )
