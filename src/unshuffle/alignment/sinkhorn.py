"""Sinkhorn alignment: the doubly stochastic matrix nearest to the likelihood of each pair.

``P = diag(u) K diag(v)`` with ``K_ij = exp(-(mu_i - y_j)² / 2s² - cost_i [i ≠ j])`` and rows and
columns that add up to one; ``ŷ = P y``. Deterministic, and a good approximation of the posterior
means where many labels lie within the noise of a row.
"""

import numpy as np
from scipy.special import logsumexp

from ..data.problem import Problem
from ..families.family import Family
from ..families.normal import NORMAL
from ..kernels.local import RowPrior
from ..kernels.types import FloatArray
from .grid import scale_on_grid
from .priors import Prior
from .settings import SINKHORN, SinkhornSettings
from .soft import SoftAlignment
from .state import Alignment, State


class SinkhornAlignment(SoftAlignment):
    """Scale the likelihoods of all pairs of each block.

    O(m²) time and memory for m rows, and O(m) for large blocks, on a grid.
    """

    def __init__(
        self,
        problem: Problem,
        prior: Prior,
        family: Family = NORMAL,
        settings: SinkhornSettings = SINKHORN,
    ) -> None:
        super().__init__(problem, prior, family)
        self.settings = settings
        if prior.places is not None:
            self._check_largest(
                "sinkhorn", settings.largest_dense_block, "use 'chain' with max_shift"
            )
        # Column potentials, carried over: the next iteration starts where this one ended.
        self._columns = np.zeros(problem.n_movable)

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Scaled means at `state`; `iteration` plays no role."""
        problem, y = self.problem, self.problem.y
        by_row = self.prior.by_row(problem, state.mismatch_rate)
        expected, matched = y.copy(), np.ones(problem.n_rows)
        for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
            rows = slice(int(first), int(last))
            expected[rows], matched[rows] = self._scale_block(state, y[rows], rows, by_row)
        return self.conclude(state, expected, matched, state.perm)

    def _scale_block(
        self, state: State, y: FloatArray, rows: slice, by_row: RowPrior
    ) -> tuple[FloatArray, FloatArray]:
        """Expected labels and probabilities of the own one, for one block."""
        on_grid = self.family.depends_on_difference and not len(by_row.places)
        if len(y) >= self.settings.smallest_grid_block and on_grid:
            scaled = scale_on_grid(
                state.fitted[rows], y, state.noise_scale, by_row.costs[rows], self._columns[rows],
                self.settings.tolerance, self.settings.grid,
            )  # fmt: skip
            if scaled is not None:
                self._columns[rows] = scaled.columns
                return scaled.expected, scaled.matched
        if len(y) > self.settings.largest_dense_block:
            raise ValueError(
                f"alignment='sinkhorn' needs more noise than {state.noise_scale:.3g} for a group "
                f"of {len(y)} rows; use 'chain'"
            )
        log_kernel = self._log_kernel(state, y, rows, by_row)
        plan, self._columns[rows] = scale(log_kernel, self._columns[rows], self.settings)
        # Rows add up to one only to the tolerance: what multiplies them must not depend on where
        # the labels' zero is.
        centre = float(y.mean())
        return centre + plan @ (y - centre), np.diagonal(plan)

    def _log_kernel(self, state: State, y: FloatArray, rows: slice, by_row: RowPrior) -> FloatArray:
        """Log likelihood of every pair of a block, with the prior."""
        log_kernel = self.family.log_density(y, state.fitted[rows, None], state.noise_scale)
        if len(by_row.costs):
            # A bonus for the own label is a cost for every other one.
            np.fill_diagonal(log_kernel, np.diagonal(log_kernel) + by_row.costs[rows])
        if len(by_row.places):
            places = by_row.places[rows]
            log_kernel[np.abs(places[:, None] - places) > by_row.reach] = -np.inf
        return log_kernel


def scale(
    log_kernel: FloatArray, columns: FloatArray, settings: SinkhornSettings = SINKHORN
) -> tuple[FloatArray, FloatArray]:
    """Make exp(log_kernel) doubly stochastic; return the matrix and the column potentials.

    Potentials are absorbed into the kernel in the log domain again and again, so that nothing
    under- or overflows however small the noise is; between two absorptions plain products do.
    """
    for _ in range(settings.rounds):
        shifted = log_kernel + columns
        plan = np.exp(shifted - logsumexp(shifted, axis=1, keepdims=True))
        left, right, converged = _balance(plan, settings)
        columns = columns + np.log(right)
        if converged:
            break
    plan *= left[:, None]
    plan *= right
    return plan, columns - columns.mean()


def _balance(plan: FloatArray, settings: SinkhornSettings) -> tuple[FloatArray, FloatArray, bool]:
    """Factors for rows and columns, by plain products, until they grow out of hand."""
    right = np.ones(len(plan))
    for step in range(settings.steps_per_round):
        left = 1.0 / np.maximum(plan @ right, 1e-250)
        right = 1.0 / np.maximum(left @ plan, 1e-250)
        if step % settings.steps_per_check == settings.steps_per_check - 1:
            if float(np.abs(left * (plan @ right) - 1.0).max()) < settings.tolerance:
                return left, right, True
            if float(right.max()) > 1e100:
                break
    return left, right, False
