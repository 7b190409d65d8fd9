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
from ..inference.intervals import Estimates
from ..inference.match_model import MatchModel
from ..inference.permutations import PermutationPosterior
from ..inference.sandwich import Robust
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
    validation_scores : array of shape (n_iter,) or None
        Scores of held-out groups after each iteration, where these chose the number.
    match_model : MatchModel or None
        Who is mismatched, where clues were given.
    curve : CurveFit or None
        Around which labels in lost order were aligned, where a plane does not hold.
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
    validation_scores: FloatArray | None = None
    match_model: MatchModel | None = None
    curve: "CurveFit | None" = None


@dataclass(frozen=True, eq=False)
class CurveFit:
    """A curve around which labels are aligned, beside the plane that is the answer.

    Attributes
    ----------
    fit : StochasticFit
        To features and columns of the curve, which are orthogonal to them.
    bend : array of shape (n,)
        What the curve adds to the plane, in the user's order.
    bend_covariance : array of shape (1 + d, 1 + d)
        What the plane varies by from one sample of rows to another; the intercept first, and zero
        where there is none.
    """

    fit: StochasticFit
    bend: FloatArray
    bend_covariance: FloatArray


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
    covariance : array of shape (k, k)
        Of intercept and coefficients; nan where they are not determined.
    match_model : MatchModel or None
        Who is mismatched, where clues were given.
    noise_scale_se, mismatch_rate_se : float
        Standard errors; nan where there are none.
    as_given : Estimates or None
        Least squares on the labels as given.
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
    covariance: FloatArray
    match_model: MatchModel | None = None
    noise_scale_se: float = float("nan")
    mismatch_rate_se: float = float("nan")
    as_given: Estimates | None = None
