r"""Coefficients for given shares of exchanged labels, with no law of the noise.

Suppose that each label that can move was exchanged with probability a: it stands beside a row of
its group drawn at random, its own row included. With :math:`\bar x_i` the mean of the features
over the rows of the group of row i that can move, the label given beside row i has the mean

.. math::

    E[y_i] = b + \big( (1 - a)\, x_i + a\, \bar x_i \big)^\top w,

whatever the law of the noise. So least squares of the labels as given on features averaged in this
way estimates b and w (Lahiri and Larsen 2005). In one group with an intercept these are the slopes
of the labels as given, divided by 1 - a.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..data.problem import Problem
from ..kernels.types import FloatArray
from .settings import AVERAGING, AveragingSettings


@dataclass(frozen=True, eq=False)
class RateEstimates:
    """Least squares on averaged features, one line for each rate; the intercept first.

    Attributes
    ----------
    rates : array of shape (n_rates,)
    coef, standard_errors : arrays of shape (n_rates, k)
        The standard errors are those of White's sandwich in the version HC1.
    freedom : int
        Rows less coefficients.
    """

    rates: FloatArray
    coef: FloatArray
    standard_errors: FloatArray
    freedom: int


def estimates_by_rate(
    problem: Problem,
    rates: Sequence[float] | FloatArray,
    *,
    fit_intercept: bool,
    settings: AveragingSettings = AVERAGING,
) -> RateEstimates:
    """Estimate the coefficients for each rate of exchanged labels.

    Parameters
    ----------
    problem : Problem
        Labels can have moved inside its blocks; pinned rows keep their features.
    rates : sequence of float
        Shares of exchanged labels among those that can move, from 0 to below 1.
    fit_intercept : bool
    settings : AveragingSettings

    Returns
    -------
    estimates : RateEstimates

    Notes
    -----
    Costs one QR decomposition of X for each rate, and twice the memory of X.
    """
    asked = check_rates(rates)
    n, d = problem.X.shape
    if problem.n_movable == 0:
        raise ValueError(
            "no label can have moved: every row is known or alone in its group, so that the "
            "coefficients are the same at every rate"
        )
    if n <= d + fit_intercept:
        raise ValueError(f"{n} rows are too few for {d + fit_intercept} coefficients")
    X = problem.X[problem.user_rows(np.arange(n))]
    # Around their means the features lose no digits to a large constant. Averaging inside groups
    # leaves these means as they are.
    centre = X.mean(axis=0) if fit_intercept else np.zeros(d)
    rows = X - centre
    scale = np.sqrt((rows**2).sum(axis=0))
    rounding = n * np.finfo(float).eps * np.abs(centre) * n**0.5
    rows /= np.where(scale > rounding, scale, np.inf)  # a constant column becomes zero
    means = _block_means(rows, problem)
    _check_columns(_smallest_direction(rows), settings)
    level = float(problem.y.mean()) if fit_intercept else 0.0
    labels = problem.y - level
    found = [
        _least_squares(rows, means, labels, float(rate), fit_intercept, settings) for rate in asked
    ]
    leads = _leads(centre, scale, fit_intercept)
    coef = np.array([leads @ theta for theta, _ in found])
    coef[:, : int(fit_intercept)] += level
    variances = [((leads @ root.T) ** 2).sum(axis=1) for _, root in found]
    return RateEstimates(asked, coef, np.sqrt(np.array(variances)), n - d - fit_intercept)


def check_rates(rates: Sequence[float] | FloatArray) -> FloatArray:
    """The rates as an array; anything but shares below one is refused."""
    try:
        found = np.atleast_1d(np.asarray(rates, dtype=np.float64))
    except (TypeError, ValueError):
        raise ValueError(f"rates must be numbers, such as (0, 0.05, 0.1); got {rates!r}") from None
    if found.ndim != 1 or not len(found):
        raise ValueError(
            f"rates must be a list of at least one number, got an array of shape {found.shape}"
        )
    wrong = found[~((found >= 0.0) & (found < 1.0))]
    if len(wrong):
        raise ValueError(
            f"rates are shares from 0 to below 1, such as 0.05 for 5 %; got {wrong[0]:g}"
        )
    return found


def _block_means(rows: FloatArray, problem: Problem) -> FloatArray:
    """Mean features of a row's block, for the rows that can move; shape (n_movable, d)."""
    sums = np.add.reduceat(rows[: problem.n_movable], problem.starts[:-1], axis=0)
    sizes = np.diff(problem.starts)
    means: FloatArray = np.repeat(sums / sizes[:, None], sizes, axis=0)
    return means


def _least_squares(
    rows: FloatArray,
    means: FloatArray,
    y: FloatArray,
    rate: float,
    fit_intercept: bool,
    settings: AveragingSettings,
) -> tuple[FloatArray, FloatArray]:
    """Coefficients of scaled features, and a root of their sandwich covariance.

    The root R has one line per coefficient, and the covariance is R'R; the first coefficient is
    the mean of the labels where there is an intercept.
    """
    n, n_movable = len(y), len(means)
    design = np.empty((n, rows.shape[1] + fit_intercept))
    if fit_intercept:
        design[:, 0] = 1.0
    averaged = design[:, int(fit_intercept) :]
    averaged[:] = rows
    averaged[:n_movable] = (1.0 - rate) * rows[:n_movable] + rate * means
    basis, triangle = np.linalg.qr(design)
    smallest = np.linalg.svd(triangle[int(fit_intercept) :, int(fit_intercept) :])[1].min()
    if smallest < settings.smallest_direction:
        raise ValueError(
            f"at rate {rate:.12g} the averaged features are nearly singular (smallest singular "
            f"value {smallest:.2g} of features of length one): all that varies inside groups has "
            "been averaged out; give rates further below 1"
        )
    theta = np.linalg.solve(triangle, basis.T @ y)
    scores = basis * (y - design @ theta)[:, None]
    # HC1 counts a lost degree of freedom for every coefficient.
    root = np.linalg.qr(scores, mode="r") * (n / (n - design.shape[1])) ** 0.5
    return theta, np.linalg.solve(triangle, root.T).T


def _smallest_direction(rows: FloatArray) -> float:
    return float(np.linalg.svd(np.linalg.qr(rows, mode="r"), compute_uv=False).min())


def _check_columns(smallest: float, settings: AveragingSettings) -> None:
    if smallest < settings.smallest_direction:
        raise ValueError(
            "the features are nearly singular as they are given: some columns are constant or "
            "linear combinations of each other, so that single coefficients are not determined; "
            "drop columns and fit again"
        )


def _leads(centre: FloatArray, scale: FloatArray, fit_intercept: bool) -> FloatArray:
    """From coefficients of centred and scaled features to those of the features as given."""
    slopes = np.diag(1.0 / scale)
    if not fit_intercept:
        return slopes
    leads = np.zeros((1 + len(scale), 1 + len(scale)))
    leads[0, 0] = 1.0
    leads[0, 1:] = -centre / scale
    leads[1:, 1:] = slopes
    return leads
