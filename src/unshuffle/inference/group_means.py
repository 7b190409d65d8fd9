r"""A fit against the regression of group means on group means.

No shuffle inside groups changes these means. Both estimate the same slopes: the fit efficiently if
its model of the noise holds, the means without one. With :math:`\theta` in an orthonormal basis of
the columns of X, where lengths are those of fitted values,
:math:`\delta = \hat\theta_{fit} - \hat\theta_{means}` has covariance about
:math:`D = V_{means} - V_{fit}` (Hausman [1]_). :math:`V_{means}` is that of leaving out one group
at a time (HC3), so that it needs no model. The test is

.. math::

    \frac{\|\delta\|^2}{\mathrm{tr} D} \sim F_{\nu, G - p}, \qquad
    \nu = \frac{(\mathrm{tr} D)^2}{\mathrm{tr} D^2},

with Satterthwaite's degrees of freedom. It measures length in the metric of X, and D is not
inverted: with few groups its inverse would be mostly error.

.. [1] Hausman, J. A. (1978), Specification tests in econometrics, *Econometrica* 46(6), 1251-1271.
"""

from typing import NamedTuple

import numpy as np
from scipy.stats import f as fisher

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray, IntArray
from .sandwich import unit_codes
from .settings import GROUP_MEANS, GroupMeansSettings


class GroupMeans(NamedTuple):
    """How a fit compares with the regression of group means.

    Attributes
    ----------
    p_value : float
        Of equal slopes.
    distance : float
        Length of the difference beyond what sampling error explains, as a share of that of the fit.
    error : float
        Standard error of the regression of group means, as a share of the length of the fit.
    inflation : float
        The same as a multiple of the standard error with known order.
    """

    p_value: float
    distance: float
    error: float
    inflation: float

    def confirm_match(self, settings: GroupMeansSettings = GROUP_MEANS) -> bool:
        """Whether means that are precise enough to contradict a wrong match agree with the fit."""
        precise = self.error < settings.precise or self.inflation < settings.nearly_known
        return precise and self.p_value >= settings.p_caution

    def suffice(self, settings: GroupMeansSettings = GROUP_MEANS) -> bool:
        """Whether means determine the slopes alone, nearly like rows with known order."""
        return self.inflation < settings.nearly_known and self.p_value >= settings.p_caution


class _Means(NamedTuple):
    """Slopes of the regression of means in the orthonormal basis, and their covariance."""

    theta: FloatArray
    covariance: FloatArray
    freedom: int


def compare_with_means(
    problem: Problem,
    solver: LeastSquares,
    coef: FloatArray,
    covariance: FloatArray,
    noise_scale: float,
    settings: GroupMeansSettings = GROUP_MEANS,
) -> GroupMeans | None:
    """Compare a fit with group means; None where there are too few groups to say something.

    `covariance` is that of the slopes of the fit; nan where the fit has none.
    """
    means = _regress_means(problem, solver, settings)
    length = solver.length(coef)
    if means is None or length == 0.0:
        return None
    to_theta = solver.to_theta
    delta = to_theta @ coef - means.theta
    own = to_theta @ covariance @ to_theta.T
    own = own if np.isfinite(own).all() else np.zeros_like(own)
    total = float(np.trace(means.covariance))
    # The difference of two estimates need not be positive. What is left of it is never nothing.
    smallest = settings.smallest_share * total / solver.rank
    spread = np.maximum(np.linalg.eigvalsh(means.covariance - own), smallest)
    squared, variance = float(delta @ delta), float(spread.sum())
    freedom = variance**2 / float((spread**2).sum())
    return GroupMeans(
        float(fisher.sf(squared / variance, freedom, means.freedom)),
        max(squared - variance, 0.0) ** 0.5 / length,
        total**0.5 / length,
        (total / solver.rank) ** 0.5 / noise_scale,
    )


def _regress_means(
    problem: Problem, solver: LeastSquares, settings: GroupMeansSettings
) -> _Means | None:
    """Weighted least squares on the means of groups; pinned rows are groups of one."""
    codes = unit_codes(problem, by_group=True)
    sizes = np.bincount(codes)
    root, p = np.sqrt(sizes), solver.n_parameters
    if solver.rank == 0 or len(sizes) < p + settings.fewest_freedom:
        return None
    features = np.stack([_means(column, codes, sizes) for column in problem.X.T], axis=1)
    labels = _means(problem.restore(problem.y), codes, sizes) * root
    design = (features - solver.centre) @ solver.to_coef * root[:, None]
    if solver.fit_intercept:
        design = np.column_stack([root, design])
    basis, upper = np.linalg.qr(design)
    singular = np.linalg.svd(upper[-solver.rank :, -solver.rank :], compute_uv=False)
    leverage = (basis**2).sum(axis=1)
    # In this basis singular values are roots of the share of a direction that lies between groups.
    if singular.min() ** 2 < settings.smallest_between or leverage.max() > settings.most_leverage:
        return None
    theta = basis.T @ labels
    residual = (labels - basis @ theta) / (1.0 - leverage)
    changes = np.linalg.solve(upper, (basis * residual[:, None]).T)[-solver.rank :]
    if float((changes**2).sum()) == 0.0:
        return None
    slopes = np.linalg.solve(upper, theta)[-solver.rank :]
    return _Means(slopes, changes @ changes.T, len(sizes) - p)


def _means(values: FloatArray, codes: IntArray, sizes: IntArray) -> FloatArray:
    means: FloatArray = np.bincount(codes, values) / sizes
    return means
