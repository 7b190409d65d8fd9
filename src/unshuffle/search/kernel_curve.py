"""A curve of any shape, by kernel ridge regression, each value fitted without the row's own label.

Real relations have steps and interactions. What a simpler curve leaves of them looks like heavy
tails, noise that grows or mismatches, so that mismatches are told apart from noise only around a
curve that follows them. The kernel is the sum of a linear one and of

    k(x, z) = exp(-sum_j |x_j - z_j| / (d l))

for standardised features. It is reduced to some landmarks among the rows (Nyström), so the cost is
linear in the rows.
"""

from dataclasses import replace

import numpy as np
from scipy.spatial.distance import cdist

from ..kernels.types import FloatArray, IntArray
from .curve import Curve, MeanCurve, standardised, steeper
from .settings import DEFAULT, CurveSettings


class KernelCurve:
    """Fitted values without the row's own label, for one block whose labels are exchanged.

    A flexible curve bends towards each label; a label that is left out cannot pull its own fitted
    value. Values of rows left out are too flat, and are stretched by least squares on the labels.

    Parameters
    ----------
    X : array of shape (n, d)
    y : array of shape (n,)
    order : array of shape (n,)
        Rows in an order from which landmarks are taken at even distances.
    """

    def __init__(
        self, X: FloatArray, y: FloatArray, order: IntArray, settings: CurveSettings = DEFAULT.curve
    ) -> None:
        n, count = len(y), min(len(y), settings.landmarks)
        self.y, self.starts = y, np.array([0, n])
        Z = np.clip(standardised(X), -settings.farthest_kernel, settings.farthest_kernel)
        landmarks = Z[order[((np.arange(count) + 0.5) * n / count).astype(np.int64)]]
        some = slice(None, None, -(-n // settings.most_choosing_rows))
        length, self._penalty = _choose(Z[some], landmarks, y[some], settings)
        self._axes = _Axes(Z, landmarks, length)
        self.as_given = self.smooth(y)

    def __call__(self, away: FloatArray) -> FloatArray:
        """Fitted values where each label is another row's with probability `away`, one for all."""
        return steeper(self.as_given, self.y, float(away[0]))

    def smooth(self, labels: FloatArray, *, noise_share: float = 1.0) -> FloatArray:
        """Fitted values of rows left out, with the penalty that belongs to the noise."""
        fitted = labels - self._axes.left_out(labels, noise_share * self._penalty)
        around, level = fitted - fitted.mean(), float(labels.mean())
        square = float(around @ around)
        stretch = float(around @ (labels - level)) / square if square > 0.0 else 0.0
        return np.asarray(level + stretch * around)

    def left_out(self) -> FloatArray:
        """Residual of each label as given from the fit to all others."""
        return self._axes.left_out(self.y, self._penalty)


class _Axes:
    """Principal axes of the kernel's features: a ridge fit is a shrinkage along each."""

    def __init__(self, Z: FloatArray, landmarks: FloatArray, length: float) -> None:
        values, vectors = np.linalg.eigh(_kernel(landmarks, landmarks, length))
        kept = values > 1e-8 * values[-1]
        features = _kernel(Z, landmarks, length) @ (vectors[:, kept] / np.sqrt(values[kept]))
        features -= features.mean(axis=0)
        squares, axes = np.linalg.eigh(features.T @ features)
        self.squares = np.maximum(squares, 0.0)
        self.scores = features @ axes

    def left_out(self, labels: FloatArray, penalty: float) -> FloatArray:
        """Residual of each label from the ridge fit to all others."""
        shrinkage, level = 1.0 / (self.squares + penalty), float(labels.mean())
        leverage = 1.0 / len(labels) + np.einsum("ij,ij,j->i", self.scores, self.scores, shrinkage)
        fitted = level + self.scores @ (shrinkage * (self.scores.T @ (labels - level)))
        return np.asarray((labels - fitted) / (1.0 - leverage))


def _kernel(Z: FloatArray, landmarks: FloatArray, length: float) -> FloatArray:
    d = Z.shape[1]
    similar = np.exp(cdist(Z, landmarks, "cityblock") * (-1.0 / (d * length)))
    return np.asarray(similar + Z @ landmarks.T / d)


def _choose(
    Z: FloatArray, landmarks: FloatArray, y: FloatArray, settings: CurveSettings
) -> tuple[float, float]:
    """Length of the kernel and penalty, by the squared residuals of labels left out."""
    found = {
        (length, float(penalty)): float((axes.left_out(y, float(penalty)) ** 2).sum())
        for length in settings.lengths
        for axes in [_Axes(Z, landmarks, length)]
        for penalty in np.geomspace(*settings.kernel_penalties)
    }
    return min(found, key=lambda pair: found[pair])


def best_curve(
    X: FloatArray, y: FloatArray, starts: IntArray, settings: CurveSettings = DEFAULT.curve
) -> Curve:
    """Features and their products, or a curve of any shape where it predicts better.

    Curves are compared by squared residuals of labels left out. The simple one counts as a plane
    where its products predict worse than none.
    """
    simple = MeanCurve(X, y, starts, settings)
    nothing_varies = standardised(X).shape[1] == 0
    if not simple.whole or nothing_varies or len(y) < settings.fewest_kernel_rows:
        return simple
    free = KernelCurve(X, y, np.argsort(simple.as_given, kind="stable"), settings)
    plane = MeanCurve(X, y, starts, replace(settings, rows_per_column=len(y)))
    squares = min((curve.left_out() ** 2 for curve in (simple, plane)), key=np.sum)
    gain = squares - free.left_out() ** 2
    surely = settings.surely_better * float(gain.std()) / np.sqrt(len(y))
    return free if float(gain.mean()) > surely else simple
