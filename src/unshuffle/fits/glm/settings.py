"""Numbers of the fits of families, and why they have their values."""

from dataclasses import dataclass

from ...inference.audited_rate import Audit
from ...kernels.types import FloatArray


@dataclass(frozen=True, eq=False)
class ChainSettings:
    """What a user decides about a chain over labels in lost order; None leaves it to the fit.

    Attributes
    ----------
    n_steps, burn_in : int or None
        Proposals of one iteration, and those of them that are not averaged.
    max_iter : int or None
    tolerance : float or None
        In standard errors of known order; 0 runs all iterations.
    init : array of shape (d,) or None
        Starting coefficients; None starts from the sums of labels in groups.
    always : bool
        Whether a chain is run, from the labels as given, also where sums of groups say nothing.
    """

    n_steps: int | None = None
    burn_in: int | None = None
    max_iter: int | None = None
    tolerance: float | None = None
    init: FloatArray | None = None
    always: bool = False


CHAIN = ChainSettings()


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
    chain : ChainSettings
        Where the order is lost.
    """

    seed: int = 0
    pairing: str = "auto"
    mismatch_rate: float | None = None
    audit: Audit | None = None
    fit_intercept: bool = True
    chain: ChainSettings = CHAIN


@dataclass(frozen=True)
class ClimbSettings:
    """How the likelihood is maximised."""

    # Shares of redrawn labels from which climbs start; the slopes of the labels as given are taken
    # to be so much smaller than those of the rows' own labels.
    starts: tuple[float, ...] = (0.02, 0.15, 0.4)
    first_steps: int = 12  # of each start; the best one continues
    most_steps: int = 300
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


@dataclass(frozen=True)
class HardFamilySettings:
    """Hard EM."""

    most_starts: int = 100  # unless asked for more: a descent takes several generalised models
    starts_at_once: int = 16
    smallest_gain: float = 1e-10  # of the objective, at which a descent has ended


HARD = HardFamilySettings()


@dataclass(frozen=True)
class ResamplingSettings:
    """Which units a bootstrap draws."""

    more_than_parameters: int = 10  # as for a sandwich of groups
    fewest_groups: int = 30  # of fewer, rows are drawn where their labels are their own


RESAMPLING = ResamplingSettings()


@dataclass(frozen=True)
class ProfileSettings:
    """Ends of intervals along the profile of the likelihood, in standard errors."""

    tolerance: float = 1e-3
    max_steps: int = 30
    longest_step: float = 3.0  # times the distance before
    farthest: float = 200.0  # beyond, the end is infinite


PROFILE = ProfileSettings()
