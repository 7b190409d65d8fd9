r"""Does the model's covariance of the estimates hold? Two tests on the scores of independent units.

*Noise.* Under the alternative the variance of the noise is :math:`s^2 \exp(\gamma_1 f + \gamma_2
f^2)` with f the standardised fitted values. Its observed-data score of a unit is the expectation
over permutations of :math:`\sum_i w_i (e_i^2 / s^2 - 1)`, with w the two regressors around their
means. The score test takes the units' own squares for its variance, less what their scores for
the estimated parameters explain. So it holds for any kurtosis of the noise (Koenker [1]_).

*Information.* Under the model the squared influences of the units add up to the inverse
information (White [2]_). Compared is the mean over all directions of the slopes, on the scale of
its logarithm, which is nearer to normal.

.. [1] Koenker, R. (1981), A note on studentizing a test for heteroscedasticity, *Journal of
   Econometrics* 17(1), 107-112.
.. [2] White, H. (1982), Maximum likelihood estimation of misspecified models, *Econometrica* 50(1),
   1-25.
"""

import numpy as np
from scipy.stats import f as fisher
from scipy.stats import t as student

from ..alignment.state import State
from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray, IntArray
from .sandwich import Expected, Influences, influences, residual_squares


def model_p_value(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    expected: Expected,
    codes: IntArray,
    mismatch_rate: float | None,
    *,
    exchanged: bool = False,
) -> float:
    """P-value of the model's covariance, from both tests; arguments as of `sandwich`.

    Where rows have `exchanged` labels with each other their scores are not independent, and the
    second test is one of noise that changes with the leverage of rows.
    """
    found = influences(problem, solver, state, expected, codes, mismatch_rate)
    first, p, n = int(solver.fit_intercept), solver.n_parameters, problem.n_rows
    if solver.rank == 0:
        return 1.0
    noise = noise_p_value(problem.restore(_noise_parts(state, expected)), codes, found)
    scale = len(found.units) / (len(found.units) - 1) * (n - 1) / (n - p)
    slopes = slice(first, first + solver.rank)
    if exchanged:
        parts = _leverage_parts(problem, solver, state, expected, found.inverse[slopes, slopes])
        return min(1.0, 2.0 * min(noise, noise_p_value(parts, codes, found)))
    information = information_p_value(found.units[:, slopes], found.inverse[slopes, slopes], scale)
    return min(1.0, 2.0 * min(noise, information))


def _noise_parts(state: State, expected: Expected) -> FloatArray:
    """The two terms of each (arranged) row's score; shape (n, 2)."""
    fitted, variance = state.fitted, state.noise_scale**2
    squares = residual_squares(state, expected)
    standard = (fitted - fitted.mean()) / fitted.std() if fitted.std() > 0.0 else fitted
    regressors = np.stack([standard, standard**2], axis=1)
    parts: FloatArray = (regressors - regressors.mean(axis=0)) * (squares / variance - 1.0)[:, None]
    return parts


def _leverage_parts(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    expected: Expected,
    inverse: FloatArray,
) -> FloatArray:
    """Beside the user's rows, squared residuals that add up to the change of all variances."""
    columns = (solver.X - solver.centre) @ solver.to_coef
    leverage = np.einsum("ij,jk,ik->i", columns, inverse, columns)
    squares = problem.restore(residual_squares(state, expected)) / state.noise_scale**2 - 1.0
    parts: FloatArray = ((leverage - leverage.mean()) * squares)[:, None]
    return parts


def noise_p_value(parts: FloatArray, codes: IntArray, found: Influences) -> float:
    """Score test of noise that changes with the fitted values; `parts` beside the user's rows."""
    n_units, size = found.units.shape
    units = np.stack([np.bincount(codes, part, minlength=n_units) for part in parts.T], axis=1)
    total, freedom = units.sum(axis=0), n_units - size - 1
    length = np.sqrt((found.units**2).sum(axis=0))  # coefficients and noise have units of their own
    influences = found.units / np.where(length > 0.0, length, 1.0)
    left = units - influences @ np.linalg.lstsq(influences, units, rcond=None)[0]
    products = left.T @ left
    rank = int(np.linalg.matrix_rank(products, hermitian=True))
    if rank == 0 or freedom <= rank:
        return 1.0
    statistic = float(total @ np.linalg.pinv(products, hermitian=True) @ total)
    # Units less parameters, as in Hotelling's test.
    ratio = statistic * (freedom - rank + 1) / (n_units * rank)
    return float(fisher.sf(ratio, rank, freedom - rank + 1))


def information_p_value(units: FloatArray, covariance: FloatArray, scale: float) -> float:
    """Test of squared influences, times `scale`, against the model's covariance of the slopes."""
    root = np.linalg.cholesky(np.linalg.inv(covariance))
    squares = scale * ((units @ root) ** 2).mean(axis=1)
    ratio = float(squares.sum())
    spread = float(np.sqrt(((squares - squares.mean()) ** 2).sum()))
    if ratio <= 0.0 or spread <= 0.0:
        return 1.0
    return float(2.0 * student.sf(abs(np.log(ratio)) * ratio / spread, len(units) - 1))
