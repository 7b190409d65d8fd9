r"""How labels go together with fitted values, without a law of the noise.

Labels with spikes, zeros or limits, and noise with another shape at every fitted value, follow no
law that is moved along a curve. What a label says about its row is a ratio of densities, its own
at this row over that at all rows, and a few products describe it for many such labels:

.. math:: \log \rho(m, y) = \sum_k \theta_k\, h_k(m)\, t_k(y) + a(m) + b(y)

for a fitted value m. Here a and b are such that :math:`\rho` has mean 1 over the labels at each
row, and over the rows at each label. So the labels may have any distribution, and every
exponential family in which m is the natural parameter is of this kind. If a share :math:`\alpha` of
the labels was exchanged, the ratio of rows and labels as given is
:math:`(1 - \alpha) \rho + \alpha`.

Fitted values and labels are divided into classes, so that the data are a table of counts with a
log-linear association (Goodman 1979), and the cost does not depend on the rows.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import ndtri
from scipy.stats import rankdata

from ..kernels.types import FloatArray, IntArray
from .settings import DEFAULT, AssociationSettings

SMALLEST = 1e-280


class Scale(NamedTuple):
    """A variable in classes of about as many rows each; equal values share a class.

    Attributes
    ----------
    classes : array of shape (n,)
        Class of each row.
    share : array of shape (n_classes,)
    nodes : array of shape (n_classes,)
        Mean of each class, in units of the standard deviation, or of normal scores.
    """

    classes: IntArray
    share: FloatArray
    nodes: FloatArray


def scale_of(
    values: FloatArray, *, scores: bool = False, settings: AssociationSettings = DEFAULT.association
) -> Scale:
    """Classes by rank; their nodes are standardised values, or normal `scores` of the ranks."""
    rank = (rankdata(values) - 0.5) / len(values)
    if scores:
        position = ndtri(rank)
    else:
        spread = float(values.std()) or 1.0
        position = np.clip((values - values.mean()) / spread, -settings.farthest, settings.farthest)
    by_rank = np.minimum((rank * settings.classes).astype(np.int64), settings.classes - 1)
    classes = np.unique(by_rank, return_inverse=True)[1]
    count = np.bincount(classes)
    return Scale(classes, count / len(values), np.bincount(classes, position) / count)


class AssociationTable:
    """Counts of rows by class of fitted value and label, and the products that describe them.

    Parameters
    ----------
    rows, labels : Scale
    powers : tuple of pairs
        Of the fitted value and of the label, in each product.
    """

    def __init__(self, rows: Scale, labels: Scale, powers: tuple[tuple[int, int], ...]) -> None:
        self.rows, self.labels, self.powers = rows, labels, powers
        self.terms = np.array(
            [np.multiply.outer(_power(rows.nodes, i), _power(labels.nodes, j)) for i, j in powers]
        )
        self.counts = np.zeros(self.terms.shape[1:])
        np.add.at(self.counts, (rows.classes, labels.classes), 1.0)

    @property
    def n_terms(self) -> int:
        """Coefficients to estimate, the rate apart."""
        return len(self.powers)

    def at(self, theta: FloatArray, rate: float, log_b: FloatArray | None = None) -> "Point":
        """The likelihood at some coefficients and rate; `log_b` of a point nearby saves time."""
        ratio, b = _balanced(
            np.tensordot(theta, self.terms, 1),
            self.rows.share,
            self.labels.share,
            np.ones(len(self.labels.share)) if log_b is None else np.exp(log_b - log_b.max()),
        )
        mixed = np.maximum((1.0 - rate) * ratio + rate, SMALLEST)
        centred = _doubly_centred(self.terms, ratio, self.rows.share, self.labels.share)
        slopes = np.concatenate(
            [(1.0 - rate) * ratio / mixed * centred, ((1.0 - ratio) / mixed)[None]]
        )
        flat = slopes.reshape(len(slopes), -1)
        expected = self.counts.sum() * mixed * np.outer(self.rows.share, self.labels.share)
        return Point(
            theta,
            rate,
            float((self.counts * np.log(mixed)).sum()),
            ratio,
            flat @ self.counts.ravel(),
            (flat * expected.ravel()) @ flat.T,
            np.log(b),
        )

    def matched(self, point: "Point") -> FloatArray:
        """Probability that each row holds its own label."""
        own = (1.0 - point.rate) * point.ratio
        return np.asarray((own / (own + point.rate))[self.rows.classes, self.labels.classes])

    def slope(self, point: "Point") -> FloatArray:
        """Derivative of each row's log ratio by its fitted value, in units of the scale."""
        by_row = [_power_slope(self.rows.nodes, i) for i, _ in self.powers]
        by_label = np.array([_power(self.labels.nodes, j) for _, j in self.powers])
        mean = (point.ratio * self.labels.share) @ by_label.T
        tilt = point.theta[:, None] * np.array(by_row)
        slope = tilt.T @ by_label - (tilt.T * mean).sum(axis=1, keepdims=True)
        return np.asarray(slope[self.rows.classes, self.labels.classes])


class Point(NamedTuple):
    """The likelihood of an `AssociationTable` at one point.

    Attributes
    ----------
    theta : array of shape (n_terms,)
    rate : float
    log_likelihood : float
        Of the pairs as given, against labels that do not depend on the features.
    ratio : array of shape (n_row_classes, n_label_classes)
    score : array of shape (n_terms + 1,)
        Derivatives by the coefficients, and by the rate.
    information : array of shape (n_terms + 1, n_terms + 1)
    log_b : array of shape (n_label_classes,)
    """

    theta: FloatArray
    rate: float
    log_likelihood: float
    ratio: FloatArray
    score: FloatArray
    information: FloatArray
    log_b: FloatArray


def _power(nodes: FloatArray, power: int) -> FloatArray:
    return nodes if power == 1 else nodes**2 - 1.0


def _power_slope(nodes: FloatArray, power: int) -> FloatArray:
    return np.ones(len(nodes)) if power == 1 else 2.0 * nodes


def _balanced(
    log_weight: FloatArray,
    row_share: FloatArray,
    label_share: FloatArray,
    b: FloatArray,
    settings: AssociationSettings = DEFAULT.association,
) -> tuple[FloatArray, FloatArray]:
    """Means of 1 over the labels and over the rows: iterative proportional fitting, then Newton.

    Proportional fitting is slow where the association is strong; Newton's steps for log b need
    no more than a system of the size of the label classes.
    """
    weight = np.exp(log_weight - log_weight.max(axis=1, keepdims=True))
    for _ in range(settings.most_balancing):
        a = 1.0 / np.maximum(weight @ (label_share * b), SMALLEST)
        ratio = a[:, None] * weight * b
        means = np.maximum(row_share @ ratio, SMALLEST)
        off = float(np.abs(means - 1.0).max())
        if off < settings.balanced:
            break
        step = np.log(means)
        if off < settings.near:
            to_labels = (ratio * row_share[:, None]).T / means[:, None]
            newton = np.linalg.solve(_system(ratio * label_share, to_labels), step)
            if float(np.abs(newton).max()) < settings.longest:
                step = newton
        b = b * np.exp(-step)
        b = b / float(label_share @ b)
    return ratio, b


def _system(to_rows: FloatArray, to_labels: FloatArray) -> FloatArray:
    """What a function of the label leaves of itself after a function of the row followed it.

    A constant may stand in either of the two; the constant added puts it into the rows'. The
    identity is a little larger, for labels that determine their rows.
    """
    n = len(to_labels)
    return np.asarray((1.0 + 1e-9) * np.eye(n) - to_labels @ to_rows + 1.0 / n)


def _doubly_centred(
    terms: FloatArray, ratio: FloatArray, row_share: FloatArray, label_share: FloatArray
) -> FloatArray:
    """What is left of each term after functions of the row and of the label: a and b follow it."""
    to_rows, to_labels = ratio * label_share, (ratio * row_share[:, None]).T
    by_row = np.einsum("ab,kab->ka", to_rows, terms)
    by_label = np.einsum("ba,kab->kb", to_labels, terms)
    system = _system(to_rows, to_labels)
    of_label = np.linalg.solve(system, (by_label - by_row @ to_labels.T).T).T
    of_row = by_row - of_label @ to_rows.T
    return np.asarray(terms - of_row[:, :, None] - of_label[:, None, :])
