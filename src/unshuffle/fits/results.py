"""What fits return: frozen, typed and complete. Vectors over rows are in the user's order.

In shapes n counts rows, d features and k coefficients, the intercept included.
"""

from dataclasses import dataclass

import numpy as np

from ..alignment.state import State
from ..em.information import Covariance
from ..em.loop import EMResult
from ..em.table import Expected
from ..families.family import Solver
from ..inference.consistency import Consistency
from ..inference.group_means import GroupMeans
from ..inference.intervals import Estimates
from ..inference.permutations import PermutationPosterior
from ..inference.sandwich import Robust
from ..inference.verdict import Verdict
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Design:
    """What the fit knows of the table.

    Attributes
    ----------
    n_rows, n_groups, rank : int
    dependent : array of int
        Columns that take part in a linear dependence.
    freedom : int
        Degrees of freedom: rows less parameters.
    fit_intercept : bool
    """

    n_rows: int
    n_groups: int
    rank: int
    dependent: IntArray
    freedom: int
    fit_intercept: bool


def design_of(n_rows: int, n_groups: int, solver: Solver) -> Design:
    """Collect the facts."""
    return Design(
        n_rows,
        n_groups,
        solver.rank,
        solver.dependent,
        n_rows - solver.n_parameters,
        solver.fit_intercept,
    )


@dataclass(frozen=True, eq=False)
class Iterations:
    """The way that EM took.

    Attributes
    ----------
    converged : bool
    objective : array of shape (n_iter,)
        Expected sum of squares after each iteration.
    coef : array of shape (n_iter, d)
        Coefficients after each iteration.
    """

    converged: bool
    objective: FloatArray
    coef: FloatArray

    @property
    def n_iter(self) -> int:
        """Iterations run."""
        return len(self.objective)


def iterations_of(result: EMResult[Expected]) -> Iterations:
    """Read the record of EM."""
    return Iterations(
        result.converged,
        np.array([step.objective for step in result.steps]),
        np.array([step.coef for step in result.steps]),
    )


@dataclass(frozen=True, eq=False)
class Matches:
    """One entry per row.

    Attributes
    ----------
    expected_labels : array of shape (n,)
    permutation : array of shape (n,)
        A most likely permutation: row i holds ``y[permutation[i]]``.
    match_proba : array of shape (n,) or None
        Probability that the label given beside a row is its own; None where none was computed.
    """

    expected_labels: FloatArray
    permutation: IntArray
    match_proba: FloatArray | None


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """Standard errors; nan where the fit does not maximise the likelihood.

    Attributes
    ----------
    covariance : array of shape (k, k)
    standard_errors : array of shape (k,)
    noise_scale_se, mismatch_rate_se : float
    fraction_kept : float
        Smallest fraction of the information kept in any direction.
    inflation : float
        Standard errors as a multiple of those with known order.
    """

    covariance: FloatArray
    standard_errors: FloatArray
    noise_scale_se: float
    mismatch_rate_se: float
    fraction_kept: float
    inflation: float


def uncertainty_of(
    covariance: Covariance | None, state: State, rate: float, design: Design
) -> Uncertainty:
    """From a covariance to standard errors."""
    nan, size = float("nan"), len(state.coef) + design.fit_intercept
    if covariance is None:
        blank = np.full((size, size), nan)
        return Uncertainty(blank, np.full(size, nan), nan, nan, nan, nan)
    coef = covariance.coef if design.fit_intercept else covariance.coef[1:, 1:]
    return Uncertainty(
        coef,
        standard_errors_of(coef),
        # The delta method leads from the logarithm and the logit to the scale people read.
        state.noise_scale * covariance.log_noise**0.5,
        rate * (1.0 - rate) * covariance.logit_rate**0.5,
        covariance.fraction_kept,
        covariance.inflation,
    )


def standard_errors_of(covariance: FloatArray) -> FloatArray:
    """Square roots of the diagonal; rounding below zero counts as zero."""
    return np.sqrt(np.maximum(np.diag(covariance), 0.0))


@dataclass(frozen=True, eq=False)
class Errors:
    """The standard errors that are reported.

    Attributes
    ----------
    kind : {"model", "robust"}
    uncertainty : Uncertainty
        Of the kind chosen.
    freedom : int
        Degrees of freedom of intervals.
    p_value : float
        Of the model's covariance; nan where it was not tested.
    robust : Robust or None
        The sandwich, where it was computed.
    """

    kind: str
    uncertainty: Uncertainty
    freedom: int
    p_value: float = float("nan")
    robust: Robust | None = None


@dataclass(frozen=True, eq=False)
class StochasticFit:
    """A fit by Stochastic EM, or by least squares where the order is known.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept, noise_scale : float
    mismatch_rate : float or None
        Expected share of rows whose label is not their own; None where it was not computed.
    design : Design
    iterations : Iterations
    acceptance_rate : float or None
        Of the last iteration; None where nothing was sampled.
    tol : float
    schedule : Schedule
        Proposals of an iteration.
    temper, ridge : float
    matches : Matches or None
        None for a fit in passes.
    uncertainty : Uncertainty or None
        From the observed information; None for the published variant.
    permutations : PermutationPosterior or None
        None for the published variant and for a fit in passes.
    as_given : Estimates or None
        Least squares on the labels as given; None where they were not given beside rows.
    errors : Errors or None
        None for the published variant.
    """

    coef: FloatArray
    intercept: float
    noise_scale: float
    mismatch_rate: float | None
    design: Design
    iterations: Iterations
    acceptance_rate: float | None
    tol: float
    schedule: Schedule
    temper: float
    ridge: float
    matches: Matches | None
    uncertainty: Uncertainty | None
    permutations: PermutationPosterior | None
    as_given: Estimates | None
    errors: Errors | None = None


@dataclass(frozen=True, eq=False)
class HardFit:
    """A fit by Hard EM.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept, noise_scale : float
    design : Design
    iterations : Iterations
        Of the last run, from the best start.
    matches : Matches
    n_init : int
        Starts tried.
    restart_objectives : array of shape (n_init,)
        Matched sum of squares that each start led to.
    """

    coef: FloatArray
    intercept: float
    noise_scale: float
    design: Design
    iterations: Iterations
    matches: Matches
    n_init: int
    restart_objectives: FloatArray


@dataclass(frozen=True, eq=False)
class MixtureFit:
    """A fit of the two-component mixture.

    Attributes
    ----------
    coef : array of shape (d,)
    intercept, noise_scale, mismatch_rate : float
    match_proba : array of shape (n,)
    mean_log_density : float
    n_iter : int
    converged : bool
    noise : {"normal", "t", "mixture"}
    design : Design
    """

    coef: FloatArray
    intercept: float
    noise_scale: float
    mismatch_rate: float
    match_proba: FloatArray
    mean_log_density: float
    n_iter: int
    converged: bool
    noise: str
    design: Design


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
    answer : {"none", "mismatches", "doubtful", "inconsistent"}
        No sign of mismatches; a fit with mismatches that is consistent with least squares as
        given; or least squares, where noise that grows explains nearly as much as mismatches do,
        or where a fit with mismatches contradicts least squares.
    p_value : float
        Of the labels as given against a model with mismatches, if there were none.
    rate, rate_limit : float
        Most likely rate with fitted values tied to least squares, and its upper 95 % limit.
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
    noise : {"normal", "t", "mixture"}
        Law of the noise that the data chose.
    spread_by_fit : bool
        Whether its spread depends on the fitted value.
    consistency : Consistency or None
        Of the fit with mismatches; None where there is no sign of any.
    pit_distance : float
        Largest distance of the distribution of residuals from the law chosen.
    off_proba : array of shape (n,) or None
        Probability that a label is the row's own but far off; in the user's order.
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
