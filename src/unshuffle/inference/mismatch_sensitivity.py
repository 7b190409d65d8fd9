r"""Coefficients for given shares of exchanged labels, with no law of the noise.

Suppose that each label that can move was exchanged with probability a: it stands beside a row of
its group drawn at random, its own row included. With :math:`\bar x_i` the mean of the features
over the rows of the group of row i that can move, the label given beside row i has the mean

.. math::

    E[y_i] = b + ( (1 - a)\, x_i + a\, \bar x_i )^\top w,

whatever the law of the noise. So least squares of the labels as given on features averaged in this
way estimates b and w (Lahiri and Larsen 2005). In one group with an intercept these are the slopes
of the labels as given, divided by 1 - a.
"""

from collections.abc import Iterator, Sequence
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
    X is decomposed once, together with its group means: O(n d²). Each rate costs one more pass over
    the rows. Beside a copy of X in the order of its groups, memory is taken for a block of rows
    only.
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
    table = _Table(problem, fit_intercept, settings)
    found = [table.fit(float(rate)) for rate in asked]
    coef, errors = (np.array(values) for values in zip(*found, strict=True))
    return RateEstimates(asked, coef, errors, n - d - fit_intercept)


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


class _Table:
    """Rows beside the means of their groups, centred and scaled, one block of rows at a time.

    Averaged features are a combination of the two. So one triangular factor of both gives the
    triangular factor of the averaged features, and their coefficients, for any rate.
    """

    def __init__(self, problem: Problem, fit_intercept: bool, settings: AveragingSettings) -> None:
        n, d = problem.X.shape
        self.fit_intercept, self.settings = fit_intercept, settings
        self.X = problem.arrange(problem.X)
        # Around their means features lose no digits to a large constant. Averaging inside groups
        # leaves these means as they are.
        self.centre = self.X.mean(axis=0) if fit_intercept else np.zeros(d)
        self.level = float(problem.y.mean()) if fit_intercept else 0.0
        self.labels = problem.y - self.level
        sizes = np.diff(problem.starts)
        self.scale = np.ones(d)
        self.block_of_row = np.repeat(np.arange(problem.n_blocks), sizes)
        sums = np.add.reduceat(self.X[: problem.n_movable], problem.starts[:-1], axis=0)
        self.means = sums / sizes[:, None] - self.centre
        triangle = np.empty((0, 2 * d + 1 + fit_intercept))
        for rows in self._blocks():
            stacked = np.concatenate([triangle, self._both(rows)])
            triangle = np.asarray(np.linalg.qr(stacked, mode="r"))
        own = triangle[:, int(fit_intercept) : int(fit_intercept) + d]
        length = np.sqrt((own[int(fit_intercept) :] ** 2).sum(axis=0))
        constant = length <= n * np.finfo(float).eps * np.abs(self.centre) * n**0.5
        self.scale = np.where(constant, np.inf, length)
        self.triangle = triangle
        smallest = self._smallest(self._combine(0.0))
        if smallest < settings.smallest_direction:
            raise ValueError(
                "the features are nearly singular as they are given: some columns are constant or "
                "linear combinations of each other, so that single coefficients are not "
                "determined; drop columns and fit again"
            )

    def fit(self, rate: float) -> tuple[FloatArray, FloatArray]:
        """Coefficients and their sandwich (HC1) standard errors at one rate."""
        design = self._combine(rate)
        smallest = self._smallest(design)
        if smallest < self.settings.smallest_direction:
            raise ValueError(
                f"at rate {rate:.12g} the averaged features are nearly singular (smallest singular "
                f"value {smallest:.2g} of features of length one): what varies inside groups has "
                "been averaged out; give rates further below 1"
            )
        Q, R = np.linalg.qr(design)
        theta = np.linalg.solve(R, Q.T @ self.triangle[:, -1])
        n, k = len(self.labels), len(theta)
        inverse = np.linalg.inv(R)
        products = np.zeros((k, k))
        for rows in self._blocks():
            both = self._both(rows)
            averaged = self._combined(both, rate)
            # Scores in an orthonormal basis: their products lose no digits where R is ill
            # conditioned.
            scores = (averaged @ inverse) * (both[:, -1] - averaged @ theta)[:, None]
            products += scores.T @ scores
        leads = self._leads() @ inverse
        # HC1 takes off a degree of freedom for every coefficient.
        variances = ((leads @ products) * leads).sum(axis=1) * (n / (n - k))
        coef = self._leads() @ theta
        coef[: int(self.fit_intercept)] += self.level
        return coef, np.sqrt(variances)

    def _blocks(self) -> Iterator[slice]:
        step = self.settings.rows_per_block
        return (slice(first, first + step) for first in range(0, len(self.labels), step))

    def _both(self, rows: slice) -> FloatArray:
        """Columns: one (for the intercept), features, means of their groups, labels."""
        own = self.X[rows] - self.centre
        means = own.copy()  # pinned rows keep their own
        movable = self.block_of_row[rows]
        means[: len(movable)] = self.means[movable]
        ones = [np.ones((len(own), 1))] if self.fit_intercept else []
        return np.hstack([*ones, own, means, self.labels[rows, None]])

    def _combine(self, rate: float) -> FloatArray:
        return self._combined(self.triangle, rate)

    def _combined(self, both: FloatArray, rate: float) -> FloatArray:
        """Columns of averaged features (after the intercept's) from those of `_both`."""
        first, d = int(self.fit_intercept), len(self.scale)
        own, means = both[:, first : first + d], both[:, first + d : first + 2 * d]
        averaged = ((1.0 - rate) * own + rate * means) / self.scale
        return np.hstack([both[:, :first], averaged])

    def _smallest(self, design: FloatArray) -> float:
        """Smallest singular value of the features, after what the intercept explains."""
        first = int(self.fit_intercept)
        inner = np.asarray(np.linalg.qr(design, mode="r"))[first:, first:]
        return float(np.linalg.svd(inner, compute_uv=False).min())

    def _leads(self) -> FloatArray:
        """From coefficients of centred and scaled features to those of the features as given."""
        slopes = np.diag(1.0 / self.scale)
        if not self.fit_intercept:
            return slopes
        mean = np.append(1.0, -self.centre / self.scale)
        return np.vstack([mean, np.hstack([np.zeros((len(slopes), 1)), slopes])])
