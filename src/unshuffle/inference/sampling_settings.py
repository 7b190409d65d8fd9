"""The numbers of bootstrap, posterior and the other chains after a fit, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class BootstrapSettings:
    """Refits to simulated labels."""

    sweeps_to_forget: int = 100  # until a chain has forgotten that every label started in place
    replicates_at_once: int = 4  # for each thread, between two reports
    # Most proposals per row and iteration of a refit. A fit of small data makes more of them, for a
    # steadier answer; beside the spread of the replicates that would not be seen.
    refit_sweeps: int = 50


@dataclass(frozen=True)
class PartnerSettings:
    """Counting which labels a row holds."""

    snapshots: int = 200  # probabilities in steps of half a percent
    sweeps: int = 5  # between two snapshots
    fewest_proposals: int = 2_000  # the same for small data
    # Snapshots times rows, and snapshots at least, where only a mean over rows is asked for.
    row_snapshots: int = 10_000_000
    fewest_snapshots: int = 20


@dataclass(frozen=True)
class SandwichSettings:
    """The robust covariance."""

    spare_units: int = 10  # more than parameters: with fewer units squared scores say little
    # Snapshots are cheap beside a fit, and noise in the expected scores would count as variance.
    more_snapshots: int = 2
    # p-value of the model's covariance below which the sandwich is taken. A sandwich that was not
    # needed costs little precision, a wrong covariance costs coverage: so more than 0.05.
    level: float = 0.1
    # With more rows the choice is not made: it would need a second array of the size of X.
    most_rows: int = 100_000


@dataclass(frozen=True)
class SensitivitySettings:
    """How far the fit moves with more noise."""

    inflation: float = 1.5  # times the noise estimated
    iterations: int = 6


@dataclass(frozen=True)
class PosteriorSettings:
    """Chains over coefficients, noise, permutation and rate of mismatches."""

    # Chains start so many standard errors around the fit: further apart than they should end. At
    # least so much of the information counts as kept for that purpose.
    dispersion: float = 2.0
    smallest_fraction: float = 0.05
    rounds: int = 100  # between which an interruption is obeyed and progress reported
    # Initial values: standard deviation of the logarithms of noise and odds between chains.
    spread_of_starts: float = 0.5
    # Proposals of either kind of swap: so many a row, and for small data more, up to a number that
    # takes about as long as the rest of an iteration.
    sweeps: int = 4
    sweeps_of_small: int = 50
    proposals_of_small: int = 4_000
    # Steps of the coefficients that carry labels along: how many, and the share that are jumps.
    carried_steps: int = 2
    jump_share: float = 0.5
    # Their length aims at this acceptance, from the usual length of a random walk, with changes
    # that fade like this power of the iteration.
    good_acceptance: float = 0.25
    first_length: float = 2.4
    fading: float = 0.6
    # Their shape is learnt from more than so many draws a direction, and kept away from singular.
    draws_per_direction: int = 4
    added_variance: float = 0.05


@dataclass(frozen=True)
class MetropolisSettings:
    """Chains over a few parameters whose density can be computed, and moves of coefficients."""

    freedom: float = 5.0  # of Student's t around the mode: its tails are those that must be reached
    draws_per_direction: int = 10
    added_variance: float = 0.1  # as a share of the shape before, so that none is singular
    # Where the order is lost: updates between two draws, so that these differ, in units of one over
    # the fraction of the information kept; and the length of first steps of the log precision.
    most_updates: int = 8
    precision_step: float = 2.4


@dataclass(frozen=True)
class RateSettings:
    """Draws of the rate of mismatches."""

    knots: int = 513  # of the spline that replaces sums over groups
    slice_width: float = 1.0  # in logits


@dataclass(frozen=True)
class BridgeSettings:
    """Densities of labels in lost order."""

    largest_exact: int = 10  # rows of a group: 10 · 2^10 sums
    runs: int = 6  # independent pairs, heating and cooling; their spread is the error reported
    nodes: int = 16  # temperatures
    # Sweeps at each temperature: until it is forgotten where the last one ended, and kept; more
    # where there are few rows, so that about so many visits are made.
    warm_sweeps: int = 32
    visits: int = 20_000
    fewest_sweeps: int = 16
    most_sweeps: int = 200
    weakest: float = 1e-6  # strength of the interaction below which all permutations are alike


BOOTSTRAP = BootstrapSettings()
PARTNERS = PartnerSettings()
SANDWICH = SandwichSettings()
SENSITIVITY = SensitivitySettings()
POSTERIOR = PosteriorSettings()
METROPOLIS = MetropolisSettings()
RATES = RateSettings()
BRIDGE = BridgeSettings()
