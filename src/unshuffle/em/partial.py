"""EM over partial matchings: least squares over the rows that hold a label, by their shares."""

import math
from typing import Any

import numpy as np

from ..alignment.partial import PartialAlignment, PartialChain
from ..alignment.state import State
from ..data.unequal import UnequalProblem
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray, IntArray
from .table import IteratedTable

# Share of the labels' spread. The sum of squares is a difference of sums over all labels, which
# rounding leaves uncertain by some 1e-16 of them.
SMALLEST_RELATIVE_NOISE = 1e-7


class PartialTable(IteratedTable[PartialAlignment]):
    r"""Rows and labels in unequal numbers.

    With :math:`p_i` the probability that row i holds a label, and labels held by nobody left out,

    .. math::

        w = \arg\min \sum_i E[1_i (y_{\pi(i)} - x_i^\top w)^2], \qquad
        s^2 = \frac{E \sum_i 1_i (y_{\pi(i)} - x_i^\top w)^2}{\sum_i p_i - k}.

    The share of rows without a label takes the place of the rate of mismatches in `State`.

    Parameters
    ----------
    problem : UnequalProblem
    solver : LeastSquares
        Of ``problem.X``.
    bounds : (float, float)
        Of the share of open rows that have a label.
    chain : PartialChain, optional
    """

    solver: LeastSquares

    def __init__(
        self,
        problem: UnequalProblem,
        solver: LeastSquares,
        bounds: tuple[float, float],
        chain: PartialChain | None = None,
    ) -> None:
        self.problem, self.solver, self.chain = problem, solver, chain
        self.n_rows = problem.n_rows
        high = min(bounds[1], problem.largest_share)
        self.bounds = min(bounds[0], high), high
        self.label_spread = float(problem.y.std())
        self.Z = coordinates_of_rows(problem.X, solver)

    def align(self, state: State, stream: int) -> PartialAlignment:
        """Expected labels at `state`."""
        if self.chain is None:
            raise TypeError("this table was made without a chain")
        return self.chain(state, stream)

    def solve(self, expected: PartialAlignment) -> State:
        """Coefficients, noise and the share of rows without a label."""
        holds, held = expected.holds, expected.held
        theta = self.coordinates(holds, held)
        fitted = self.Z @ theta
        objective = max(
            expected.squares - 2.0 * float(held @ fitted) + float(holds @ fitted**2), 0.0
        )
        freedom = max(float(holds.sum()) - self.solver.n_parameters, 1.0)
        noise = max(math.sqrt(objective / freedom), self.smallest_noise)
        share = float(holds[: self.problem.n_open_rows].mean()) if len(holds) else 0.0
        return self._state(theta, noise, objective, share, expected.label_of, holds)

    @property
    def smallest_noise(self) -> float:
        """Below it a noise is rounding."""
        return SMALLEST_RELATIVE_NOISE * self.label_spread

    def coordinates(self, holds: FloatArray, held: FloatArray) -> FloatArray:
        """Weighted least squares in the coordinates of `Z`."""
        gram = (self.Z * holds[:, None]).T @ self.Z
        theta = np.linalg.lstsq(gram, self.Z.T @ held, rcond=1e-12)[0]
        return np.asarray(theta, dtype=np.float64)

    def information(self, holds: FloatArray) -> FloatArray:
        """Complete-data information of the coordinates, times the noise variance."""
        gram: FloatArray = (self.Z * holds[:, None]).T @ self.Z
        return gram

    def start(self, theta: FloatArray, noise_scale: float, share: float, held: IntArray) -> State:
        """Initial values from coordinates, and the label that each row holds."""
        noise = max(noise_scale, self.smallest_noise)
        return self._state(theta, noise, float("nan"), share, held, None)

    def move(self, state: State, coef: FloatArray, intercept: float, **others: Any) -> State:
        """`state` at other parameters, with the fitted values that belong to them."""
        fitted = self.solver.predict(coef, intercept)
        return super().move(state, coef, intercept, fitted=fitted, **others)

    def _state(
        self,
        theta: FloatArray,
        noise: float,
        objective: float,
        share: float,
        label_of: IntArray,
        holds: FloatArray | None,
    ) -> State:
        share = min(max(share, self.bounds[0]), self.bounds[1])
        coef, intercept, fitted = to_coefficients(self.solver, self.Z @ theta)
        return State(
            coef, intercept, noise, objective, 1.0 - share, fitted, self.problem.y, label_of, holds
        )


def coordinates_of_rows(X: FloatArray, solver: LeastSquares) -> FloatArray:
    """Rows in coordinates in which distances of coefficients are those of fitted values.

    The first column is that of the intercept, where there is one.
    """
    Q = (X - solver.centre) @ solver.to_coef
    if not solver.fit_intercept:
        return np.ascontiguousarray(Q)
    return np.column_stack([np.full(len(X), len(X) ** -0.5), Q])


def to_coefficients(
    solver: LeastSquares, fitted: FloatArray
) -> tuple[FloatArray, float, FloatArray]:
    """Coefficients, intercept and fitted values that give `fitted`."""
    found = solver.solve(fitted)
    return found.coef, found.intercept, found.fitted


def coefficient_covariance(solver: LeastSquares, theta: FloatArray, n_rows: int) -> FloatArray:
    """Covariance of intercept (where there is one) and coefficients from that of coordinates."""
    if not solver.fit_intercept:
        lead = solver.to_coef
    else:
        lead = np.zeros((1 + len(solver.to_coef), len(theta)))
        lead[1:, 1:] = solver.to_coef
        lead[0, 1:] = -solver.centre @ solver.to_coef
        lead[0, 0] = n_rows**-0.5
    return np.asarray(lead @ theta @ lead.T)
