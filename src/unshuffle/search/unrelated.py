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

from ..kernels.types import FloatArray
from .landscape import Landscape
from .settings import DEFAULT, NullSettings


def unrelated_labels(
    landscape: Landscape, rng: np.random.Generator, theta: FloatArray | None = None
) -> FloatArray:
    """Labels drawn from the smoothed distribution inside each group; pinned rows keep theirs.

    Parameters
    ----------
    landscape : Landscape
    rng : Generator
    theta : array of shape (rank,), optional
        The best match: order statistics of the labels are moved towards those of its fitted values.

    Returns
    -------
    labels : array of shape (n,)
        Arranged like those of the landscape.
    """
    y, settings = landscape.problem.y, landscape.settings.nulls
    fitted = None if theta is None else theta @ landscape.labels.basis
    drawn = y.copy()
    for first, last in pairwise(landscape.labels.starts):
        own = np.sort(y[first:last])
        centres = own
        if fitted is not None:
            centres = towards(own, np.sort(fitted[first:last]), settings.towards_fit)
        drawn[first:last] = smoothed_draw(own, rng, centres, settings)
    return drawn


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


def smoothed_draw(
    own: FloatArray,
    rng: np.random.Generator,
    centres: FloatArray | None = None,
    settings: NullSettings = DEFAULT.nulls,
) -> FloatArray:
    """Draw as many values as `own` (sorted) holds, smoothed by local spacings, within its bounds.

    `centres` (sorted) take the place of the values themselves, where these are not tied.
    """
    size, centres = len(own), own if centres is None else centres
    low, high = float(own[0]), float(own[-1])
    if size == 1 or low == high:
        return own.copy()
    picked = rng.integers(size, size=size)
    levels, level, counts = np.unique(own, return_inverse=True, return_counts=True)
    # Where most levels repeat, as with rounded values, those that happen not to are levels too.
    tied = (counts[level] > 1) | (np.mean(counts > 1) > settings.mostly_tied)
    widths = np.where(tied, _spacings(own, settings), _spacings(centres, settings))
    moved = np.where(tied, own, centres)[picked] + widths[picked] * rng.normal(size=size)
    bounded = _reflected(moved, low, high)
    if not tied.any():
        return bounded
    return np.where(tied[picked], _nearest(levels, bounded), bounded)


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
