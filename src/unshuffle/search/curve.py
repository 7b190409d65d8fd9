"""Least squares on the features and their products, by ridge regression.

The curve serves to find the labels that are not a row's own: what a straight line leaves of a
curved relation looks like noise that grows, or like mismatches. The coefficients of a fit
are those of the features alone.
"""

from dataclasses import replace
from typing import Protocol

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .settings import DEFAULT, CurveSettings


class Curve(Protocol):
    """Fitted values around which labels scatter, whatever they were estimated by."""

    y: FloatArray
    starts: IntArray
    as_given: FloatArray

    def __call__(self, away: FloatArray) -> FloatArray:
        """Fitted values where each label is another row's with probability `away`."""
        ...

    def smooth(self, labels: FloatArray, *, noise_share: float = 1.0) -> FloatArray:
        """Fitted values for other labels, with a share of the variance of their noise."""
        ...


class MeanCurve:
    """Smooth fitted values, for labels of which a share is exchanged inside blocks.

    If row i holds the label of a random row of its block with probability a_i, the mean of its
    label is ``(1 - a_i) m_i + a_i mean(m)``: least squares on features that are averaged alike
    gives m, whatever the law of the noise (Lahiri and Larsen 2005).

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    starts : array of shape (n_blocks + 1,)
        Blocks inside which labels can have moved; rows after the last one are pinned.
    """

    def __init__(
        self, X: FloatArray, y: FloatArray, starts: IntArray,
        settings: CurveSettings = DEFAULT.curve,
    ) -> None:  # fmt: skip
        self.y, self.starts, self.settings = y, starts, settings
        features = _products(standardised(X), settings)
        self._rows = features - features.mean(axis=0)
        self.whole = len(starts) == 2 and int(starts[-1]) == len(y)
        self._ridge = 0.0
        self.as_given = self._choose_ridge()

    def __call__(self, away: FloatArray) -> FloatArray:
        """Fitted values where each label is another row's with probability `away`."""
        if self.whole and np.all(away == away[0]) and away[0] < 1.0:
            return steeper(self.as_given, self.y, float(away[0]))
        return self.smooth(self.y, away)

    def smooth(
        self, labels: FloatArray, away: FloatArray | None = None, *, noise_share: float = 1.0
    ) -> FloatArray:
        """Ridge fit of `labels`, with features averaged inside blocks by `away`.

        The penalty was chosen for the noise of the labels as given; where the variance of the
        noise is only a share of that, so is the penalty.
        """
        design = self._rows if away is None else self._averaged(away)
        centre, level = design.mean(axis=0), float(labels.mean())
        inner = design - centre
        gram = inner.T @ inner + noise_share * self._ridge * np.eye(inner.shape[1])
        coef = np.linalg.solve(gram, inner.T @ (labels - level))
        return np.asarray(level + (self._rows - centre) @ coef)

    def left_out(self) -> FloatArray:
        """Residual of each label as given from the fit to all others."""
        gram = self._rows.T @ self._rows + self._ridge * np.eye(self._rows.shape[1])
        leverage = 1.0 / len(self.y) + (self._rows @ np.linalg.inv(gram) * self._rows).sum(axis=1)
        return np.asarray((self.y - self.as_given) / (1.0 - leverage))

    def _averaged(self, away: FloatArray) -> FloatArray:
        mixed: FloatArray = self._rows * (1.0 - away[:, None])
        n, sizes = int(self.starts[-1]), np.diff(self.starts)
        if n:
            means = np.add.reduceat(self._rows[:n], self.starts[:-1], axis=0) / sizes[:, None]
            mixed[:n] += away[:n, None] * np.repeat(means, sizes, axis=0)
        return mixed

    def _choose_ridge(self) -> FloatArray:
        """The penalty by generalised cross-validation; returns the fit to the labels as given."""
        n, level = len(self.y), float(self.y.mean())
        squares, axes = np.linalg.eigh(self._rows.T @ self._rows)
        squares = np.maximum(squares, 0.0)
        along = axes.T @ (self._rows.T @ (self.y - level))
        total, best = float(((self.y - level) ** 2).sum()), np.inf
        for penalty in n * np.geomspace(*self.settings.penalties):
            coef = along / (squares + penalty)
            left = total - 2.0 * float(coef @ along) + float(squares @ coef**2)
            score = left / (n - 1.0 - float((squares / (squares + penalty)).sum())) ** 2
            if score < best:
                best, chosen, self._ridge = score, coef, float(penalty)
        return np.asarray(level + self._rows @ (axes @ chosen))


def plane(X: FloatArray, y: FloatArray, starts: IntArray, settings: CurveSettings) -> MeanCurve:
    """Fitted values that are linear in the features, with next to no penalty."""
    straight = replace(settings, rows_per_column=len(y), penalties=(1e-9, 1e-9, 1))
    return MeanCurve(X, y, starts, straight)


def steeper(as_given: FloatArray, y: FloatArray, rate: float) -> FloatArray:
    """Fitted values that labels of which a share is exchanged have flattened to `as_given`."""
    centre = float(y.mean())
    return np.asarray(centre + (as_given - centre) / (1.0 - rate))


def standardised(X: FloatArray) -> FloatArray:
    """Columns that vary, with mean 0 and standard deviation 1."""
    spread = X.std(axis=0)
    varies = spread > 1e-9 * np.maximum(np.abs(X).max(axis=0), 1e-300)
    return np.asarray((X[:, varies] - X[:, varies].mean(axis=0)) / spread[varies])


def _products(X: FloatArray, settings: CurveSettings) -> FloatArray:
    """Features, their squares and products where the rows can afford them."""
    n, d = X.shape
    if (d * (d + 3)) // 2 > n // settings.rows_per_column:
        return X
    products = [X[:, j : j + 1] * X[:, j:] for j in range(d)]
    return np.clip(np.hstack([X, *products]), -settings.farthest, settings.farthest)
