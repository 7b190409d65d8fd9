"""Numbers of the fits of families, and why they have their values."""

from dataclasses import dataclass


@dataclass(frozen=True)
class GlmSettings:
    """What a user decides about a fit of a family.

    Attributes
    ----------
    pairing : {"auto", "lost", "mostly-right", "known"}
    mismatch_rate : float or None
        None estimates it.
    """

    seed: int = 0
    pairing: str = "auto"
    mismatch_rate: float | None = None
    fit_intercept: bool = True
    covariance: str = "model"
    max_iter: int = 200


@dataclass(frozen=True)
class ClimbSettings:
    """How the likelihood is maximised."""

    # Shares of redrawn labels from which climbs start; the slopes of the labels as given are taken
    # to be so much smaller than those of the rows' own labels.
    starts: tuple[float, ...] = (0.02, 0.15, 0.4)
    first_steps: int = 12  # of each start; the best one continues
    lowest_logit: float = -9.0  # a rate below 0.0002 is no mismatch
    highest_logit: float = 7.0
    newton_steps: int = 8
    difference: float = 1e-4  # of parameters, for derivatives of the gradient
    gradient: float = 1e-7  # of the mean log-likelihood, at which a climb has converged


@dataclass(frozen=True)
class BaselineSettings:
    """The baseline hazard at given coefficients."""

    max_iter: int = 200
    tolerance: float = 1e-9  # relative change of the cumulative hazard


CLIMB = ClimbSettings()
BASELINE = BaselineSettings()
