"""Every number that EM is run with, and why it has its value."""

from dataclasses import dataclass


@dataclass(frozen=True)
class IterationSettings:
    """One iteration, and when iterations stop."""

    sweeps: int = 4  # proposals per row: a chain that continues needs few
    burn_in: float = 0.2  # share of the proposals that is not averaged
    # On small data a longer chain costs a millisecond and gives steadier averages. Where the order
    # is mostly right, doubtful rows change often and averages need longer.
    fewest_steps: int = 100_000
    fewest_steps_mostly_right: int = 300_000
    tolerance: float = 0.2  # in standard errors of a fit with known order
    window: int = 5  # iterations whose average is compared with that of as many before
    squarem_window: int = 3  # iterations averaged to one point, for sampled alignments
    max_iter: int = 200  # of the default estimator


@dataclass(frozen=True)
class RestartSettings:
    """Iterations of a fit in passes, whose chains restart in every pass."""

    # Proposals per row, and the share not averaged: reading the data costs as much as many
    # proposals, and a chain must forget where it restarted.
    sweeps: float = 36.0
    burn_in: float = 0.4
    robust_rows: int = 50_000  # of the sample on which the robust start is computed
    # Snapshots of each block for the information; many blocks average out what few snapshots of
    # each leave uncertain.
    snapshots_of_all_blocks: int = 4_000
    fewest_snapshots: int = 50
    most_snapshots: int = 250


@dataclass(frozen=True)
class SquaremSettings:
    """Squared extrapolation."""

    longest: float = 12.0  # factor a: an extrapolation goes at most about a² steps ahead
    clear: float = 3.0  # standard errors of a window's mean that a movement must exceed
    largest_log_change: float = 0.7  # of the noise: a factor of two, whatever the steps promise


@dataclass(frozen=True)
class NewtonSettings:
    """Newton's steps where the order is lost inside many groups."""

    # Proposals per row of a step, and the share not averaged. A chain that lags behind would be
    # taken for a direction, so a step gets a longer chain than EM's small steps need.
    sweeps: int = 24
    burn_in: float = 0.1
    waiting_steps: int = 1  # until the chain has reached the posterior at the start
    full_steps: int = 3  # later ones are shorter and shorter, so that they average
    # Share of a step to take where the chain continues: it lags behind by about half as much
    # again, measured in groups of 100 and 1,000 rows.
    lag: float = 0.65
    # Monte Carlo error allowed in the average, as multiples of the tolerance; sums of squares take
    # longer to average out than coefficients.
    variance_share: float = 2.0
    noise_variance_share: float = 4.0
    # Points to average at least, and how far their halves may differ.
    fewest_points: int = 8
    largest_disagreement: float = 4.0
    correlation: float = 2.0  # variance of an average of points over that of independent ones
    # Squared length of a step, in units of the first or in standard errors, from which the method
    # has diverged and EM continues alone.
    divergence: float = 4.0
    far: float = 100.0
    largest_log_change: float = 0.7  # of the noise in one step


@dataclass(frozen=True)
class SampleSettings:
    """A sample of whole groups, on which EM runs first."""

    rows: int = 150_000
    # Smaller data are fitted without a sample.
    fewest_rows: int = 200_000
    fewest_groups: int = 400
    sweeps: int = 4
    max_iter: int = 400
    smallest_fraction: float = 0.03  # of the information kept; below it the sample does not know


@dataclass(frozen=True)
class InformationSettings:
    """The observed information, from snapshots of the chain."""

    # Fraction of the information kept in any direction. Below it the data hold next to nothing,
    # and the inverse would be Monte Carlo error.
    smallest_fraction: float = 1e-3
    sweeps_per_snapshot: int = 4
    # Labels that move through a whole group take tens of sweeps to do so; a shorter walk would not
    # show how much they vary. Where the order is mostly right they return sooner.
    sweeps_of_walk: int = 256
    most_snapshots: int = 250
    fewest_snapshots: int = 8
    rows_seen: int = 2_000_000  # over all snapshots, where that allows more than are needed
    enough_snapshots: int = 20  # of one large group: standard errors then vary by about 4 %
    # Groups are independent given the parameters: strata of whole groups have their own mean over
    # the snapshots, and their covariances add up.
    most_strata: int = 1 << 14
    # Degrees of freedom over all strata. Where little information is kept, it is a small difference
    # of two large numbers.
    enough_freedom: int = 20_000
    few_strata: int = 4  # up to so many, two independent chains share the work


@dataclass(frozen=True)
class FinalSettings:
    """The end of a fit: match probabilities and standard errors."""

    # Most proposals behind the match probabilities. They are read one by one, so they are averaged
    # for longer than coefficients: until doubtful ones have a Monte Carlo error below `match_error`
    # (root mean square).
    steps: int = 4_000_000
    doubtful_match: tuple[float, float] = (0.05, 0.95)
    match_error: float = 0.025
    most_runs: int = 30
    fewest_recorded: int = 5  # scores recorded by Newton's steps that spare a walk
    # The walk is repeated while the information kept is less than so many times its own Monte
    # Carlo error.
    most_walks: int = 4
    doubtful: float = 2.0


@dataclass(frozen=True)
class EMSettings:
    """All of them."""

    iteration: IterationSettings = IterationSettings()
    restart: RestartSettings = RestartSettings()
    squarem: SquaremSettings = SquaremSettings()
    newton: NewtonSettings = NewtonSettings()
    sample: SampleSettings = SampleSettings()
    information: InformationSettings = InformationSettings()
    final: FinalSettings = FinalSettings()


DEFAULTS = EMSettings()
