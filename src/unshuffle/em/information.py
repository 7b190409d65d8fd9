r"""Standard errors when permutations are missing: Louis' formula along the chain.

Parameters are :math:`\theta` (coefficients in an orthonormal basis U of the centred columns),
:math:`\log s` and, where the order is mostly right, :math:`\mathrm{logit}\,\alpha` of the rate of
mismatches. Given a permutation with labels v beside the rows and K mismatched ones the score is

.. math::

    \left( \frac{U^\top v - \theta}{s^2},\;
    \frac{\|v - \mu\|^2}{s^2} - n,\; \alpha (K - n \alpha) \right)

and the information of the complete data is
:math:`\mathrm{diag}(1/s^2, 2n, n \alpha^2 (1 - \alpha))`: the prior
:math:`\exp(-\gamma K)` over permutations with :math:`\gamma = \log n(1 - \alpha)` gives K the
variance :math:`n (1 - \alpha)`, since there are about :math:`n! / (n - K)!` permutations with K
mismatched rows, and :math:`d\gamma / d\,\mathrm{logit}\,\alpha = -\alpha`.
The missing information is the covariance of the score over permutations (Louis 1982),
estimated from snapshots of the chain at the fitted values. Where nothing is lost the result is
that of least squares.
"""

from typing import NamedTuple, Protocol

import numpy as np

from ..data.problem import Problem
from ..families.family import Solver
from ..kernels.types import FloatArray
from .scores import INFORMATION, covariance_over_snapshots, effective_strata

SMALLEST_ESTIMATE = 1e-6  # of mismatches: at zero there is nothing to estimate


class Counts(Protocol):
    """Anything with rows, some of which can exchange labels."""

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        ...

    @property
    def n_movable(self) -> int:
        """Number of rows that can exchange labels."""
        ...


class Covariance(NamedTuple):
    """Covariance of the estimates.

    Attributes
    ----------
    coef : array of shape (1 + d, 1 + d)
        Of the intercept and the coefficients; without an intercept its row and column are zero.
    log_noise : float
        Variance of the logarithm of the noise scale.
    logit_rate : float
        Variance of the logit of the rate of mismatches; nan where there is none.
    fraction_kept : float
        Smallest fraction of the information kept (observed / complete) in any direction.
    inflation : float
        Standard errors as a multiple of those with known order (root mean square over directions,
        in the metric of X).
    """

    coef: FloatArray
    log_noise: float
    logit_rate: float
    fraction_kept: float
    inflation: float


class Inverse(NamedTuple):
    """The inverse information in the orthonormal basis.

    Attributes
    ----------
    matrix : array of shape (k, k)
        Coordinates of the coefficients, logarithm of the noise and, where it was estimated, logit
        of the rate of mismatches.
    fraction_kept : float
        Smallest fraction of the information kept in any direction.
    """

    matrix: FloatArray
    fraction_kept: float


def invert_information(
    counts: Counts,
    solver: Solver,
    noise_scale: float,
    missing: FloatArray,
    mismatch_rate: float | None,
) -> Inverse:
    """Invert the complete-data information less `missing`, the covariance of the scores.

    Its last row and column, those of the number of mismatches, are used where there is a rate.
    """
    unit, kept = information_kept(counts, solver, noise_scale, missing, mismatch_rate)
    values, axes = np.linalg.eigh(kept)
    values_used = np.maximum(values, INFORMATION.smallest_fraction)
    inverse = (axes / values_used) @ axes.T / np.outer(unit, unit)
    return Inverse(inverse, float(values.min()))


def information_kept(
    counts: Counts,
    solver: Solver,
    noise_scale: float,
    missing: FloatArray,
    mismatch_rate: float | None,
) -> tuple[FloatArray, FloatArray]:
    """Root of the complete-data information, and the observed information in units of it.

    In these units every direction counts alike.
    """
    rank, n = solver.rank, counts.n_rows
    complete = np.concatenate([np.full(rank, noise_scale**-2.0), [2.0 * n]])
    if mismatch_rate is not None:
        rate = smallest_rate(mismatch_rate)
        complete = np.append(complete, counts.n_movable * rate**2 * (1.0 - min(rate, 0.999)))
        weight = np.append(np.ones(rank + 1), rate)
        missing = missing * np.outer(weight, weight)
    size, unit = len(complete), np.sqrt(complete)
    return unit, np.eye(size) - missing[:size, :size] / np.outer(unit, unit)


def smallest_rate(rate: float) -> float:
    """A rate of mismatches above zero."""
    return max(rate, SMALLEST_ESTIMATE)


def louis_covariance(
    counts: Counts,
    solver: Solver,
    noise_scale: float,
    scores: FloatArray,
    mismatch_rate: float | None,
) -> Covariance:
    """Covariance of the estimates from the observed information.

    `scores` has shape (n_snapshots, rank + 2), or (n_snapshots, n_strata, rank + 2) where strata
    are independent; `mismatch_rate` is None where the rate was not estimated.
    """
    missing = covariance_over_snapshots(scores)
    return covariance_less(counts, solver, noise_scale, missing, mismatch_rate)


def monte_carlo_error(problem: Problem, n_snapshots: int, fraction_kept: float) -> float:
    """Standard error of the fraction of the information kept, from so many snapshots."""
    freedom = max((n_snapshots - 1) * effective_strata(problem), 1.0)
    return (1.0 - fraction_kept) * float(np.sqrt(2.0 / freedom))


def complete_covariance(counts: Counts, solver: Solver, noise_scale: float) -> Covariance:
    """Covariance of the estimates where every label stands beside its own row."""
    nothing = np.zeros((solver.rank + 2, solver.rank + 2))
    return covariance_less(counts, solver, noise_scale, nothing, None)


def covariance_less(
    counts: Counts,
    solver: Solver,
    noise_scale: float,
    missing: FloatArray,
    mismatch_rate: float | None,
) -> Covariance:
    """Covariance of the estimates where information is `missing`."""
    rank = solver.rank
    inverse, kept = invert_information(counts, solver, noise_scale, missing, mismatch_rate)
    coef = np.zeros((1 + len(solver.to_coef), 1 + len(solver.to_coef)))
    coef[1:, 1:] = solver.to_coef @ inverse[:rank, :rank] @ solver.to_coef.T
    if solver.fit_intercept:
        add_intercept(coef, solver.centre, noise_scale, counts.n_rows)
    return Covariance(
        coef,
        float(inverse[rank, rank]),
        float(inverse[-1, -1]) if mismatch_rate is not None else float("nan"),
        kept,
        error_inflation(inverse[:rank, :rank], noise_scale),
    )


def error_inflation(covariance: FloatArray, noise_scale: float) -> float:
    """Root mean square error over directions of the orthonormal basis, in units of the noise."""
    rank = len(covariance)
    return float(np.sqrt(np.trace(covariance) / rank)) / noise_scale if rank else 1.0


def with_monte_carlo_error(covariance: Covariance, coef: float, log_noise: float) -> Covariance:
    """Add the Monte Carlo error of the chain, given as shares of the variances."""
    return covariance._replace(
        coef=covariance.coef * (1.0 + coef), log_noise=covariance.log_noise * (1.0 + log_noise)
    )


def add_intercept(
    covariance: FloatArray, centre: FloatArray, noise_scale: float, n_rows: int
) -> FloatArray:
    """Fill in the row and column of the intercept: b = mean label - centre · coef."""
    cross = -covariance[1:, 1:] @ centre
    covariance[0, 1:] = covariance[1:, 0] = cross
    covariance[0, 0] = noise_scale**2 / n_rows - centre @ cross
    return covariance
