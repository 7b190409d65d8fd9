"""Numbers of the fits of families, and why they have their values."""

from dataclasses import dataclass

from ...inference.audited_rate import Audit


@dataclass(frozen=True)
class GlmSettings:
    """What a user decides about a fit of a family.

    Attributes
    ----------
    pairing : {"auto", "lost", "mostly-right", "known"}
    mismatch_rate : float or None
        None estimates it.
    audit : Audit or None
        Where the rate comes from; its uncertainty goes into the standard errors.
    """

    seed: int = 0
    pairing: str = "auto"
    mismatch_rate: float | None = None
    audit: Audit | None = None
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
    nearly_none: float = -4.0  # with a rate below 0.02 zero is tried as well
    highest_logit: float = 7.0
    newton_steps: int = 8
    difference: float = 1e-4  # of parameters, for derivatives of the gradient
    gradient: float = 1e-7  # of the mean log-likelihood, at which a climb has converged
    left: float = 0.01  # standard errors; a climb with no more to go has converged as well


@dataclass(frozen=True)
class BaselineSettings:
    """The baseline hazard at given coefficients."""

    max_iter: int = 200
    # Relative change of the cumulative hazard, while coefficients move and for derivatives.
    rough: float = 1e-6
    tolerance: float = 1e-9


CLIMB = ClimbSettings()
BASELINE = BaselineSettings()


@dataclass(frozen=True)
class FamilyCheckSettings:
    """From which value on a check advises caution, or rejects a fit."""

    labels_per_coefficient: float = 10.0  # the usual rule of events per variable
    fewest_labels: float = 2.0
    long_predictor: float = 15.0  # odds of three million to one
    rate_error: float = 0.15  # an interval of the rate that spans more than half of all rates
    consistent_distance: float = 0.1
    consistent_p: float = 0.01
    disagree_p: float = 1e-4
    # Standard errors from sums of groups over those of known order.
    # As for a match against unrelated labels.
    relation_caution: float = 0.01
    relation_reject: float = 0.05
    sums_caution: float = 10.0
    sums_reject: float = 40.0


@dataclass(frozen=True)
class OrderSettings:
    """Which pairing the test of the order decides for."""

    informative: float = 0.001  # as for normal labels


FAMILY_CHECKS = FamilyCheckSettings()
ORDER = OrderSettings()


@dataclass(frozen=True)
class SumsSettings:
    """The fit to sums of groups."""

    groups_per_coefficient: int = 3
    max_iter: int = 100
    tolerance: float = 1e-8
    smallest_share: float = 1e-10  # of the information about the best known direction


@dataclass(frozen=True)
class LostSettings:
    """Labels in lost order."""

    largest_group: int = 5_000  # whose table of yes/no labels has 100 MB
    steps_per_row: int = 10
    burn_in_per_row: int = 2
    max_iter: int = 200
    window: int = 15
    tolerance: float = 0.05  # of a standard error with known order
    snapshots: int = 100


SUMS = SumsSettings()
LOST = LostSettings()
