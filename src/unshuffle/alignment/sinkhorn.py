"""Sinkhorn alignment: the doubly stochastic matrix nearest to the likelihood of each pair.

``P = diag(u) K diag(v)`` with ``K_ij = exp(-(mu_i - y_j)² / 2s² - cost_i [i ≠ j])`` and rows and
columns that add up to one; ``ŷ = P y``. Deterministic, and a good approximation of the posterior
means where many labels lie within the noise of a row.
"""

import numpy as np
from scipy.special import logsumexp

from ..data.problem import Problem
from ..kernels.local import Belief
from ..kernels.types import FloatArray
from .grid import scale_on_grid
from .priors import Prior
from .soft import SoftAlignment
from .state import Alignment, State

LARGEST_DENSE_BLOCK = 5_000
SMALLEST_GRID_BLOCK = 1_000  # below it the dense matrix is as fast
TOLERANCE = 1e-4  # of the row sums
ROUNDS = 10
STEPS_PER_ROUND = 200
STEPS_PER_CHECK = 10


class SinkhornAlignment(SoftAlignment):
    """Scale the likelihoods of all pairs of each block.

    O(m²) time and memory for m rows, and O(m) for large blocks, on a grid.
    """

    def __init__(self, problem: Problem, prior: Prior) -> None:
        super().__init__(problem, prior)
        if prior.places is not None:
            self._check_largest("sinkhorn", LARGEST_DENSE_BLOCK, "use 'chain' with max_shift")
        # Column potentials, carried over: the next iteration starts where this one ended.
        self._columns = np.zeros(problem.n_movable)

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Scaled means at `state`; `iteration` plays no role."""
        problem, y = self.problem, self.problem.y
        belief = self.prior.belief(problem, state.mismatch_rate)
        expected, home = y.copy(), np.ones(problem.n_rows)
        for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
            rows = slice(int(first), int(last))
            expected[rows], home[rows] = self._scale_block(state, y[rows], rows, belief)
        return self.conclude(state, expected, home, state.perm)

    def _scale_block(
        self, state: State, y: FloatArray, rows: slice, belief: Belief
    ) -> tuple[FloatArray, FloatArray]:
        """Expected labels and chances of the own one, for one block."""
        if len(y) >= SMALLEST_GRID_BLOCK and not len(belief.places):
            scaled = scale_on_grid(
                state.fitted[rows], y, state.noise_scale, belief.costs[rows], self._columns[rows],
                TOLERANCE,
            )  # fmt: skip
            if scaled is not None:
                self._columns[rows] = scaled.columns
                return scaled.expected, scaled.home
        if len(y) > LARGEST_DENSE_BLOCK:
            raise ValueError(
                f"alignment='sinkhorn' needs more noise than {state.noise_scale:.3g} for a group "
                f"of {len(y)} rows; use 'chain'"
            )
        plan, self._columns[rows] = scale(_log_kernel(state, y, rows, belief), self._columns[rows])
        return plan @ y, np.diagonal(plan)


def scale(log_kernel: FloatArray, columns: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Make exp(log_kernel) doubly stochastic; return the matrix and the column potentials.

    Potentials are absorbed into the kernel in the log domain again and again, so that nothing
    under- or overflows however small the noise is; between two absorptions plain products do.
    """
    for _ in range(ROUNDS):
        shifted = log_kernel + columns
        plan = np.exp(shifted - logsumexp(shifted, axis=1, keepdims=True))
        left, right, converged = _balance(plan)
        columns = columns + np.log(right)
        if converged:
            break
    plan *= left[:, None]
    plan *= right
    return plan, columns - columns.mean()


def _balance(plan: FloatArray) -> tuple[FloatArray, FloatArray, bool]:
    """Factors for rows and columns, by plain products, until they grow out of hand."""
    right = np.ones(len(plan))
    for step in range(STEPS_PER_ROUND):
        left = 1.0 / np.maximum(plan @ right, 1e-250)
        right = 1.0 / np.maximum(left @ plan, 1e-250)
        if step % STEPS_PER_CHECK == STEPS_PER_CHECK - 1:
            if float(np.abs(left * (plan @ right) - 1.0).max()) < TOLERANCE:
                return left, right, True
            if float(right.max()) > 1e100:
                break
    return left, right, False


def _log_kernel(state: State, y: FloatArray, rows: slice, belief: Belief) -> FloatArray:
    log_kernel = -0.5 * ((state.fitted[rows, None] - y) / state.noise_scale) ** 2
    if len(belief.costs):
        # A bonus for the own label is a cost for every other one.
        np.fill_diagonal(log_kernel, np.diagonal(log_kernel) + belief.costs[rows])
    if len(belief.places):
        places = belief.places[rows]
        log_kernel[np.abs(places[:, None] - places) > belief.reach] = -np.inf
    return log_kernel
