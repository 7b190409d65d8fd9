"""Numbers of the M-step, and why they have their values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SolverSettings:
    """Least squares."""

    rows_per_block: int = 16_384  # of X at a time: a block stays in the cache
    # In standard deviations of a column: where columns lie nearer to zero, sums over them lose
    # nothing, and no block need be copied to centre it.
    far_from_zero: float = 100.0
    # Ratio of the singular values of scaled columns up to which a refinement would change nothing.
    well_conditioned: float = 100.0
    nearly_orthonormal: float = 0.01  # up to here a triangle mends a basis, at a tenth of the cost
    # Rounding of products hides directions with a smaller share of the largest eigenvalue.
    smallest_eigenvalue: float = 1e-13


SOLVER = SolverSettings()
