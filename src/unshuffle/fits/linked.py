"""Fits where labels are given beside rows and most of them are right.

Labels that are merely odd must not be taken for another row's. So a fit with mismatches is the
answer only where the data show mismatches, and where it is consistent with an estimate that needs
no law of the noise; elsewhere the answer is least squares on the labels as given.
"""

from dataclasses import replace

import numpy as np

from ..alignment.priors import Prior
from ..data.problem import Problem
from ..em.memory import start_from_coefficients
from ..families.least_squares import LeastSquares
from ..inference.expected_labels import expected_label_covariance, noise_pull
from ..inference.permutations import (
    PermutationPosterior,
    likely_permutation,
    without_features,
)
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..search.noise_model import NoiseFit
from .data import InMemory
from .known import fit_known
from .results import (
    Iterations,
    StochasticFit,
    Uncertainty,
    design_of,
    standard_errors_of,
)
from .robust import robust_covariance
from .stochastic import labels_as_given, matches_of

NAN = float("nan")


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


def fit_expected(data: InMemory, solver: LeastSquares, seed: int, found: NoiseFit) -> StochasticFit:
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
    # Probabilities of a match depend on the distance from the curve, not from the plane.
    distance = problem.y - found.fitted
    pull = noise_pull(distance / found.spread, found.law)
    movable = (np.arange(n) < problem.n_movable).astype(float)
    covariance = expected_label_covariance(
        basis,
        *(problem.restore(v) for v in (
            expected - fitted, distance, pull, found.matched, movable,
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
