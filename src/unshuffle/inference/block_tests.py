r"""Do slopes within blocks equal those between, or are they weaker by one common factor?

For a factor c let

.. math::

    Q(c) = (\hat\beta_W - c \hat\beta_B)^\top V_c^{-1} (\hat\beta_W - c \hat\beta_B), \qquad
    V_c = V_{WW} - c (V_{WB} + V_{BW}) + c^2 V_{BB}.

If the slopes within are c times those between, Q(c) is a Wald statistic with as many degrees of
freedom as slopes. So Q(1) tests equality, min Q the existence of a common factor, and its argument
is the estimate of the factor.

Exchanging labels inside blocks leads to a factor between 0 and 1. The test against this
alternative is the likelihood ratio :math:`Q(1) - \min_{0 \le c \le 1} Q(c)`. Its distribution
depends on the slopes themselves (where they are zero there is no factor). Given the estimate of the
common slopes that is uncorrelated with :math:`\hat\beta_W - \hat\beta_B` it does not, so the null
distribution is drawn given that estimate, as in Moreira's conditional likelihood ratio test [1]_.

.. [1] Moreira, M. J. (2003), A conditional likelihood ratio test for structural models,
   *Econometrica* 71(4), 1027-1048.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.stats import f as fisher

from ..kernels.types import FloatArray
from .blocks import BlockSlopes
from .settings import BLOCKS, BlockSettings


class Factor(NamedTuple):
    """Slopes within as a multiple of those between, with an interval; its ends may be infinite."""

    value: float
    low: float
    high: float


class BlockTests(NamedTuple):
    """Tests on slopes between and within blocks.

    Attributes
    ----------
    p_weaker : float
        Of equal slopes, against slopes within that are a factor in [0, 1) times those between.
    p_equal : float
        Of equal slopes, against any difference.
    p_common : float
        Of one common factor, whichever; nan for a single slope, which always has one.
    factor : Factor
    """

    p_weaker: float
    p_equal: float
    p_common: float
    factor: Factor


def compare_slopes(
    slopes: BlockSlopes, level: float, seed: int, settings: BlockSettings = BLOCKS
) -> BlockTests:
    """All tests, and the factor with an interval of the level given."""
    factor, smallest = common_factor(slopes, level, settings)
    k = len(slopes.between)
    return BlockTests(
        weaker_p_value(slopes, seed, settings),
        hotelling_p_value(distance(slopes, np.pi / 4), k, slopes.freedom),
        hotelling_p_value(smallest, k - 1, slopes.freedom) if k > 1 else float("nan"),
        factor,
    )


def distances(slopes: BlockSlopes, angles: FloatArray) -> FloatArray:
    """Q of the factors tan(angle); an angle of 90 degrees is an infinite factor."""
    k = len(slopes.between)
    cosine, sine = np.cos(angles)[:, None], np.sin(angles)[:, None]
    difference = cosine * slopes.within - sine * slopes.between
    before, after = slopes.covariance[:k], slopes.covariance[k:]
    mixed = before[:, k:] + after[:, :k]
    cosine, sine = cosine[:, :, None], sine[:, :, None]
    spread = cosine**2 * after[:, k:] - cosine * sine * mixed + sine**2 * before[:, :k]
    solved = np.linalg.solve(spread, difference[:, :, None])[:, :, 0]
    found: FloatArray = (difference * solved).sum(axis=1)
    return found


def distance(slopes: BlockSlopes, angle: float) -> float:
    """Q of one factor, see `distances`."""
    return float(distances(slopes, np.array([angle]))[0])


def hotelling_p_value(statistic: float, k: int, freedom: int) -> float:
    """P-value of a Wald statistic of k slopes whose covariance has `freedom` degrees of freedom."""
    left = freedom - k + 1
    return float(fisher.sf(statistic * left / (freedom * k), k, left))


def common_factor(
    slopes: BlockSlopes, level: float, settings: BlockSettings = BLOCKS
) -> tuple[Factor, float]:
    """The factor that minimises Q, its interval, and the minimum.

    The interval holds the factors with Q near the minimum, by a likelihood ratio. Its ends are the
    outermost ones.
    """
    angles = np.linspace(-np.pi / 2, np.pi / 2, settings.angles)
    found = distances(slopes, angles)
    best = int(found.argmin())
    near = angles[max(best - 1, 0)], angles[min(best + 1, len(angles) - 1)]
    refined = minimize_scalar(
        lambda angle: distance(slopes, angle), bounds=near, method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    smallest = min(float(refined.fun), float(found[best]))
    limit = smallest + float(fisher.ppf(level, 1, slopes.freedom))

    def excess(angle: float) -> float:
        return distance(slopes, angle) - limit

    inside = np.append(np.flatnonzero(found <= limit), best)
    low = _end(excess, angles, int(inside.min()), -1, float(refined.x))
    high = _end(excess, angles, int(inside.max()), +1, float(refined.x))
    return Factor(float(np.tan(refined.x)), low, high), smallest


def _end(
    excess: Callable[[float], float], angles: FloatArray, last: int, step: int, centre: float
) -> float:
    """The factor at which Q passes the limit, beyond the last angle of the grid inside it."""
    if not 0 <= last + step < len(angles):
        return step * float("inf")
    outer, inner = float(angles[last + step]), float(angles[last])
    # An interval narrower than the grid: its centre lies inside, the nearest angle may not.
    inner = inner if excess(inner) <= 0.0 else centre
    return float(np.tan(brentq(excess, min(inner, outer), max(inner, outer))))


def weaker_p_value(slopes: BlockSlopes, seed: int, settings: BlockSettings = BLOCKS) -> float:
    """P-value of equal slopes against a common factor between 0 and 1."""
    k, freedom = len(slopes.between), slopes.freedom
    before, after = slopes.covariance[:k], slopes.covariance[k:]
    spread = (after - before)[:, k:] - (after - before)[:, :k]
    shared = (before[:, k:] - before[:, :k]) @ np.linalg.inv(spread)
    difference = slopes.within - slopes.between
    common = slopes.between - shared @ difference
    rng = np.random.default_rng(seed)
    drawn = rng.normal(size=(settings.draws, k))
    # Heavier tails than normal, by as much as Hotelling's T-squared has beside chi-squared.
    drawn *= np.sqrt(freedom / rng.chisquare(freedom - k + 1, size=settings.draws))[:, None]
    differences = np.vstack([difference, drawn @ np.linalg.cholesky(spread).T])
    between = common + differences @ shared.T
    ratios = _likelihood_ratios(slopes.covariance, between, between + differences, settings)
    return float((1 + np.sum(ratios[1:] >= ratios[0])) / (1 + settings.draws))


def _likelihood_ratios(
    covariance: FloatArray, between: FloatArray, within: FloatArray, settings: BlockSettings
) -> FloatArray:
    """Q(1) less the smallest Q of a factor between 0 and 1, for each row of slopes."""
    k = between.shape[1]
    smallest: FloatArray = np.full(len(between), np.inf)
    for factor in np.linspace(0.0, 1.0, settings.factors):
        weights = np.hstack([-factor * np.eye(k), np.eye(k)])
        root = np.linalg.cholesky(np.linalg.inv(weights @ covariance @ weights.T))
        found = (((within - factor * between) @ root) ** 2).sum(axis=1)
        smallest = np.minimum(smallest, found)
    ratios: FloatArray = found - smallest
    return ratios


def holm(p_values: FloatArray) -> FloatArray:
    """P-values adjusted for their number, by Holm's method."""
    order = np.argsort(p_values, kind="stable")
    left = np.arange(len(p_values), 0, -1)
    adjusted = np.empty(len(p_values))
    adjusted[order] = np.minimum(np.maximum.accumulate(p_values[order] * left), 1.0)
    return adjusted
