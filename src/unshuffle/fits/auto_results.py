"""What the default fit returns: the fit, how it was found, and whether to trust it."""

from dataclasses import dataclass
from math import isnan
from typing import NamedTuple

import numpy as np

from ..data.isolated import IsolatedLabels
from ..inference.consistency import Consistency
from ..inference.error_size import error_by_mismatches
from ..inference.group_means import GroupMeans
from ..inference.verdict import Verdict
from ..kernels.types import FloatArray
from ..search.lost import Finding
from .choice import Choice
from .noise_law import LawFit
from .results import StochasticFit
from .unequal_results import UnmatchedFit

NAN = float("nan")


@dataclass(frozen=True, eq=False)
class SearchFit:
    """What a search for the best match found.

    Attributes
    ----------
    solutions : array of shape (n_solutions, d)
        Coefficients of the distinct matches, the best first.
    objectives : array of shape (n_solutions,)
        Their matched sums of squares.
    certified : bool
        Whether the first was proved to be the best of all.
    lower_bound : float
    score : float
        Log of the matched sum of squares, in the units of `null_scores`.
    null_scores : array
        Of searches on labels unrelated to the features; empty where there were none.
    p_value : float
        Of the match against unrelated labels; nan without null searches.
    n_candidates, n_found : int
        Starts tried, and how many of the independent ones ended in the best match.
    stopped_by : str
    """

    solutions: FloatArray
    objectives: FloatArray
    certified: bool
    lower_bound: float
    score: float
    null_scores: FloatArray
    p_value: float
    n_candidates: int
    n_found: int
    stopped_by: str


@dataclass(frozen=True, eq=False)
class MismatchFit:
    """Whether labels given beside rows are exchanged, and which answer that allows.

    Attributes
    ----------
    answer : {"none", "mismatches", "doubtful", "inconsistent", "unclear", "isolated"}
        No sign of mismatches; a fit with mismatches that is consistent with least squares as
        given; or least squares, where noise that grows explains nearly as much as mismatches do,
        or where a fit with mismatches contradicts least squares, or where neither the order given
        nor a match says anything of the slopes, or where isolated labels hide what mismatches do.
    p_value : float
        Of the labels as given against a model with mismatches, if there were none. Of two models
        that must show them, the larger one; the gain is the smaller one.
    rate, rate_limit : float
        Most likely rate, with fitted values tied to least squares where that is the answer, and
        its upper 95 % limit, the larger one of all descriptions.
    radius : float
        95 % radius of least squares as given, as a share of its length.
    tail_share : float
        Share of labels far from least squares as given.
    largest_share : float
        Share of its residual sum of squares that one label holds.
    gain : float
        Twice the gain in log likelihood by mismatches, per row.
    r_squared : float
        Of least squares as given.
    noise : {"normal", "t", "mixture", "any"}
        Law of the noise that the data chose; "any" where the fit needs none.
    spread_by_fit : bool
        Whether its spread depends on the fitted value.
    consistency : Consistency or None
        Of the fit with mismatches; None where there is no sign of any.
    pit_distance : float
        Largest distance of the distribution of residuals from the law chosen.
    off_proba : array of shape (n,) or None
        Probability that a label is the row's own but far off; in the user's order.
    two_models : bool
        Whether mismatches had to show under a law of the noise and by the association of labels
        with fitted values.
    agreement : float
        Distance between the fits by these two, in 95 % radii; nan where there is only one.
    normal_distance : float
        Distance of a fit with normal noise of one spread from that without a law; nan elsewhere,
        and where only a sample of the rows was examined.
    chain_inflation : float
        Standard errors of a chain over permutations that was not kept, as a multiple of those with
        the order known; nan where there was none.
    named_law : bool
        Whether the fit is maximum likelihood under a law of the noise that was asked for.
    weight : float
        Of the fit with mismatches in the answer; the rest is least squares as given.
    """

    answer: str
    p_value: float
    rate: float
    rate_limit: float
    radius: float
    tail_share: float
    largest_share: float
    gain: float
    r_squared: float
    noise: str
    spread_by_fit: bool
    consistency: Consistency | None
    pit_distance: float
    off_proba: FloatArray | None
    two_models: bool
    agreement: float
    normal_distance: float = NAN
    chain_inflation: float = NAN
    named_law: bool = False
    weight: float = 1.0

    @property
    def hidden_error(self) -> float:
        """Error of least squares by mismatches at the limit of their rate, in 95 % radii."""
        return error_by_mismatches(self.rate_limit, self.radius, self.r_squared)

    @property
    def needs_evidence(self) -> bool:
        """Whether noise of an unusual kind could be taken for mismatches.

        Less so where one law with one spread suffices, or was asked for.
        """
        return not isnan(self.agreement) or (self.spread_by_fit and not self.named_law)


@dataclass(frozen=True, eq=False)
class Isolated:
    """Labels far from all others, and what they do to least squares on the labels as given.

    Attributes
    ----------
    labels : IsolatedLabels
    shift : float
        Relative change of least squares by them, against medians in their place.
    """

    labels: IsolatedLabels
    shift: float


@dataclass(frozen=True, eq=False)
class AutoFit:
    """A fit by `fit_auto`: what was found, how, and whether to trust it.

    Attributes
    ----------
    fit : StochasticFit
    pairing : {"lost", "mostly-right", "known"}
    order_p_value : float
        Of the test whether the order given carries information; nan where none was made.
    start : {"match", "known rows", "group means", "labels as given", "least squares"}
    search : SearchFit or None
    refit_distances : array
        Relative change of the coefficients in refits of simulated labels; empty where no match
        was used.
    temper_shift : float
        Relative change of the coefficients at 1.5 times the noise; nan where it was not computed.
    shrinkage_share : float
        Share of the fit that shrinking least squares on the labels as given would have given.
    objective : float
        Matched sum of squares at the coefficients.
    mismatch : MismatchFit or None
        Where labels were given beside rows and their order was used.
    verdict : Verdict
    group_means : GroupMeans or None
        The fit beside the regression of group means; None where the order is not lost, or there
        are too few groups.
    choice : Choice or None
        Scores of held-out groups, where these chose the setting.
    unmatched : UnmatchedFit or None
        Rows without labels and labels without rows, where these are part of the model.
    law : LawFit or None
        Law of the noise, where the order is lost and another one than the normal was asked for.
    expected_error : float
        Median error of the fitted values by the standard errors, in 95 % radii of a fit with known
        order; nan where there are none.
    curve_p_value : float
        Of a plane against a curve around which labels are aligned; nan where that was not tested.
    isolated : Isolated or None
        Labels far from all others, where there are any.
    """

    fit: StochasticFit
    pairing: str
    order_p_value: float
    start: str
    search: SearchFit | None
    refit_distances: FloatArray
    temper_shift: float
    shrinkage_share: float
    objective: float
    mismatch: MismatchFit | None
    verdict: Verdict
    group_means: GroupMeans | None = None
    choice: Choice | None = None
    unmatched: UnmatchedFit | None = None
    law: LawFit | None = None
    expected_error: float = NAN
    curve_p_value: float = NAN
    isolated: Isolated | None = None

    @property
    def determined(self) -> bool:
        """Whether the data say something of the slopes; if not, users are warned."""
        unclear = self.mismatch is not None and self.mismatch.answer == "unclear"
        return self.verdict.level != "reject" and not unclear


class Outcome(NamedTuple):
    """A fit with what was computed on the way to it."""

    fit: StochasticFit
    pairing: str
    start: str = "labels as given"
    finding: Finding | None = None
    refit_distances: FloatArray = np.empty(0)
    temper_shift: float = NAN
    shrinkage_share: float = NAN
    mismatch: MismatchFit | None = None
    choice: Choice | None = None
    law: LawFit | None = None
    curve_p_value: float = NAN
