"""Fits where labels are given beside rows and most of them are right.

Labels that are merely odd must not be taken for another row's. So a fit with mismatches is the
answer only where the data show mismatches, and where it is consistent with an estimate that needs
no law of the noise; elsewhere the answer is least squares on the labels as given.
"""

import numpy as np

from ..alignment.priors import Prior
from ..data.problem import Problem
from ..em.memory import start_from_coefficients
from ..families.least_squares import LeastSquares
from ..inference.expected_labels import expected_label_covariance
from ..inference.permutations import (
    PermutationPosterior,
    likely_permutation,
    without_features,
)
from ..inference.sampling_settings import SANDWICH
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..search.label_fit import LabelFit
from .data import InMemory
from .known import fit_known
from .results import (
    Errors,
    Iterations,
    StochasticFit,
    Uncertainty,
    design_of,
    standard_errors_of,
)
from .stochastic import labels_as_given, matches_of

NAN = float("nan")


def fit_as_given(
    data: InMemory, solver: LeastSquares, seed: int, covariance: str = "auto"
) -> StochasticFit:
    """Least squares on the labels as given, with standard errors that hold for unequal noise.

    "auto" takes robust standard errors wherever there are rows enough: whether labels are
    exchanged is not known for sure, and that makes the noise unequal.
    """
    enough = data.problem.n_rows >= SANDWICH.spare_units + solver.n_parameters + 1
    robust = covariance == "auto" and enough
    return fit_known(data, solver, seed, "robust" if robust else covariance)


def fit_expected(data: InMemory, solver: LeastSquares, seed: int, found: LabelFit) -> StochasticFit:
    """Least squares on expected labels: the given one, or the fitted value, by their odds."""
    problem = data.problem
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
    uncertainty = _uncertainty(problem, solver, state.fitted, expected, found)
    design = design_of(problem.n_rows, problem.n_groups, solver)
    return StochasticFit(
        coef=state.coef,
        intercept=state.intercept,
        noise_scale=noise,
        mismatch_rate=rate,
        design=design,
        iterations=Iterations(True, np.array([state.objective]), state.coef[None]),
        acceptance_rate=None,
        tol=0.0,
        schedule=Schedule(0, 0, 1),
        temper=1.0,
        ridge=0.0,
        matches=matches_of(problem, expected, perm, found.matched),
        uncertainty=uncertainty,
        permutations=PermutationPosterior(without_features(problem), prior, state, seed),
        as_given=labels_as_given(data, solver),
        errors=Errors("robust", uncertainty, design.freedom),
    )


def _uncertainty(
    problem: Problem,
    solver: LeastSquares,
    fitted: FloatArray,
    expected: FloatArray,
    found: LabelFit,
) -> Uncertainty:
    """Standard errors from the sandwich of the estimating equations."""
    n, first = problem.n_rows, int(solver.fit_intercept)
    basis = np.column_stack([np.full(n, n**-0.5), solver.basis()])
    # Probabilities of a match depend on the distance from the curve, not from the plane.
    distance = problem.y - found.fitted
    movable = (np.arange(n) < problem.n_movable).astype(float)
    covariance = expected_label_covariance(
        basis,
        *(problem.restore(v) for v in (
            expected - fitted, distance, found.pull(problem.y), found.matched, movable,
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
