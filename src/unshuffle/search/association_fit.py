"""The rate of mismatches by the association of labels with fitted values."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..kernels.types import FloatArray
from .association import AssociationTable, Point, scale_of
from .curve import Curve
from .rate_profile import p_value_of, upper_limit
from .settings import DEFAULT, AssociationSettings

# Powers of fitted value and label: one product, or four that also let spread and skewness change.
POWERS = (((1, 1),), ((1, 1), (2, 1), (1, 2), (2, 2)))


@dataclass(frozen=True, eq=False)
class AssociationFit:
    """Match probabilities and expected labels by the association.

    Attributes
    ----------
    rate : float
    fitted, matched : arrays of shape (n,)
    slope : array of shape (n,)
        Derivative of the log ratio by the fitted value.
    """

    rate: float
    fitted: FloatArray
    matched: FloatArray
    slope: FloatArray

    def expected(self, labels: FloatArray) -> FloatArray:
        """Expected own label of each row: the one given, or else the fitted value."""
        return np.asarray(self.matched * labels + (1.0 - self.matched) * self.fitted)

    def pull(self, labels: FloatArray) -> FloatArray:
        """How fast the log ratio falls as the label moves away, times its distance."""
        return np.asarray((labels - self.fitted) * self.slope)


class Association:
    """What the association shows of mismatches; what is costly is computed when asked for.

    Parameters
    ----------
    curve : Curve
    table : AssociationTable
        With the products that the data chose.
    none, best : Point
        Most likely points without mismatches, and with a free rate.
    """

    def __init__(
        self,
        curve: Curve,
        table: AssociationTable,
        none: Point,
        best: Point,
        settings: AssociationSettings = DEFAULT.association,
    ) -> None:
        self._curve, self._table, self._none, self._best = curve, table, none, best
        self._settings = settings

    @property
    def criterion(self) -> float:
        """Bayesian information criterion of the pairs as given."""
        return _criterion(self._table, self._best)

    @property
    def statistic(self) -> float:
        """Twice the log likelihood ratio of the most likely rate against none."""
        return max(2.0 * (self._best.log_likelihood - self._none.log_likelihood), 0.0)

    @property
    def p_value(self) -> float:
        """Of the labels as given against a model with mismatches, if there were none."""
        return p_value_of(self.statistic, self._best.rate)

    @cached_property
    def upper_limit(self) -> float:
        """Upper 95 % limit of the rate, by fits at given rates."""
        table, settings, near = self._table, self._settings, self._none
        points = {0.0: self._none, self._best.rate: self._best}
        for rate in settings.rates:
            near = climb(table, table.at(near.theta, rate, near.log_b), settings)
            points.setdefault(rate, near)
        rates = np.array(sorted(points))
        return upper_limit(rates, np.array([points[rate].log_likelihood for rate in rates]))

    @cached_property
    def fit(self) -> AssociationFit:
        """Expected labels give a new curve, with which the labels are associated again.

        Few times, because a curve of any shape that is estimated over and over follows its errors.
        """
        curve, table, point = self._curve, self._table, self._best
        y, as_given = curve.y, float(((curve.y - curve.as_given) ** 2).mean()) or 1.0
        fitted = curve(np.full(len(y), point.rate))
        for _ in range(self._settings.new_curves):
            matched = table.matched(point)
            left = float(matched @ (y - fitted) ** 2) / max(float(matched.sum()), 1e-9)
            expected = matched * y + (1.0 - matched) * fitted
            fitted = curve.smooth(expected, noise_share=min(left / as_given, 1.0))
            rows = scale_of(fitted, settings=self._settings)
            table = AssociationTable(rows, table.labels, table.powers)
            start = table.at(point.theta, max(point.rate, self._settings.first_rates[0]))
            point = climb(table, start, self._settings, free=True)
        slope = table.slope(point) / (float(fitted.std()) or 1.0)
        return AssociationFit(point.rate, fitted, table.matched(point), slope)


def associate(
    curve: Curve, settings: AssociationSettings = DEFAULT.association
) -> Association | None:
    """Choose the products that describe labels and fitted values; None where either is constant."""
    rows = scale_of(curve.as_given, settings=settings)
    tables = [
        AssociationTable(rows, labels, powers)
        for labels in (scale_of(curve.y, scores=use, settings=settings) for use in (False, True))
        for powers in POWERS
    ]
    if min(tables[0].counts.shape) == 1:
        return None
    found = [(table, *_with_and_without(table, settings)) for table in tables]
    table, none, best = min(found, key=lambda fit: _criterion(fit[0], fit[2]))
    return Association(curve, table, none, best, settings)


def _criterion(table: AssociationTable, point: Point) -> float:
    """Bayesian information criterion, the rate left out because all have it."""
    return table.n_terms * float(np.log(table.counts.sum())) - 2.0 * point.log_likelihood


def _with_and_without(
    table: AssociationTable, settings: AssociationSettings
) -> tuple[Point, Point]:
    """The most likely points without mismatches, and with a free rate."""
    none = climb(table, table.at(np.zeros(table.n_terms), 0.0), settings)
    starts = [table.at(none.theta, rate, none.log_b) for rate in settings.first_rates]
    free = [climb(table, start, settings, free=True) for start in starts]
    return none, max([none, *free], key=lambda point: point.log_likelihood)


def climb(
    table: AssociationTable, point: Point, settings: AssociationSettings, *, free: bool = False
) -> Point:
    """Fisher scoring from a point; the rate moves only where it is left `free`."""
    for _ in range(settings.most_steps):
        size = table.n_terms + int(free and not (point.rate == 0.0 and point.score[-1] <= 0.0))
        score, information = point.score[:size], point.information[:size, :size]
        weak = 1e-8 * float(np.trace(information)) * np.eye(size)
        step = np.append(np.linalg.solve(information + weak, score), 0.0)[: table.n_terms + 1]
        if not float(score @ step[:size]) > settings.smallest_gain:
            break
        better = _better(table, point, step, settings)
        if better is None:
            break
        gain, point = better.log_likelihood - point.log_likelihood, better
        if gain < settings.smallest_gain:
            break
    return point


def _better(
    table: AssociationTable, point: Point, step: FloatArray, settings: AssociationSettings
) -> Point | None:
    """A more likely point along the step, or None."""
    for part in settings.parts_of_step:
        theta = point.theta + part * step[:-1]
        if float(np.ptp(np.tensordot(theta, table.terms, 1))) > settings.strongest:
            continue
        rate = float(np.clip(point.rate + part * step[-1], 0.0, settings.largest_rate))
        found = table.at(theta, rate, point.log_b)
        if found.log_likelihood > point.log_likelihood:
            return found
    return None
