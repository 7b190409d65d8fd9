"""The numbers that inference uses, with the reason beside each."""

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckSettings:
    """From which value on a check advises caution, or rejects a fit.

    All were set on one family of simulated sets and tested on another (`python -m
    benchmarks.verdict_thresholds` prints how many sound and unsound fits each would trust). A fit
    is sound if its error is below twice the 95 % radius of a fit with the order known.
    """

    # p-value of the match. Every search finds some match, so this is the main check of a lost
    # order: one in twenty is the usual level, and to be trusted a match must pass a stricter one.
    match_p_caution: float = 0.01
    match_p_reject: float = 0.05
    # Change of the coefficients on refitting simulated data. A slope of the wrong sign is a change
    # of twice the length, and a missing one of the whole length: both limits lie well below.
    refit_caution: float = 0.3
    refit_reject: float = 0.7
    # p-value of the order given. Strict, because a lost order that is taken for a mostly right one
    # shrinks the coefficients without any other sign.
    order_p_caution: float = 0.001
    # The same where groups are given. Whoever gives them expects a lost order inside. If most
    # orders are lost, the one in a thousand that looks informative by accident is too many.
    order_p_inside: float = 1e-5
    # Share of rows with another row's label. Beyond it too few rows remain to fit to.
    mismatch_caution: float = 0.7
    # Standard errors as a multiple of those with the order known. Where the data hold hardly any
    # information near a fit, its match is usually a wrong one.
    inflation_caution: float = 2.0
    # Doubts about a match from which on it is rejected. Matches in four groups that are right but
    # imprecise have one or two; wrong ones of one large group mostly have three or four.
    doubts_reject: int = 3
    # The multiple where the order given is used: least squares as given keeps such a fit in place.
    inflation_linked: float = 4.0
    # Labels that may be another row's cannot make a fit more precise. Sampling error aside, a lower
    # multiple means that rows far from all others were left out of the fit.
    inflation_least: float = 0.5
    # Median error by the standard errors, in 95 % radii of a fit with known order. A fit is sound
    # below two: to be trusted it must be more probably sound than not.
    expected_error: float = 2.0
    # Independent starts that end in the best match: one alone says nothing about a better match.
    # Two were not enough where all labels are in one group: of nine matches of simulated sets with
    # more than three features (`benchmarks.verdict_sets`) that two starts found, eight were wrong.
    starts_needed: int = 2
    starts_needed_one_group: int = 3
    # Change of the fit on aligning labels at inflated noise, as a share of its length. A fit that
    # moves by half of its length is determined by the estimate of the noise, not by the labels. Of
    # real tables in groups that moved by 0.2 to 0.25, 3 of 18 trusted fits were not sound.
    noise_caution: float = 0.2
    noise_caution_linked: float = 0.25  # where the order given is used
    noise_reject: float = 0.5
    # p-value of equal slopes with normal noise and with another law, at the standard errors of the
    # former: a test that rejects too seldom, so that its limit is higher than usual.
    other_noise_p: float = 0.2
    # Distinct values of labels or fitted values, counted by how often each occurs. With a handful
    # the match is one of counts, which unrelated labels fit as well: scales of five or eleven
    # answers lie below, ages in years and measurements above. Values that hardly repeat are not
    # few, however short the table: there must also be so many rows to each.
    values_needed: int = 20
    rows_per_value: float = 2.0
    # Below this p-value labels count as exchanged. Stricter than usual: real noise differs from
    # any law, and a fit with mismatches is worse than least squares where there are none.
    mismatch_p: float = 0.007
    # Where they must show by a law of the noise and without one, the larger of two p-values.
    mismatch_p_of_two: float = 0.02
    # Difference of two information criteria that is called decisive. A plane with normal noise is
    # taken for right unless the association is better by this much, one with another law if it is.
    decisive: float = 10.0
    # Normal noise around a plane is the answer by itself where it is decisively better and labels
    # are clearly own or another's: mean variance of the states, as a share of that by the rate.
    clear_doubt: float = 0.5
    # Fits that differ by less than so many 95 % radii count as the same.
    same_fit: float = 0.5
    # To be trusted, a fit with mismatches must be so much more likely per row (twice the log
    # likelihood) than one without: what a model misses of real noise grows with the rows too. Not
    # asked of one law with one spread that describes the pairs decisively better than all else.
    trusted_gain: float = 0.03
    # Weight of such a fit: 1 - exp(-gain / this) / 2, from one half without evidence. Least squares
    # as given has the rest. Set on two labels of each of the open real tables. From 0.05 to 0.1
    # errors at 0 and 10 % permuted are smaller than with one weight for all, the more so the larger
    # it is; at 30 % they differ by less than 0.01 of those of least squares.
    evidence_scale: float = 0.08
    # Distance between the fits by a law of the noise and by the association of labels, in 95 %
    # radii. Either can be wrong where noise is of another kind, seldom both alike.
    agreement: float = 1.5
    # The same for normal noise of one spread, unless a test finds that the noise is even. Larger,
    # because with little noise the fit without a law is the less precise one. Of 88 such fits to
    # four labels of the real tables, 30 % permuted, 5 of 8 beyond it were not sound, 1 of 80 below.
    normal_agreement: float = 2.0
    # Where the noise grows with the fit and the features explain little, a subset of rows with
    # other noise looks like mismatches: there the gain per row must be larger.
    doubtful_gain: float = 0.1
    doubtful_r_squared: float = 0.5
    # A fit with mismatches must agree with least squares as given: relative length of the
    # difference, or its p-value; rates with free and with tied coefficients; slope of the labels of
    # mismatched rows, which is 0 in theory. Set on the real tables of `make bench-real`.
    consistent_distance: float = 0.2
    consistent_p: float = 0.05
    # To be trusted, a difference that is beyond doubt must be smaller.
    trusted_distance: float = 0.1
    inconsistent_p: float = 0.001
    rate_difference: float = 0.15
    mismatched_slope: float = 0.35
    # Error of least squares, in 95 % radii, by as many mismatches as cannot be excluded: below two
    # it is sound even then. This holds however small the p-value of "no mismatches" is.
    hidden_error: float = 2.0
    # Share of labels more than so many robust standard deviations from least squares. With many, a
    # law of heavy tails describes mismatches as well as they are, and the limit of their rate may
    # be too low: half of the usual error removes the doubt.
    tail_scales: float = 4.0
    tail_caution: float = 0.035
    tail_hidden_error: float = 1.0
    # Share of the residual sum of squares of one label. With more, least squares follows it alone.
    one_label_caution: float = 0.5
    # Rate from which on mismatches and components of a mixture describe the same labels.
    mixture_rate: float = 0.2
    # Largest distance of the residuals' distribution from the law chosen.
    pit_caution: float = 0.2
    # Rows and labels in unequal numbers: pairs for each coefficient, and the standard error of the
    # share of rows that have a label.
    pairs_caution: float = 5.0
    pairs_reject: float = 2.0
    share_error_caution: float = 0.15


CHECKS = CheckSettings()


@dataclass(frozen=True)
class BlockSettings:
    """The comparison of slopes between and within blocks."""

    # Degrees of freedom that the blocks must leave to the test. With fewer, the covariance from
    # leaving out one block at a time says little, and the test rejects too often.
    fewest_freedom: int = 8
    # Draws of the null distribution: p-values are at least 1 / 2000, and near 0.05 their Monte
    # Carlo standard error is 0.005.
    draws: int = 1999
    # Values of the common factor between 0 and 1 that are tried, and of its angle (any factor).
    factors: int = 41
    angles: int = 721
    # Below this share of a feature's variance, the variance within (or between) blocks is rounding.
    smallest_share: float = 1e-10
    # A block that determines more than this of a slope cannot be left out.
    most_leverage: float = 1.0 - 1e-8
    # Without a sign, an interval of the factor that reaches below this is no evidence of absence:
    # an exchange of half of the labels is not excluded.
    clear_factor: float = 0.5
    # Blocks whose cross products are held at once.
    blocks_at_once: int = 1000


BLOCKS = BlockSettings()


@dataclass(frozen=True)
class AveragingSettings:
    """Least squares on features averaged inside groups."""

    # Smallest singular value of averaged features, in units of the features as given. Below it
    # rounding would leave fewer than six digits of a coefficient.
    smallest_direction: float = 1e-10
    rows_per_block: int = 16_384  # at a time, with all that is computed from them


AVERAGING = AveragingSettings()


@dataclass(frozen=True)
class GroupMeansSettings:
    """The comparison of a fit with the regression of group means.

    Thresholds of trust were set on the open half of the real tables (`python -m benchmarks.real
    --only groups`), so that figures on the same tables flatter them.
    """

    # Groups beyond coefficients. With fewer, leaving out one at a time says little of the error.
    fewest_freedom: int = 8
    # Below this share of a direction's variance between groups, or above this leverage of one
    # group, the regression of means is decided by rounding or by that group.
    smallest_between: float = 1e-6
    most_leverage: float = 1.0 - 1e-6
    # Eigenvalues of a difference of covariances, as a share of their mean for group means alone.
    smallest_share: float = 0.1
    # A difference counts against a fit if it is significant and also large: beyond sampling error
    # a fifth of the fit. On real tables slopes differ a little between and within groups, and
    # p-values alone would doubt every large table.
    p_caution: float = 0.05
    distance_caution: float = 0.2
    p_reject: float = 0.001
    distance_reject: float = 0.5
    # Group means that agree answer whether the match is a wrong one, if they would notice: two of
    # their standard errors are then at most the change on refitting that is still good (0.3).
    precise: float = 0.15
    # Standard errors as a multiple of those with known order. Below it group means need no match.
    # All of ten real tables below it were sound, one of six from there to 2 was not.
    nearly_known: float = 1.5


GROUP_MEANS = GroupMeansSettings()


@dataclass(frozen=True)
class MomentSettings:
    """Estimating equations for linked labels."""

    # Blocks of like size, beyond the number of parameters, from which on they are the independent
    # units of the standard errors: with fewer, squares of their sums are too noisy.
    fewest_blocks: int = 25
    # Below this a probability, or the smallest attenuation of a slope, counts as zero.
    nothing: float = 1e-12
    weakest: float = 1e-6


MOMENTS = MomentSettings()
