"""Snapshots of the chain: the score of the complete data at the permutations it visits."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..alignment.sampled import SampledAlignment
from ..alignment.state import NO_ROWS, State
from ..data.problem import Problem
from ..data.threads import Workers
from ..families.least_squares import LeastSquares
from ..kernels.scores import stratum_scores
from ..kernels.types import FloatArray, IntArray
from .settings import DEFAULTS, InformationSettings

INFORMATION = DEFAULTS.information


def strata(problem: Problem, settings: InformationSettings = INFORMATION) -> IntArray:
    """Edges that cut the movable rows into strata of whole groups, of like size."""
    starts, n = problem.starts, problem.n_movable
    n_strata = min(problem.n_blocks, settings.most_strata)
    places = np.searchsorted(starts, np.arange(n_strata + 1) * n / max(n_strata, 1))
    edges: IntArray = np.unique(starts[places])
    return edges


def snapshot_count(
    n_movable: int, fewest: int = 100, settings: InformationSettings = INFORMATION
) -> int:
    """Snapshots of the chain: fewer of large data, each of which says more."""
    if n_movable == 0:
        return 0
    return int(min(settings.most_snapshots, max(fewest, settings.rows_seen // n_movable)))


def snapshots_needed(problem: Problem, settings: InformationSettings = INFORMATION) -> int:
    """Snapshots for a covariance added up over strata: few where there are many groups."""
    if problem.n_movable == 0:
        return 0
    wanted = snapshot_count(problem.n_movable, settings.enough_snapshots, settings)
    enough = 1 + np.ceil(settings.enough_freedom / effective_strata(problem))
    return int(max(settings.fewest_snapshots, min(wanted, enough)))


def effective_strata(problem: Problem) -> float:
    """How many strata of equal size hold as much information."""
    if problem.n_movable == 0:
        return 0.0
    sizes = np.diff(strata(problem)).astype(np.float64)
    return float(sizes.sum() ** 2 / (sizes**2).sum())


def sweeps_between(
    n_snapshots: int, mostly_right: bool, settings: InformationSettings = INFORMATION
) -> int:
    """Sweeps from one snapshot to the next."""
    if mostly_right or n_snapshots == 0:
        return settings.sweeps_per_snapshot
    return max(settings.sweeps_per_snapshot, -(-settings.sweeps_of_walk // n_snapshots))


class Snapshots(NamedTuple):
    """What a chain showed on its walk.

    Attributes
    ----------
    scores : array of shape (n_snapshots, n_strata, rank + 2)
        Scores, up to a constant.
    expected, match_proba, squares : arrays of shape (n,) or None
        Mean labels, probabilities of holding the own one, and mean squares of labels, where they
        were asked for.
    clue_scores : array of shape (n_snapshots, n_strata, k) or None
        Scores of a match model, where there is one.
    """

    scores: FloatArray
    expected: FloatArray | None = None
    match_proba: FloatArray | None = None
    squares: FloatArray | None = None
    clue_scores: FloatArray | None = None

    def merged(self, more: "Snapshots") -> "Snapshots":
        """These and those of another walk at the same parameters."""
        share = len(more.scores) / (len(self.scores) + len(more.scores))

        def mean(one: FloatArray | None, other: FloatArray | None) -> FloatArray | None:
            return None if one is None or other is None else one + share * (other - one)

        return Snapshots(
            np.concatenate([self.scores, more.scores]),
            mean(self.expected, more.expected),
            mean(self.match_proba, more.match_proba),
            mean(self.squares, more.squares),
            None
            if self.clue_scores is None or more.clue_scores is None
            else np.concatenate([self.clue_scores, more.clue_scores]),
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
    settings: InformationSettings = INFORMATION,
    clues: FloatArray | None = None,
) -> Snapshots:
    """Run the chain at `state` and take the score now and then.

    `expected` labels, where they are known, centre the scores. With `averages` the labels that
    the walk passes through are averaged as well. `clues` are scores of a mismatch of each movable
    row under a match model.
    """
    edges = strata(problem)
    centre_on = problem.y if expected is None else expected
    scores = np.empty((n_snapshots, len(edges) - 1, solver.rank + 2))
    of_clues = None if clues is None else np.empty((*scores.shape[:2], clues.shape[1]))

    def walk(task: tuple[SampledAlignment, range]) -> FloatArray:
        chain, now = task[0], state
        sums = np.zeros((3, problem.n_rows if averages else 0))
        for k in task[1]:
            found = chain(now, first_stream + k)
            now = now._replace(perm=found.perm)
            scores[k] = scores_of(problem, solver, now, centre_on, chain.chain.workers)
            if clues is not None and of_clues is not None:
                mismatched = now.perm[: len(clues)] != np.arange(len(clues))
                of_clues[k] = np.add.reduceat(clues * mismatched[:, None], edges[:-1], axis=0)
            if averages:
                sums[0] += found.expected
                sums[1] += np.asarray(found.match_proba)
                sums[2] += problem.y[now.perm] ** 2
        return sums

    # One large group keeps one thread busy, so two chains share the work. Always two, whatever
    # the threads, so that the answer does not depend on them.
    half = n_snapshots // 2
    if half < settings.fewest_snapshots or len(edges) > settings.few_strata:
        sums = walk((align, range(n_snapshots)))
    else:
        walks = [(align.twin(), range(half)), (align.twin(), range(half, n_snapshots))]
        one, other = align.chain.workers.map(walk, walks)
        sums = one + other
    scores[:, :, :-1] /= state.noise_scale**2
    if not averages or n_snapshots == 0:
        return Snapshots(scores, clue_scores=of_clues)
    sums /= n_snapshots
    return Snapshots(scores, sums[0], sums[1], sums[2], of_clues)


def scores_of(
    problem: Problem, solver: LeastSquares, state: State, centre_on: FloatArray, workers: Workers
) -> FloatArray:
    """Score of each stratum at the permutation of `state`, up to a constant.

    Shape (n_strata, rank + 2); all but the last column are still to be divided by s².
    """
    edges, order = strata(problem), NO_ROWS if problem.order is None else problem.order
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
    covariance is shrunk towards one with equal variances of all coefficients and no correlations,
    by the share of its distance from there that Monte Carlo error explains (Ledoit & Wolf 2004;
    Schäfer & Strimmer 2005).
    """
    n, size = len(scores), scores.shape[-1]
    if n < 2:
        return np.zeros((size, size))
    rows = (scores - scores.mean(axis=0)).reshape(-1, size)
    covariance: FloatArray = rows.T @ rows / (n - 1)
    goal = np.diag(covariance).copy()
    goal[:-2] = goal[:-2].mean() if size > 2 else 0.0  # noise and mismatches have other units
    unit = np.sqrt(np.where(goal > 0.0, goal, 1.0))
    units = np.outer(unit, unit)
    distance = (covariance - np.diag(goal)) / units
    products = (rows**2).T @ rows**2 - (rows.T @ rows) ** 2 / len(rows)
    variance = products / ((n - 1) * units) ** 2
    changed = distance != 0.0  # the goal keeps the other entries
    total = float((distance[changed] ** 2).sum())
    share = min(float(variance[changed].sum()) / total, 1.0) if total > 0.0 else 0.0
    shrunk: FloatArray = covariance - share * distance * units
    return shrunk
