r"""What permutations say of the match model, and the information about it and the regression.

The prior over permutations charges a mismatch of row i by
:math:`\gamma_i = \log(K p_i / (1 - p_i))` with :math:`K = \sum_j (1 - p_j)` over its group and
:math:`\mathrm{logit}\,p_i = o_i + z_i^\top b`, so that
:math:`\partial \gamma_i / \partial b = z_i - \bar z` with
:math:`\bar z = \sum_j p_j (1 - p_j) z_j / K`. With :math:`a_i` = 1 where a row does not hold its
own label, the score of a permutation is :math:`-\sum_i (a_i - (1 - p_i)) (z_i - \bar z)`. It is
zero on average where b is the logistic regression on the match probabilities, which is the M-step.

The prior weighs k mismatches by about :math:`k! / K^k`, so that under it the mismatches have the
covariance :math:`W + W 1 1^\top W / \sum_i (1 - p_i)^2` with
:math:`W = \mathrm{diag}(p_i (1 - p_i))`. Given the labels the same holds with the posterior
probabilities in place of the :math:`p_i`. The first gives the information of the complete data,
the second the information that is missing. Both are exact for large groups, and free of Monte Carlo
error, which matters for their difference. Where snapshots of the chain contradict the second, as
in groups of a few rows, it is moved towards their covariance.
"""

from typing import NamedTuple

import numpy as np

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..families.match_logit import MatchLogit
from ..kernels.limits import SMALLEST_RATE
from ..kernels.types import FloatArray
from .scores import INFORMATION, Snapshots, covariance_over_snapshots

# Squared distance from the covariance of snapshots, in units of its own Monte Carlo variance, from
# which on the snapshots contradict what is expected of them.
CONTRADICTED = 2.0
# Share of the way to a Newton step: the whole way would divide by what is left of the information.
# No standardised coefficient moves by more than the longest step at once.
NEARLY, LONGEST_STEP = 0.9, 1.0


class ClueScores(NamedTuple):
    """What a permutation says of the match model, and how much the complete data would.

    Attributes
    ----------
    rows : array of shape (n_movable, k)
        Score of a mismatch of each row; the score of a permutation is their sum over its
        mismatches, up to a constant.
    complete : array of shape (k, k)
        Information of the complete data, the ridge included.
    """

    rows: FloatArray
    complete: FloatArray


class JointInverse(NamedTuple):
    """Inverse of the observed information of regression and match model.

    Attributes
    ----------
    coef : array of shape (rank, rank)
        Of the coefficients in the orthonormal basis.
    log_noise : float
    clues : array of shape (k, k)
        Of the standardised coefficients of the match model.
    """

    coef: FloatArray
    log_noise: float
    clues: FloatArray


def clue_scores(problem: Problem, logit: MatchLogit, coef: FloatArray) -> ClueScores:
    """Scores around the mean of each group, and the information they carry."""
    n, starts = problem.n_movable, problem.starts
    p = np.clip(logit.probabilities(coef)[:n], SMALLEST_RATE, 1.0 - SMALLEST_RATE)
    columns = logit.columns[:n]
    total = np.add.reduceat((p * (1.0 - p))[:, None] * columns, starts[:-1], axis=0)
    centre = total / np.add.reduceat(1.0 - p, starts[:-1])[:, None]
    rows = np.repeat(centre, np.diff(starts), axis=0) - columns
    complete = mismatch_covariance(problem, p, rows, rows)
    return ClueScores(rows, complete + np.diag(logit.penalty))


def beside_bound(
    problem: Problem, logit: MatchLogit, coef: FloatArray, scores: ClueScores, matched: FloatArray
) -> ClueScores:
    """Scores with the information that a bound on the rate adds where it decides the answer."""
    n = problem.n_movable
    distance = matched[:n] - logit.probabilities(coef)[:n]
    gradient = -scores.rows.T @ distance - logit.penalty * coef
    return scores._replace(complete=scores.complete + logit.bound_curvature(coef, gradient))


def faster_step(
    problem: Problem, logit: MatchLogit, coef: FloatArray, step: FloatArray, matched: FloatArray
) -> FloatArray:
    """Continue an M-step of the match model nearly as far as Newton's method would.

    Where little of the information is kept, an M-step goes a small part of the way. How match
    probabilities follow the coefficients is known from their covariance over permutations.

    Parameters
    ----------
    problem : Problem
    logit : MatchLogit
        In the arranged order.
    coef, step : arrays of shape (k,)
        Before and after the M-step.
    matched : array of shape (n,)
        The match probabilities of the M-step.
    """
    n, columns = problem.n_movable, logit.columns[: problem.n_movable]
    spread = logit.spread(coef)[:n]
    complete = (columns * spread[:, None]).T @ columns + np.diag(logit.penalty)
    rows = clue_scores(problem, logit, coef).rows
    follows = -mismatch_covariance(problem, matched[:n], columns, rows)
    move = np.linalg.solve(complete - NEARLY * follows, complete @ (step - coef))
    return coef + move * min(1.0, LONGEST_STEP / max(float(np.abs(move).max()), 1e-300))


def mismatch_covariance(
    problem: Problem, matched: FloatArray, one: FloatArray, other: FloatArray
) -> FloatArray:
    """Covariance of two sums over mismatched rows, given probabilities of a match.

    Parameters
    ----------
    problem : Problem
    matched : array of shape (n_movable,)
    one, other : arrays of shape (n_movable, k) and (n_movable, l)
        What each mismatched row adds to the sums.
    """
    first = problem.starts[:-1]
    weight = (matched * (1.0 - matched))[:, None]
    squares = np.maximum(np.add.reduceat((1.0 - matched) ** 2, first), 1e-300)[:, None]
    of_one = np.add.reduceat(weight * one, first, axis=0)
    of_other = np.add.reduceat(weight * other, first, axis=0)
    return np.asarray(one.T @ (weight * other) + (of_one / squares).T @ of_other)


def invert_jointly(
    problem: Problem,
    solver: LeastSquares,
    fitted: FloatArray,
    noise_scale: float,
    seen: Snapshots,
    scores: ClueScores,
    bound: FloatArray | None,
) -> JointInverse:
    """Louis' formula for coefficients, noise and match model together.

    Parameters
    ----------
    problem : Problem
    solver : LeastSquares
    fitted : array of shape (n,)
        Fitted values, arranged.
    noise_scale : float
    seen : Snapshots
        With scores of the clues, and averages over the walk.
    scores : ClueScores
    bound : array of shape (k,) or None
        Gradient of the rate of mismatches, where a bound on it decides the answer.
    """
    rank, size = solver.rank, solver.rank + 1
    missing = missing_jointly(problem, solver, fitted, noise_scale, seen, scores)
    complete = np.zeros_like(missing)
    np.fill_diagonal(complete[:size, :size], [noise_scale**-2.0] * rank + [2.0 * problem.n_rows])
    complete[size:, size:] = scores.complete
    free = np.eye(len(complete))
    if bound is not None:  # along the bound nothing can vary
        gradient = np.concatenate([np.zeros(size), bound])
        free = np.linalg.svd(gradient[None])[2][1:].T
    root = np.linalg.cholesky(free.T @ complete @ free)
    inside = np.linalg.solve(root, np.linalg.solve(root, free.T @ missing @ free).T)
    values, axes = np.linalg.eigh(np.eye(len(inside)) - (inside + inside.T) / 2.0)
    axes = free @ np.linalg.solve(root.T, axes)
    inverse = (axes / np.maximum(values, INFORMATION.smallest_fraction)) @ axes.T
    return JointInverse(inverse[:rank, :rank], float(inverse[rank, rank]), inverse[size:, size:])


def missing_jointly(
    problem: Problem,
    solver: LeastSquares,
    fitted: FloatArray,
    noise_scale: float,
    seen: Snapshots,
    scores: ClueScores,
) -> FloatArray:
    """Covariance over permutations of the scores of coefficients, noise and match model."""
    assert seen.clue_scores is not None and seen.match_proba is not None
    n, size, k = problem.n_movable, solver.rank + 1, scores.rows.shape[1]
    matched = seen.match_proba[:n]
    gain = own_label_gain(problem, solver, fitted, noise_scale, seen)
    expected = np.zeros((size + k, size + k))
    expected[:size, :size] = covariance_over_snapshots(seen.scores)[:size, :size]
    # A mismatch takes away what the own label adds.
    expected[:size, size:] = -mismatch_covariance(problem, matched, gain, scores.rows)
    expected[size:, :size] = expected[:size, size:].T
    expected[size:, size:] = mismatch_covariance(problem, matched, scores.rows, scores.rows)
    sampled = np.concatenate([seen.scores[:, :, :size], seen.clue_scores], axis=2)
    return towards_snapshots(expected, sampled, size)


def own_label_gain(
    problem: Problem, solver: LeastSquares, fitted: FloatArray, noise_scale: float, seen: Snapshots
) -> FloatArray:
    """What the own label of a row, in place of another, adds to the score of the regression.

    Shape (n_movable, rank + 1): the coefficients' and the noise's.
    """
    assert seen.match_proba is not None and seen.expected is not None and seen.squares is not None
    n = problem.n_movable
    y, matched, at = problem.y[:n], seen.match_proba[:n], fitted[:n]
    away = np.maximum(1.0 - matched, 1e-9)  # where it is smaller, its weight is as well
    label = (seen.expected[:n] - matched * y) / away
    square = (seen.squares[:n] - matched * y**2) / away
    basis = (solver.X[problem.user_rows(np.arange(n))] - solver.centre) @ solver.to_coef
    noise = (y - at) ** 2 - (square - 2.0 * at * label + at**2)
    return np.column_stack([basis * (y - label)[:, None], noise]) / noise_scale**2


def towards_snapshots(expected: FloatArray, sampled: FloatArray, size: int) -> FloatArray:
    """Move the part of the match model towards snapshots where these contradict it.

    Parameters
    ----------
    expected : array of shape (m, m)
    sampled : array of shape (n_snapshots, n_strata, m)
        Scores.
    size : int
        The first rows and columns are the regression's, and stay.
    """
    n, m = len(sampled), sampled.shape[-1]
    rows = (sampled - sampled.mean(axis=0)).reshape(-1, m)
    found = rows.T @ rows / (n - 1)
    # Where nothing varies, as without any mismatch, there is nothing to compare.
    varies = np.maximum(np.diag(expected), np.diag(found))
    unit = np.sqrt(np.where(varies > 0.0, varies, 1.0))
    units = np.outer(unit, unit)
    distance = (found - expected) / units
    products = (rows**2).T @ rows**2 - (rows.T @ rows) ** 2 / len(rows)
    variance = products / (n - 1) ** 2 / units**2
    distance[:size, :size] = variance[:size, :size] = 0.0
    total, error = float((distance**2).sum()), float(variance.sum())
    if total <= CONTRADICTED * error:
        return expected
    return np.asarray(expected + (1.0 - error / total) * distance * units)
