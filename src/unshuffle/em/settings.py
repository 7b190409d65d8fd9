"""Every number that EM is run with, and why it has its value."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class IterationSettings:
    """One iteration, and when iterations stop.

    Attributes
    ----------
    sweeps : int
        Proposals per row. A chain that continues from the last iteration needs few.
    burn_in : float
        Share of the proposals that is not averaged.
    fewest_steps, fewest_steps_mostly_right : int
        On small data a longer chain costs a millisecond and gives steadier averages; where the
        order is mostly right, doubtful rows change often and averages need longer.
    tolerance : float
        In standard errors of a fit with known order.
    window : int
        Iterations whose average is compared with that of as many before them.
    squarem_window : int
        Iterations averaged to one point of an extrapolation, for sampled alignments.
    max_iter : int
        Of the default estimator.
    """

    sweeps: int = 4
    burn_in: float = 0.2
    fewest_steps: int = 100_000
    fewest_steps_mostly_right: int = 300_000
    tolerance: float = 0.2
    window: int = 5
    squarem_window: int = 3
    max_iter: int = 200


@dataclass(frozen=True)
class RestartSettings:
    """Iterations of a fit in passes, whose chains restart in every pass.

    Attributes
    ----------
    sweeps, burn_in : float
        Proposals per row, and the share not averaged: reading the data costs as much as many
        proposals, and a chain must forget where it restarted.
    robust_rows : int
        Rows of the sample on which the robust start is computed.
    snapshots_of_all_blocks, fewest_snapshots, most_snapshots : int
        Snapshots of each block for the information. Many blocks average out what few snapshots
        of each leave uncertain.
    """

    sweeps: float = 24.0
    burn_in: float = 0.25
    robust_rows: int = 50_000
    snapshots_of_all_blocks: int = 4_000
    fewest_snapshots: int = 50
    most_snapshots: int = 250


@dataclass(frozen=True)
class SquaremSettings:
    """Squared extrapolation.

    Attributes
    ----------
    longest : float
        Limit of the factor a; an extrapolation goes at most about a² steps ahead.
    clear : float
        Standard errors of a window's mean that a movement must exceed.
    largest_log_change : float
        Of the noise in one extrapolation: a factor of two, whatever the steps promise.
    """

    longest: float = 12.0
    clear: float = 3.0
    largest_log_change: float = 0.7


@dataclass(frozen=True)
class NewtonSettings:
    """Newton's steps where the order is lost inside many groups.

    Attributes
    ----------
    sweeps, burn_in : float
        Proposals per row of a step, and the share not averaged. A chain that lags behind would be
        taken for a direction, so a step gets a longer chain than EM's small steps need.
    waiting_steps : int
        Iterations at the start, until the chain has reached the posterior there.
    full_steps : int
        Steps taken in full length; later ones are shorter and shorter, so that they average.
    lag : float
        Share of a step to take where the chain continues from the last iteration. The chain lags
        behind by about half as much again, measured in groups of 100 and 1,000 rows.
    variance_share, noise_variance_share : float
        Monte Carlo error allowed in the average, as multiples of the tolerance; sums of squares
        take longer to average out than coefficients.
    fewest_points, largest_disagreement : float
        Points to average at least, and how far their halves may differ.
    correlation : float
        Variance of an average of points over that of as many independent ones.
    divergence, far : float
        Squared length of a step, in units of the first or in standard errors, from which the
        method has diverged and EM continues alone.
    largest_log_change : float
        Of the noise in one step.
    """

    sweeps: int = 24
    burn_in: float = 0.1
    waiting_steps: int = 1
    full_steps: int = 3
    lag: float = 0.65
    variance_share: float = 2.0
    noise_variance_share: float = 4.0
    fewest_points: int = 8
    largest_disagreement: float = 4.0
    correlation: float = 2.0
    divergence: float = 4.0
    far: float = 100.0
    largest_log_change: float = 0.7


@dataclass(frozen=True)
class SampleSettings:
    """A sample of whole groups, on which EM runs first.

    Attributes
    ----------
    rows : int
        Size of the sample.
    fewest_rows, fewest_groups : int
        Smaller data are fitted without a sample.
    sweeps, max_iter : int
        Of EM on the sample.
    smallest_fraction : float
        Fraction of the information kept in any direction; below it the sample does not know.
    """

    rows: int = 150_000
    fewest_rows: int = 200_000
    fewest_groups: int = 400
    sweeps: int = 4
    max_iter: int = 400
    smallest_fraction: float = 0.03


@dataclass(frozen=True)
class InformationSettings:
    """The observed information, from snapshots of the chain.

    Attributes
    ----------
    smallest_fraction : float
        Fraction of the information kept in any direction. Below it the data hold next to nothing,
        and the inverse would be Monte Carlo error.
    sweeps_per_snapshot : int
        Distance of two snapshots.
    sweeps_of_walk : int
        Labels that move through a whole group take tens of sweeps to do so; a shorter walk would
        not show how much they vary. Where the order is mostly right they return sooner.
    most_snapshots, fewest_snapshots : int
    rows_seen : int
        Over all snapshots, where that allows more of them than are needed.
    enough_snapshots : int
        Of a single large group: its standard errors then vary by about 4 %.
    most_strata : int
        Groups are independent given the parameters: strata of whole groups have their own mean
        over the snapshots, and their covariances add up.
    enough_freedom : int
        Degrees of freedom over all strata. Where little information is kept, it is a small
        difference of two large numbers.
    few_strata : int
        Up to so many strata, two independent chains share the work.
    """

    smallest_fraction: float = 1e-3
    sweeps_per_snapshot: int = 4
    sweeps_of_walk: int = 256
    most_snapshots: int = 250
    fewest_snapshots: int = 8
    rows_seen: int = 2_000_000
    enough_snapshots: int = 20
    most_strata: int = 1 << 14
    enough_freedom: int = 20_000
    few_strata: int = 4


@dataclass(frozen=True)
class FinalSettings:
    """The end of a fit: match probabilities and standard errors.

    Attributes
    ----------
    steps, most_runs : int
        Proposals behind the match probabilities. They are read one by one, so they are averaged
        for longer than coefficients.
    fewest_recorded : int
        Scores recorded by Newton's steps that spare a walk; they lie far apart.
    most_walks : int
    doubtful : float
        The walk is repeated while the information kept is less than so many times its own Monte
        Carlo error.
    """

    steps: int = 4_000_000
    most_runs: int = 30
    fewest_recorded: int = 5
    most_walks: int = 4
    doubtful: float = 2.0


@dataclass(frozen=True)
class EMSettings:
    """All of them."""

    iteration: IterationSettings = field(default_factory=IterationSettings)
    restart: RestartSettings = field(default_factory=RestartSettings)
    squarem: SquaremSettings = field(default_factory=SquaremSettings)
    newton: NewtonSettings = field(default_factory=NewtonSettings)
    sample: SampleSettings = field(default_factory=SampleSettings)
    information: InformationSettings = field(default_factory=InformationSettings)
    final: FinalSettings = field(default_factory=FinalSettings)


DEFAULTS = EMSettings()
