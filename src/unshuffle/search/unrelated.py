"""Labels that look like those of a table, and have nothing to do with its features.

A fresh sample must differ from the labels as two samples of one distribution differ, and share
their shape: skew, bounds, gaps between modes, ties. One bandwidth for all labels cannot do that, so
each label is smoothed by its own spacing: the distance to the k-th neighbour on the nearer side.
Values reflected at the smallest and the largest label stay within the support seen, and a tied
label moves to another value that was seen, or not at all.

A sample drawn from the labels alone repeats how they differ by chance from their distribution, and
adds as much once more. So it matches features of the same shape worse than unrelated labels do: in
squared distances of order statistics three parts (features, labels, drawn labels) instead of two.
Order statistics moved by the share w towards those of the fitted values make up for it: with
``(1 - w)² = 1/2`` the two parts become one, and the expected sum is that of unrelated labels.
"""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from ..kernels.types import FloatArray
from .landscape import Landscape
from .settings import DEFAULT, NullSettings


class UnrelatedLabels:
    """Draws labels from the smoothed distribution inside each group; pinned rows keep theirs.

    Parameters
    ----------
    landscape : Landscape
    theta : array of shape (rank,), optional
        The best match: order statistics of the labels are moved towards those of its fitted values.
    """

    def __init__(self, landscape: Landscape, theta: FloatArray | None = None) -> None:
        self.y, self.starts = landscape.problem.y, landscape.labels.starts
        fitted = None if theta is None else theta @ landscape.labels.basis
        self.samplers = []
        for first, last in pairwise(self.starts):
            near = None if fitted is None else np.sort(fitted[first:last])
            own = np.sort(self.y[first:last])
            self.samplers.append(Sampler(own, near, landscape.settings.nulls))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """Fresh labels of all rows, arranged like those of the landscape."""
        drawn = self.y.copy()
        for sampler, (first, last) in zip(self.samplers, pairwise(self.starts), strict=True):
            drawn[first:last] = sampler.draw(rng)
        return drawn


class Sampler:
    """A smoothed distribution of sorted values.

    Parameters
    ----------
    own : array of shape (n,)
        The values, sorted.
    fitted : array of shape (n,), optional
        Sorted fitted values, towards whose shape untied values are moved.
    settings : NullSettings
    """

    def __init__(
        self,
        own: FloatArray,
        fitted: FloatArray | None = None,
        settings: NullSettings = DEFAULT.nulls,
    ) -> None:
        self.own = own
        self.low, self.high = float(own[0]), float(own[-1])
        if self.low == self.high:
            return
        self.tied = _tied(own, settings)
        moved = own if fitted is None else towards(own, fitted, settings.towards_fit)
        self.levels = np.unique(own) if self.tied.any() else own
        self.centres = np.where(self.tied, own, moved)
        self.widths = np.where(self.tied, _spacings(own, settings), _spacings(moved, settings))

    def draw(self, rng: np.random.Generator) -> FloatArray:
        """As many values as there are, within their bounds."""
        if self.low == self.high:
            return self.own.copy()
        size = len(self.own)
        picked = rng.integers(size, size=size)
        moved = self.centres[picked] + self.widths[picked] * rng.normal(size=size)
        values = _reflected(moved, self.low, self.high)
        if not self.tied.any():
            return values
        return np.where(self.tied[picked], _nearest(self.levels, values), values)


def _tied(own: FloatArray, settings: NullSettings) -> NDArray[np.bool_]:
    """Which of the sorted values are drawn as one of the values seen."""
    tied = np.append(own[1:] == own[:-1], False)
    if not tied.any():
        return tied
    counts, level = np.unique(own, return_inverse=True, return_counts=True)[2:0:-1]
    # Where most levels repeat, as with rounded values, those that happen not to are levels too.
    return np.asarray((counts[level] > 1) | (np.mean(counts > 1) > settings.mostly_tied))


def towards(own: FloatArray, fitted: FloatArray, share: float) -> FloatArray:
    """Sorted labels moved by a share of the way to sorted fitted values of their mean and spread.

    Only the shape of the fitted values counts: their mean and spread inside a group may be what a
    relation with the features explains.
    """
    spread = float(fitted.std())
    if spread <= 0.0:
        return own
    alike = own.mean() + (fitted - fitted.mean()) * (float(own.std()) / spread)
    moved: FloatArray = (1.0 - share) * own + share * alike
    return moved


def _spacings(values: FloatArray, settings: NullSettings) -> FloatArray:
    """Distance of each of the sorted values to its k-th neighbour on the nearer side.

    The nearer side, so that values beside a gap between modes do not fill it.
    """
    size = len(values)
    k = min(max(round(settings.neighbours * size**settings.neighbours_power), 1), size - 1)
    apart = values[k:] - values[:-k]
    below, above = np.full(size, np.inf), np.full(size, np.inf)
    below[k:], above[:-k] = apart, apart
    nearer: FloatArray = np.minimum(below, above)
    # In a small group the middle may have no k-th neighbour on either side.
    nearer[np.isinf(nearer)] = values[-1] - values[0]
    return nearer


def _reflected(values: FloatArray, low: float, high: float) -> FloatArray:
    """Fold values back at the bounds, as often as it takes."""
    width = high - low
    folded = np.mod(values - low, 2.0 * width)
    return low + np.minimum(folded, 2.0 * width - folded)


def _nearest(levels: FloatArray, values: FloatArray) -> FloatArray:
    """The nearest of the sorted levels to each value."""
    above = np.clip(np.searchsorted(levels, values), 1, len(levels) - 1)
    lower, upper = levels[above - 1], levels[above]
    return np.where(values - lower <= upper - values, lower, upper)
