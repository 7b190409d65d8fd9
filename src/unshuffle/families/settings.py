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


@dataclass(frozen=True)
class ScoringSettings:
    """Fisher scoring."""

    max_iter: int = 60
    halvings: int = 30
    # As shares of the size of the sums that make up the log-likelihood.
    smallest_gain: float = 1e-16
    rounding: float = 1e-14
    # Separation: a standard error of a feature of unit variance, and a distance on the scale of the
    # linear predictor, that labels with a finite coefficient do not reach.
    separated_error: float = 50.0
    separated_eta: float = 12.0
    # Log odds are seldom beyond 5: where labels are separated, predictors have the prior of a
    # normal coefficient of standard deviation 2.5 of a feature of unit variance.
    separated_penalty: float = 0.16


IRLS = ScoringSettings()
