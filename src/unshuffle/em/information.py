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
What the lost order takes away is the covariance of the score over permutations (Louis 1982),
estimated from snapshots of the chain at the fitted values. Where nothing is lost this is least
squares.
"""

from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np

from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..families.least_squares import LeastSquares
from ..kernels.scores import stratum_scores
from ..kernels.types import FloatArray, IntArray

# The share of the information in any direction that must be left. Below it the data hold next to
# nothing, and the inverse would be a matter of chance.
SMALLEST_SHARE = 1e-3
NO_ORDER = np.empty(0, dtype=np.int64)

SWEEPS_PER_SNAPSHOT = 4
# Labels that wander through a group take tens of sweeps to do so, and a shorter walk would not see
# how much they vary. Where the order is mostly right they come home sooner.
SWEEPS_OF_WALK = 256
MOST_SNAPSHOTS, FEWEST_SNAPSHOTS = 250, 8
ROWS_SEEN = 2_000_000  # over all snapshots, where that allows more than is needed
ENOUGH = 20  # snapshots of a single large group: its standard errors vary by about 4 %
# Groups are independent given the parameters: strata of whole groups each have their own mean over
# the snapshots, and their covariances add up.
MOST_STRATA = 1 << 14
# Degrees of freedom over all strata: where little information is left, it is a small difference
# of two large numbers.
ENOUGH_FREEDOM = 20_000
FEW_STRATA = 4


def strata(problem: Problem) -> IntArray:
    """Edges that cut the movable rows into strata of whole groups, of like size."""
    starts, n = problem.starts, problem.n_movable
    n_strata = min(problem.n_blocks, MOST_STRATA)
    places = np.searchsorted(starts, np.arange(n_strata + 1) * n / max(n_strata, 1))
    edges: IntArray = np.unique(starts[places])
    return edges


def snapshot_count(n_movable: int, fewest: int = 100) -> int:
    """Snapshots of the chain: fewer of large data, each of which says more."""
    if n_movable == 0:
        return 0
    return int(min(MOST_SNAPSHOTS, max(fewest, ROWS_SEEN // n_movable)))


def snapshots_needed(problem: Problem) -> int:
    """Snapshots for a covariance added up over strata: few where there are many groups."""
    if problem.n_movable == 0:
        return 0
    wanted = snapshot_count(problem.n_movable, ENOUGH)
    enough = 1 + np.ceil(ENOUGH_FREEDOM / strata_alike(problem))
    return int(max(FEWEST_SNAPSHOTS, min(wanted, enough)))


def strata_alike(problem: Problem) -> float:
    """How many strata of like size would tell as much."""
    if problem.n_movable == 0:
        return 0.0
    sizes = np.diff(strata(problem)).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def sweeps_between(n_snapshots: int, mostly_right: bool) -> int:
    """Sweeps from one snapshot to the next."""
    if mostly_right or n_snapshots == 0:
        return SWEEPS_PER_SNAPSHOT
    return max(SWEEPS_PER_SNAPSHOT, -(-SWEEPS_OF_WALK // n_snapshots))


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
    information_left : float
        Smallest share of the complete-data information that any direction keeps.
    inflation : float
        Length of the error to expect, as a multiple of that with known order (root mean square
        over directions, in the metric of X).
    """

    coef: FloatArray
    log_noise: float
    logit_rate: float
    information_left: float
    inflation: float


class Snapshots(NamedTuple):
    """What a chain showed while it walked.

    Attributes
    ----------
    scores : array of shape (n_snapshots, n_strata, rank + 2)
        Scores, up to a constant.
    expected, match_proba : arrays of shape (n,) or None
        Mean labels and chances of holding the own one, where they were asked for.
    """

    scores: FloatArray
    expected: FloatArray | None = None
    match_proba: FloatArray | None = None

    def and_more(self, more: "Snapshots") -> "Snapshots":
        """These and others, of another walk at the same place."""
        share = len(more.scores) / (len(self.scores) + len(more.scores))

        def mean(one: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
            return None if one is None or other is None else one + share * (other - one)

        return Snapshots(
            np.concatenate([self.scores, more.scores]),
            mean(self.expected, more.expected),
            mean(self.match_proba, more.match_proba),
        )


def score_snapshots(
    problem: Problem,
    solver: LeastSquares,
    state: State,
    align: SampledAlignment,
    n_snapshots: int,
    first_stream: int,
    expected: FloatArray | None = None,
    *,
    averages: bool = False,
) -> Snapshots:
    """Walk at `state` and look at the score now and then.

    `expected` labels, where they are known, centre the scores. With `averages` what the walk
    passes through is averaged as well.
    """
    edges = strata(problem)
    centre_on = problem.y if expected is None else expected
    scores = np.empty((n_snapshots, len(edges) - 1, solver.rank + 2))

    def walk(task: tuple[SampledAlignment, range]) -> FloatArray:
        chain, now = task[0], state
        sums = np.zeros((2, problem.n_rows if averages else 0))
        for k in task[1]:
            found = chain(now, first_stream + k)
            now = now._replace(perm=found.perm)
            scores[k] = scores_of(problem, solver, now, centre_on, chain.chain.workers)
            if averages:
                sums[0] += found.expected
                sums[1] += np.asarray(found.match_proba)
        return sums

    # One large group keeps one thread busy, so two chains go their own ways from here. Always two,
    # whatever the threads, so that the answer does not depend on them.
    half = n_snapshots // 2
    if half < FEWEST_SNAPSHOTS or len(edges) > FEW_STRATA:
        sums = walk((align, range(n_snapshots)))
    else:
        walks = [(align.twin(), range(half)), (align.twin(), range(half, n_snapshots))]
        one, other = align.chain.workers.map(walk, walks)
        sums = one + other
    scores[:, :, :-1] /= state.noise_scale**2
    if not averages or n_snapshots == 0:
        return Snapshots(scores)
    sums /= n_snapshots
    return Snapshots(scores, sums[0], sums[1])


def scores_of(
    problem: Problem, solver: LeastSquares, state: State, centre_on: FloatArray, workers: Workers
) -> FloatArray:
    """Score of each stratum at the permutation of `state`, up to a constant.

    Shape (n_strata, rank + 2); all but the last column are still to be divided by s².
    """
    edges, order = strata(problem), NO_ORDER if problem.order is None else problem.order
    d, n_strata = len(solver.centre), len(edges) - 1
    raw = np.empty((n_strata, d + 2))

    def add_up(part: tuple[int, int]) -> None:
        stratum_scores(
            problem.X, solver.centre, order, edges, *part, state.fitted, problem.y, centre_on,
            state.perm, raw,
        )  # fmt: skip

    n_parts = min(workers.n_jobs, n_strata)
    edges_of_parts = (k * n_strata // n_parts for k in range(n_parts + 1))
    workers.map(add_up, list(pairwise(edges_of_parts)))
    return np.concatenate([raw[:, :d] @ solver.to_coef, raw[:, d:]], axis=1)


def covariance_over_snapshots(scores: FloatArray) -> FloatArray:
    """Covariance of the score: over snapshots inside each stratum, added up over strata.

    Few snapshots of many coefficients make some directions vary too much and others too little. The
    covariance is drawn towards one in which all coefficients vary alike and nothing goes
    together, by the share of its distance from there that chance explains (Ledoit & Wolf 2004;
    Schäfer & Strimmer 2005).
    """
    n, size = len(scores), scores.shape[-1]
    if n < 2:
        return np.zeros((size, size))
    rows = (scores - scores.mean(axis=0)).reshape(-1, size)
    covariance: FloatArray = rows.T @ rows / (n - 1)
    goal = np.diag(covariance).copy()
    goal[:-2] = goal[:-2].mean() if size > 2 else 0.0  # noise and mismatches are of other kinds
    unit = np.sqrt(np.where(goal > 0.0, goal, 1.0))
    units = np.outer(unit, unit)
    distance = (covariance - np.diag(goal)) / units
    products = (rows**2).T @ rows**2 - (rows.T @ rows) ** 2 / len(rows)
    by_chance = products / ((n - 1) * units) ** 2
    changed = distance != 0.0  # the goal keeps the other entries
    total = float((distance[changed] ** 2).sum())
    share = min(float(by_chance[changed].sum()) / total, 1.0) if total > 0.0 else 0.0
    shrunk: FloatArray = covariance - share * distance * units
    return shrunk


class Table(Protocol):
    """Anything with rows, some of which can exchange labels."""

    @property
    def n_rows(self) -> int: ...  # noqa: D102
    @property
    def n_movable(self) -> int: ...  # noqa: D102


class Coordinates(Protocol):
    """What leads from an orthonormal basis to coefficients."""

    rank: int
    to_coef: FloatArray
    centre: FloatArray
    fit_intercept: bool


class Inverse(NamedTuple):
    """The inverse information in the orthonormal basis.

    Attributes
    ----------
    matrix : array of shape (k, k)
        Coordinates of the coefficients, logarithm of the noise and, where it was estimated, logit
        of the rate of mismatches.
    information_left : float
        Smallest share of the complete-data information that any direction keeps.
    """

    matrix: FloatArray
    information_left: float


def invert_information(
    problem: Table,
    solver: Coordinates,
    noise_scale: float,
    missing: FloatArray,
    mismatch_rate: float | None,
) -> Inverse:
    """Invert the complete-data information less `missing`, the covariance of the scores.

    Its last row and column, those of the number of mismatches, are used where there is a rate.
    """
    unit, share = information_share(problem, solver, noise_scale, missing, mismatch_rate)
    values, axes = np.linalg.eigh(share)
    inverse = (axes / np.maximum(values, SMALLEST_SHARE)) @ axes.T / np.outer(unit, unit)
    return Inverse(inverse, float(values.min()))


def information_share(
    problem: Table,
    solver: Coordinates,
    noise_scale: float,
    missing: FloatArray,
    mismatch_rate: float | None,
) -> tuple[FloatArray, FloatArray]:
    """Root of the complete-data information, and what is left of it, in units of it.

    In these units every direction counts alike.
    """
    rank, n = solver.rank, problem.n_rows
    complete = np.concatenate([np.full(rank, noise_scale**-2.0), [2.0 * n]])
    if mismatch_rate is not None:
        rate = smallest_rate(mismatch_rate)
        complete = np.append(complete, problem.n_movable * rate**2 * (1.0 - min(rate, 0.999)))
        weight = np.append(np.ones(rank + 1), rate)
        missing = missing * np.outer(weight, weight)
    size, unit = len(complete), np.sqrt(complete)
    return unit, np.eye(size) - missing[:size, :size] / np.outer(unit, unit)


def smallest_rate(rate: float) -> float:
    """A rate of mismatches of which there is something to estimate: not zero."""
    return max(rate, 1e-6)


def louis_covariance(
    problem: Problem,
    solver: LeastSquares,
    noise_scale: float,
    scores: FloatArray,
    mismatch_rate: float | None,
) -> Covariance:
    """Covariance of the estimates from the observed information.

    `scores` has shape (n_snapshots, rank + 2), or (n_snapshots, n_strata, rank + 2) where strata
    are independent; `mismatch_rate` is None where the rate was not estimated.
    """
    missing = covariance_over_snapshots(scores)
    return covariance_less(problem, solver, noise_scale, missing, mismatch_rate)


def chance_of_information(problem: Problem, seen: Snapshots, known: Covariance) -> float:
    """Standard error of the information left, by the chance of the snapshots."""
    freedom = max((len(seen.scores) - 1) * strata_alike(problem), 1.0)
    return (1.0 - known.information_left) * float(np.sqrt(2.0 / freedom))


def covariance_less(
    problem: Table,
    solver: Coordinates,
    noise_scale: float,
    missing: FloatArray,
    mismatch_rate: float | None,
) -> Covariance:
    """Covariance of the estimates where information is `missing`."""
    rank = solver.rank
    inverse, left = invert_information(problem, solver, noise_scale, missing, mismatch_rate)
    coef = np.zeros((1 + len(solver.to_coef), 1 + len(solver.to_coef)))
    coef[1:, 1:] = solver.to_coef @ inverse[:rank, :rank] @ solver.to_coef.T
    if solver.fit_intercept:
        add_intercept(coef, solver.centre, noise_scale, problem.n_rows)
    return Covariance(
        coef,
        float(inverse[rank, rank]),
        float(inverse[-1, -1]) if mismatch_rate is not None else float("nan"),
        left,
        error_inflation(inverse[:rank, :rank], noise_scale),
    )


def error_inflation(covariance: FloatArray, noise_scale: float) -> float:
    """Root mean square error over directions of the orthonormal basis, in units of the noise."""
    rank = len(covariance)
    return float(np.sqrt(np.trace(covariance) / rank)) / noise_scale if rank else 1.0


def with_chance(uncertainty: Covariance, coef: float, log_noise: float) -> Covariance:
    """Add the shares of the variance that the chance of the chain makes up."""
    return uncertainty._replace(
        coef=uncertainty.coef * (1.0 + coef), log_noise=uncertainty.log_noise * (1.0 + log_noise)
    )


def add_intercept(
    covariance: FloatArray, centre: FloatArray, noise_scale: float, n_rows: int
) -> FloatArray:
    """Fill in the row and column of the intercept: b = mean label - centre · coef."""
    cross = -covariance[1:, 1:] @ centre
    covariance[0, 1:] = covariance[1:, 0] = cross
    covariance[0, 0] = noise_scale**2 / n_rows - centre @ cross
    return covariance
