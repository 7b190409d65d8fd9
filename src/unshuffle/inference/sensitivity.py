"""How much a fit depends on the size of the noise, and how much of it is plain shrinkage."""

import numpy as np

from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..em.memory import solve
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from .sampling_settings import SENSITIVITY, SensitivitySettings


def tempered_coef(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    align: SampledAlignment,
    first_stream: int,
    settings: SensitivitySettings = SENSITIVITY,
) -> FloatArray:
    """Coefficients when labels are aligned as if there were half as much noise again.

    The noise is held there for a few iterations: re-estimated, it would grow with every step and
    take any fit to the group means.
    """
    scale, moved = settings.inflation * state.noise_scale, state
    for k in range(settings.iterations):
        inflated = moved._replace(noise_scale=scale)
        moved = solve(problem, solver, align(inflated, first_stream + k))
    return moved.coef


def relative_shift(solver: LeastSquares, coef: FloatArray, moved: FloatArray) -> float:
    """Distance of fitted values, as a share of the length of those by `coef`."""
    length = solver.length(coef)
    return solver.length(moved - coef) / length if length > 0.0 else float("inf")


def shrinkage_share(fitted: FloatArray, as_given: FloatArray) -> float:
    """Share of the variance of `fitted` that a multiple of `as_given` explains.

    With the fitted values of least squares on the labels as given, this is the share of a fit
    that shrinking that fit gives without any search.
    """
    one, other = fitted - fitted.mean(), as_given - as_given.mean()
    lengths = float(np.linalg.norm(one) * np.linalg.norm(other))
    return float(one @ other / lengths) ** 2 if lengths > 0.0 else 0.0
