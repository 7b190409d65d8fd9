"""Scores from the best matching of labels and predictions inside groups."""

from typing import Any

import numpy as np

from ..alignment.hard import most_likely_permutation
from ..data.problem import Problem
from ..kernels.types import FloatArray
from .given import given_problem, unit_of

DRAWS = 20  # of unrelated predictions: their mean has an error of a fifth of their spread
SEED = 0


def matched_mse(y: Any, predicted: Any, groups: Any = None) -> float:
    r"""Mean squared error after the best matching inside groups.

    .. math:: \min_\pi \frac1n \sum_i (y_{\pi(i)} - \hat\mu_i)^2

    Needs no true order. It is optimistic: the best matching also fits the noise.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, in any order inside each group.
    predicted : array-like of shape (n_samples,)
        Predictions for the rows.
    groups : array-like of shape (n_samples,), optional
        Labels are matched inside groups only.

    Returns
    -------
    mse : float

    Examples
    --------
    >>> from unshuffle.metrics import matched_mse
    >>> matched_mse([3.0, 1.0, 2.0], [1.0, 2.0, 3.5])
    0.08333333333333333
    """
    problem, fitted = given_problem(y, predicted, groups)
    unit = _common_unit(problem, fitted)
    mse = _matched_squares(problem, fitted, unit) / problem.n_rows * unit * unit
    if not np.isfinite(mse):
        raise ValueError("the squares of the errors are too large for a number; use another unit")
    return mse


def matched_r2(y: Any, predicted: Any, groups: Any = None) -> float:
    r"""Share of the matched sum of squares that unrelated predictions would leave.

    .. math:: 1 - \frac{S}{S_0}, \qquad S = \min_\pi \sum_i (y_{\pi(i)} - \hat\mu_i)^2

    where :math:`S_0` is the mean of S for predictions that are drawn from all predictions, whatever
    their group: they have the right distribution and nothing to do with the rows. Where S is larger
    than :math:`S_0`, the score is :math:`S_0 / S - 1`. So it lies between -1 and 1, and is 0 on
    average for predictions that say nothing about a group.

    It assumes that labels are in lost order inside groups, and needs at least two groups: in one
    group predictions and labels of the same distribution match, related or not.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, in any order inside each group.
    predicted : array-like of shape (n_samples,)
        Predictions for the rows.
    groups : array-like of shape (n_samples,)
        Labels are matched inside groups only.

    Returns
    -------
    score : float

    Examples
    --------
    >>> from unshuffle.metrics import matched_r2
    >>> round(matched_r2([3.0, 1.0, 7.0, 8.0], [1.1, 2.9, 7.9, 7.1], groups=[0, 0, 1, 1]), 2)
    1.0
    """
    problem, fitted = given_problem(y, predicted, groups)
    if problem.n_groups < 2:
        raise ValueError(
            "matched_r2 needs labels in at least two groups, but there is one; pass groups, or use "
            "log_density_gain"
        )
    rng, unit = np.random.default_rng(SEED), _common_unit(problem, fitted)
    squares = _matched_squares(problem, fitted, unit)
    draws = [rng.choice(fitted, len(fitted)) for _ in range(DRAWS)]
    unrelated = float(np.mean([_matched_squares(problem, draw, unit) for draw in draws]))
    if unrelated == squares:
        return 0.0
    return 1.0 - squares / unrelated if squares < unrelated else unrelated / squares - 1.0


def _matched_squares(problem: Problem, fitted: FloatArray, unit: float) -> float:
    """Sum of squares of the best matching, in squares of `unit`."""
    residual = problem.y[most_likely_permutation(problem, fitted)] / unit - fitted / unit
    return float(residual @ residual)


def _common_unit(problem: Problem, fitted: FloatArray) -> float:
    return max(unit_of(problem.y), unit_of(fitted))
