"""Fits where labels are given beside rows and most of them are right.

Labels that are merely odd must not be taken for another row's. So a fit with mismatches is the
answer only where the data show mismatches, and where it is consistent with an estimate that needs
no law of the noise; elsewhere the answer is least squares on the labels as given.
"""

from dataclasses import replace

import numpy as np

from ..alignment.priors import Prior
from ..alignment.state import State
from ..data.problem import Problem
from ..em.memory import start_from_coefficients
from ..families.least_squares import LeastSquares
from ..families.noise import noise_slopes
from ..inference.expected_labels import expected_label_covariance
from ..inference.mixture_information import mixture_covariance, sandwich_covariance
from ..inference.permutations import (
    PermutationPosterior,
    likely_permutation,
    without_features,
)
from ..inference.sampling_settings import SANDWICH
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray
from ..search.label_fit import LabelFit
from ..search.law_mixture import LawMixture
from .averaged import Averaged, average_errors
from .data import InMemory
from .known import fit_known
from .mixture_errors import law_errors, law_scale
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
    expected, state = _solve(data, solver, found)
    uncertainty = _uncertainty(data.problem, solver, state.fitted, expected, found)
    return _assemble(data, solver, seed, found, state, uncertainty, "robust")


def fit_averaged(
    data: InMemory, solver: LeastSquares, fit: StochasticFit, found: LabelFit, weight: float
) -> StochasticFit:
    """The fit of `found` with so much weight, averaged with least squares as given."""
    assert fit.permutations is not None
    seed = fit.permutations.seed
    uncertainty = average_errors(fit, fit_as_given(data, solver, seed), weight)
    averaged = Averaged(found, weight)
    state = _solve(data, solver, averaged)[1]
    return _assemble(data, solver, seed, averaged, state, uncertainty, "robust")


def _solve(data: InMemory, solver: LeastSquares, found: LabelFit) -> tuple[FloatArray, State]:
    """Expected labels, and least squares on them."""
    problem = data.problem
    expected = found.expected(problem.y)
    solution = solver.solve(problem.restore(expected))
    return expected, start_from_coefficients(problem, solver, solution.coef, solution.intercept)


def fit_likelihood(
    data: InMemory, solver: LeastSquares, seed: int, mixture: LawMixture, covariance: str = "auto"
) -> StochasticFit:
    """Maximum likelihood under a law of the noise, which was asked for."""
    problem, found = data.problem, mixture.found
    solution = solver.solve(problem.restore(found.fitted))
    state = start_from_coefficients(problem, solver, solution.coef, solution.intercept)
    kind = "model" if covariance == "model" else "robust"
    estimate = mixture_covariance if kind == "model" else sandwich_covariance
    rate = None if found.rate > 0.0 else 0.0
    errors = law_errors(data, solver, mixture, rate, estimate)
    first, scale = int(solver.fit_intercept), law_scale(problem, found)
    kept = found.matched * noise_slopes(problem.y - found.fitted, found.law)[1]
    usual = solver.rank * float(found.matched.sum()) / max(float(kept.sum()), 1e-300)
    centred = solver.X - solver.X.mean(axis=0)
    spread = float(((centred @ errors.coef[first:, first:]) * centred).sum())
    inflation = float(np.sqrt(spread / usual))
    uncertainty = Uncertainty(
        covariance=errors.coef,
        standard_errors=standard_errors_of(errors.coef),
        noise_scale_se=scale * float(np.sqrt(errors.log_noise)),
        mismatch_rate_se=errors.rate_error(found.rate) * problem.n_movable / problem.n_rows,
        fraction_kept=inflation**-2.0,
        inflation=inflation,
    )
    fit = _assemble(data, solver, seed, found, state, uncertainty, kind)
    return replace(fit, iterations=replace(fit.iterations, converged=mixture.converged))


def _assemble(
    data: InMemory,
    solver: LeastSquares,
    seed: int,
    found: LabelFit,
    state: State,
    uncertainty: Uncertainty,
    kind: str,
) -> StochasticFit:
    """A fit from its coefficients, the match probabilities and the standard errors."""
    problem = data.problem
    residual, weight = problem.y - state.fitted, float(found.matched.sum())
    noise = float(np.sqrt(found.matched @ residual**2 / max(weight - solver.n_parameters, 1.0)))
    state = state._replace(
        noise_scale=noise,
        objective=float(found.matched @ residual**2),
        mismatch_rate=found.rate,
        match_proba=found.matched,
    )
    prior = Prior(found.rate, estimates=True)
    perm = likely_permutation(problem, prior, state)
    state = state._replace(perm=perm)
    design = design_of(problem.n_rows, problem.n_groups, solver)
    return StochasticFit(
        coef=state.coef,
        intercept=state.intercept,
        noise_scale=noise,
        mismatch_rate=1.0 - weight / problem.n_rows,
        design=design,
        iterations=Iterations(True, np.array([state.objective]), state.coef[None]),
        acceptance_rate=None,
        tol=0.0,
        schedule=Schedule(0, 0, 1),
        temper=1.0,
        ridge=0.0,
        matches=matches_of(problem, found.expected(problem.y), perm, found.matched),
        uncertainty=uncertainty,
        permutations=PermutationPosterior(without_features(problem), prior, state, seed),
        as_given=labels_as_given(data, solver),
        errors=Errors(kind, uncertainty, design.freedom),
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
