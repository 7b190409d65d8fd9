"""The numbers of the searches for initial values, each with its reason."""

from dataclasses import dataclass


@dataclass(frozen=True)
class DescentSettings:
    """Hard EM steps, and how they are handed to threads."""

    # Rows × columns visited between two places where an interruption is obeyed.
    work_per_call: int = 20_000_000
    sort_columns: int = 8  # sorting a row costs about as much as visiting so many columns
    smallest_gain: float = 1e-12  # share of the sum of squares; a smaller gain ends a descent
    most_steps: int = 500


@dataclass(frozen=True)
class PopulationSettings:
    """The global search."""

    size: int = 40  # optima that are kept
    distance: float = 0.1  # optima that are closer count as one; in lengths of the labels
    # Candidates of a round: a share of the budget, within limits.
    share_per_round: int = 20
    smallest_round: int = 100
    largest_round: int = 2_000
    momentum: float = 1.5  # how far a step continues where the last one led
    # Steps taken from all candidates, and the share of these that is followed to the end.
    screening_steps: int = 6
    surviving: float = 0.2
    # Children: the share that gets a difference of members, and the shortest random step.
    difference_share: float = 0.6
    shortest_step: float = 0.02
    # The search ends when the best optimum was found so many times from independent starts, or
    # fewer times once a share of the budget is used, or when the next one is so many times as high.
    found_often: int = 10
    found_again: int = 2
    patience: float = 0.05
    stands_out: float = 1.5
    least_tried: int = 1_000  # candidates before an optimum can stand out
    # The budget: candidates, doubled for each direction that group means leave open.
    candidates: int = 500
    most_doublings: int = 10
    # With more open directions no affordable number of random ones comes near the optimum; what
    # recombination can do it does with fewer candidates.
    hopeful_directions: int = 12
    doublings_beyond: int = 5
    # Rows × columns visited; less where there is little hope.
    most_work: float = 4e10
    most_work_beyond: float = 4e9
    steps_per_candidate: int = 16
    # A table of at least twice as many rows is searched in a sample of about so many. At that size
    # the sampling error of a match is a hundredth of the noise. With more than five columns the
    # sample has fewer rows, down to the second number, so that a step costs the same.
    many_rows: int = 10_000
    fewest_sampled: int = 2_000


@dataclass(frozen=True)
class CertificateSettings:
    """The proof that no matching is better."""

    most_directions: int = 3  # the number of cones grows exponentially with them
    most_evaluations: int = 200_000
    most_work: float = 2e10  # rows × columns visited
    gap: float = 1e-6  # share of the sum of squares that may remain open in a complete proof
    smallest_gap: float = 1e-11  # of the total, what rounding hides
    splits_per_round: int = 512


@dataclass(frozen=True)
class NullSettings:
    """The null distribution: best matches of unrelated labels."""

    # Candidates of each search: what most need, no more than the fit's own, and no more than a
    # share of the work allowed for a search can follow.
    most_candidates: int = 1_000
    share_of_work: float = 0.25
    fewest: int = 4
    most: int = 16
    # A p-value outside needs no further null; after some more nulls, the narrower limits hold.
    clear: tuple[float, float] = (0.004, 0.3)
    some: int = 9
    fair: tuple[float, float] = (0.01, 0.1)
    # What simulations show of the spread of scores between nulls, worth so many nulls: the variance
    # of a handful is moderated by it.
    usual_spread: float = 0.35
    worth: int = 4
    smallest: float = 1e-20  # of the total: an objective of zero has no logarithm
    # Smoothing of unrelated labels: to the neighbour number 1.5 n^0.4, which is 7, 12 and 24 for
    # 50, 200 and 1,000 labels. Fewer leave gaps that a search fits with two or three features;
    # with more, the shape of 1,000 labels changes by more than samples of them differ.
    neighbours: float = 1.5
    neighbours_power: float = 0.4
    # Share of the way to the fitted values' order statistics: 1 - sqrt(1/2) = 0.29 in theory, less
    # because smoothing removes a part. With 0.25, 0.5 % of unrelated normal, uniform, exponential,
    # lognormal and bimodal labels of 50 to 1,000 rows had a p-value of 0.005 or less.
    towards_fit: float = 0.25
    mostly_tied: float = 0.5  # share of distinct labels that repeat; beyond, all draws are of these
    # Few directions, where searches are cheap and p-values are ranks. At least so many nulls that
    # a tail can be estimated, at most so many that a rank alone can be below 0.01; fewer when so
    # many were as good as the match that the p-value is known well enough, when the p-value is
    # far below what is asked of a match, or when it is far enough from it after some.
    few_directions: int = 3
    most_cells: int = 15_000  # rows × directions: beyond, so many nulls take more than seconds
    fewest_of_few: int = 39
    most_of_few: int = 199
    enough_lower: int = 10
    clear_of_few: float = 0.002
    some_of_few: int = 99
    fair_of_few: tuple[float, float] = (0.005, 0.04)
    tail_share: float = 0.2  # of the nulls; they give the scale of the lower tail
    # Candidates of each search: so many nearly always reach the optimum. They are doubled until the
    # fit's own match is reached again, within a share of its sum of squares that changes no rank.
    candidates_per_direction: int = 25
    reached: float = 0.01


@dataclass(frozen=True)
class MatchSettings:
    """When a fit starts from the best match that was found."""

    # Limits of the p-value against unrelated labels: a match is used when it is `sure`; when it is
    # `likely` and refits lead back to it; when it is `doubtful`, but stands far below all others;
    # or when searches `agreed` on it and refits lead back to it.
    sure: float = 0.02
    likely: float = 0.05
    agreed: float = 0.15
    doubtful: float = 0.2
    far_below: float = 1.3  # sum of squares of the next match, as a multiple of the best
    refit_distance: float = 0.2  # share of the coefficients' length within which refits lead back
    # More refits where they are cheap and the sign of a slope may be all that is lost.
    refits: int = 3
    few_directions: int = 3
    refits_of_few: int = 9
    refit_candidates: int = 500
    cautious_temper: float = 1.5  # inflates the noise where a fit starts from no match


@dataclass(frozen=True)
class OrderTestSettings:
    """The test of whether the order given says anything."""

    shuffles: int = 199
    # Large tables try few shuffles first, enough where no shuffle can come near any more.
    large: int = 50_000
    few_shuffles: int = 39
    beyond_doubt: float = 1e-20


@dataclass(frozen=True)
class AnchorSettings:
    """What no shuffle can touch: known rows and group means."""

    rows_per_direction: int = 3
    # Below this share of the labels' variance inside groups the labels as given are nearly right.
    much_inside: float = 0.2
    # Share of a direction that must lie between groups: means of random groups hold about their
    # share of the rows.
    between_groups: float = 0.1


@dataclass(frozen=True)
class MixtureSettings:
    """The robust fits."""

    huber_threshold: float = 1.345  # 95 % efficiency under normal noise
    huber_steps: int = 30
    huber_tolerance: float = 1e-6  # in units of the noise
    smallest_noise: float = 1e-6  # share of the labels' standard deviation
    smallest_density: float = 1e-200  # of standardised labels; far outliers underflow
    rows_per_block: int = 4_096  # blocks stay in the cache
    many_rows: int = 50_000  # larger tables start from the fit to a sample of about so many rows


@dataclass(frozen=True)
class MostlyRightSettings:
    """Initial values where the order given is mostly right."""

    first_rate: float = 0.1  # of mismatches, until the mixture has estimated it
    # The mixture knows only that a mismatched label is some row's, Sinkhorn that each is used once.
    # That starts to matter where many labels are mismatched, and is affordable in small groups.
    many_mismatches: float = 0.35
    most_pairs: int = 1_000_000
    sinkhorn_steps: int = 100
    sinkhorn_tolerance: float = 0.2
    sinkhorn_window: int = 5
    # Noise, as a share of the spread inside groups, and rate that labels in lost order exceed.
    tight: float = 0.65
    hardly_any_right: float = 0.87


@dataclass(frozen=True)
class CurveSettings:
    """The smooth curve around which labels scatter."""

    rows_per_column: int = 8  # fewer rows for each product of features, and none is used
    farthest: float = 16.0  # standard deviations; a product of two outliers counts as this
    # Where the order is lost: variance of a direction of products that the plane leaves, of one.
    smallest_direction: float = 0.01
    # Penalties per row that are compared: first, last, how many.
    penalties: tuple[float, float, int] = (1e-3, 1e3, 13)
    # The curve of any shape: landmarks (twice as many explain half a percent more of the labels'
    # variance on real tables), lengths of the kernel, penalties, and how far outliers count.
    landmarks: int = 200
    lengths: tuple[float, ...] = (0.5, 1.0, 2.0, 4.0)
    kernel_penalties: tuple[float, float, int] = (0.02, 50.0, 12)
    farthest_kernel: float = 4.0
    most_choosing_rows: int = 2_000  # length and penalty are chosen on about so many
    fewest_kernel_rows: int = 50
    # Standard errors by which it must predict better than features with or without products:
    # two of a hundred sets around planes pass, and three of four real tables.
    surely_better: float = 1.0


@dataclass(frozen=True)
class ProfileSettings:
    """The likelihood of the rate of mismatches, with fitted values tied to least squares."""

    rates: tuple[float, ...] = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.45, 0.6)
    first_rates: tuple[float, ...] = (0.03, 0.25)  # where a free rate starts
    largest_rate: float = 0.8
    most_releases: int = 60
    settled: float = 1e-4  # change of the fitted values, as a share of the labels' spread
    # Score statistic below which a spread that depends on the fit cannot win, and the statistic of
    # Jarque and Bera below which no other law than the normal one can.
    smallest_score: float = 6.0
    normal_moments: float = 9.0
    stretches: int = 24  # of fitted values of a block, for the density of a stranger's label
    many_stretches: int = 200  # where the noise may be narrow beside the labels' spread
    rounds: int = 4  # the density elsewhere is taken anew in each
    free_rounds: int = 10  # with a free rate
    steps: int = 4  # of EM for the law, in a round
    smallest_scale: float = 0.05  # of a component, as a share of the widest
    smallest_noise: float = 1e-12  # share of the labels' spread, for labels without noise
    steepest: float = 1.2  # coefficients of the log spread
    widest: float = 2.5  # log spread
    many_rows: int = 20_000  # larger tables are judged by a sample of about so many rows


@dataclass(frozen=True)
class AssociationSettings:
    """The association of labels with fitted values."""

    # Classes of fitted values and of labels. With 20 or 80 the errors on real tables differ by 3 %.
    classes: int = 40
    farthest: float = 4.0  # standard deviations; an outlier counts as this
    rates: tuple[float, ...] = (0.02, 0.05, 0.1, 0.17, 0.25, 0.35, 0.5, 0.65)
    first_rates: tuple[float, ...] = (0.05, 0.25)  # where a free rate starts
    largest_rate: float = 0.8
    most_steps: int = 40
    smallest_gain: float = 1e-3  # of the log likelihood; a smaller one ends a climb
    parts_of_step: tuple[float, ...] = (1.0, 0.4, 0.16, 0.06, 0.02, 0.01)
    strongest: float = 300.0  # range of the log ratio before it is balanced
    # How often the curve follows the expected labels. From one to three the errors on real tables
    # fall by 1 % where 30 % of the labels were exchanged, and grow by 5 % where 10 % were.
    new_curves: int = 2
    # Balancing: rounds, how far means may be from 1 at the end, where Newton's steps take over, and
    # how long these may be.
    most_balancing: int = 200
    balanced: float = 1e-8
    near: float = 0.2
    longest: float = 2.0


@dataclass(frozen=True)
class PartialSettings:
    """The search where rows and labels are in unequal numbers."""

    # Candidates, doubled for each direction that groups leave open. Where half of the rows are
    # missing a random direction ends in the optimum ten times less often than where none is.
    candidates: int = 2_000
    most_doublings: int = 5
    found_often: int = 20  # times that a search ends with; wrong optima are found again, too
    most_work: float = 1e9  # cells and columns visited: a second or two
    null_share: float = 0.1  # of that work, for each search for unrelated labels
    most_steps: int = 100  # of a descent; where labels are dense some take hundreds of tiny steps
    most_cells: int = 200_000_000  # of the table of one group, a byte each
    many_rows: int = 5_000  # a table of at least twice as many is searched in some of its groups
    # Limits of the p-value against unrelated labels below which a fit starts from the match.
    used: float = 0.05
    # Rivals of the best match are followed by EM over all partial matchings: optima whose match is
    # less likely by at most so much for each pair (of wrong optima that were chosen before, 0.2),
    # the most likely ones, within so much work in cells.
    doubt_per_pair: float = 0.4
    most_followed: int = 12
    choice_work: float = 5e8
    rounds_per_choice: int = 500  # of messages, all steps together
    choice_steps: int = 60
    choice_stop: float = 0.005  # change of the log likelihood
    # Noise and share at the start: a match of all of the smaller side has too little noise.
    first_noise: float = 1.2
    first_share: float = 0.95


@dataclass(frozen=True)
class SearchSettings:
    """All of them; a `Landscape` carries them to the functions that search it."""

    descent: DescentSettings = DescentSettings()
    population: PopulationSettings = PopulationSettings()
    certificate: CertificateSettings = CertificateSettings()
    nulls: NullSettings = NullSettings()
    match: MatchSettings = MatchSettings()
    order_test: OrderTestSettings = OrderTestSettings()
    anchor: AnchorSettings = AnchorSettings()
    mixture: MixtureSettings = MixtureSettings()
    mostly_right: MostlyRightSettings = MostlyRightSettings()
    curve: CurveSettings = CurveSettings()
    profile: ProfileSettings = ProfileSettings()
    association: AssociationSettings = AssociationSettings()
    partial: PartialSettings = PartialSettings()


DEFAULT = SearchSettings()
