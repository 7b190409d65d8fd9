"""How many labels are another row's? A likelihood in which nothing can pull the coefficients.

If a share a of the labels was exchanged, least squares on the labels as given estimates
``(1 - a) m(x) + a mean(y)``, whatever the law of the noise. So for every rate a the curve m is
fixed by least squares, and the likelihood decides on a alone, with a free law of the noise and a
spread that may change with the fit. A density of mismatched labels that is tied to the same
model cannot gain by describing the labels better than the noise does.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..families.noise import NoiseShape, first_law, next_law
from ..kernels.noise import NoiseLaw, NoiseRows, NoiseSums, add_up_noise, density_elsewhere
from ..kernels.types import FloatArray, IntArray
from .curve import MeanCurve
from .settings import DEFAULT, ProfileSettings

SHAPES = tuple(
    NoiseShape(name, count, means, by_fit)
    for name, count, means in (
        ("normal", 1, False), ("t", 1, False), ("mixture", 2, False), ("mixture", 3, True),
    )
    for by_fit in (False, True)
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class NoiseFit:
    """The law of the noise and the match probabilities at one rate of mismatches.

    Attributes
    ----------
    rate : float
    log_likelihood : float
    law : NoiseLaw
    growth : array of shape (2,)
        Coefficients of the log spread by the standardised fitted value z, for z and z² - 1.
    fitted, spread, matched : arrays of shape (n,)
    """

    rate: float
    log_likelihood: float
    law: NoiseLaw
    growth: FloatArray
    fitted: FloatArray
    spread: FloatArray
    matched: FloatArray


class NoiseModel:
    """Labels, curve and blocks, for which laws of the noise are fitted.

    Parameters
    ----------
    curve : MeanCurve
    match_prob : array of shape (n,) or None
        Given probabilities that a label is the row's own; they take the place of a rate.
    """

    def __init__(
        self, curve: MeanCurve, match_prob: FloatArray | None = None,
        settings: ProfileSettings = DEFAULT.profile,
    ) -> None:  # fmt: skip
        self.curve, self.settings, self.match_prob = curve, settings, match_prob
        self.y, self.starts = curve.y, curve.starts
        self.n_movable = int(curve.starts[-1])

    def away(self, rate: float) -> FloatArray:
        """Prior probability that each row holds another row's label."""
        away = np.zeros(len(self.y))
        away[: self.n_movable] = rate
        if self.match_prob is not None:
            away[: self.n_movable] = 1.0 - self.match_prob[: self.n_movable]
        return away

    def start(self, shape: NoiseShape) -> tuple[NoiseLaw, FloatArray]:
        """A first law, from the residuals of the labels as given."""
        size = np.abs(self.y - self.curve.as_given)
        scale = max(float(np.median(size)) / 0.6745, 0.05 * float(size.std()), 1e-300)
        return first_law(shape, scale), np.zeros(2)

    def fit(
        self,
        shape: NoiseShape,
        rate: float,
        law: NoiseLaw,
        growth: FloatArray,
        *,
        free: bool = False,
    ) -> NoiseFit:
        """Estimate the law from a law nearby, at a given rate or with the rate left `free`."""
        settings, fitted = self.settings, self.curve(self.away(rate))
        for number in range(settings.free_rounds if free else settings.rounds):
            if free and number:
                rate = self._next_rate(found)
                fitted = self.curve(self.away(rate))
            found = self._round(shape, rate, law, growth, fitted)
            law, growth = found.law, found.growth
        return found

    def release(self, shape: NoiseShape, start: NoiseFit) -> NoiseFit:
        """EM in which the curve follows the expected labels, no longer tied to least squares."""
        found = start
        for _ in range(self.settings.most_releases):
            before = found
            expected = found.matched * self.y + (1.0 - found.matched) * found.fitted
            fitted = self.curve.smooth(expected)
            rate = self._next_rate(found)
            found = self._round(shape, rate, found.law, found.growth, fitted)
            change = float(np.linalg.norm(found.fitted - before.fitted))
            if change < self.settings.settled * float(np.linalg.norm(self.y - self.y.mean())):
                break
        return found

    def _next_rate(self, found: NoiseFit) -> float:
        share = 1.0 - float(found.matched[: self.n_movable].mean())
        return min(max(share, 1e-4), self.settings.largest_rate)

    def _round(
        self,
        shape: NoiseShape,
        rate: float,
        law: NoiseLaw,
        growth: FloatArray,
        fitted: FloatArray,
    ) -> NoiseFit:
        """Some steps for law and spread around `fitted`, then the probabilities of a match."""
        away, settings = self.away(rate), self.settings
        position, residual = _standardise(fitted), self.y - fitted
        spread = self._spread(growth, position)
        elsewhere = self._elsewhere(away, fitted, spread, law)
        for _ in range(settings.steps):
            sums = add_up_noise(NoiseRows(residual, spread, position, away, elsewhere), law)
            if shape.by_fit:
                growth = self._next_growth(growth, sums)
                spread = self._spread(growth, position)
            law = next_law(shape, law, sums.component, settings.smallest_scale)
        elsewhere = self._elsewhere(away, fitted, spread, law)
        sums = add_up_noise(NoiseRows(residual, spread, position, away, elsewhere), law)
        return NoiseFit(rate, sums.log_likelihood, law, growth, fitted, spread, sums.matched)

    def _elsewhere(
        self, away: FloatArray, fitted: FloatArray, spread: FloatArray, law: NoiseLaw
    ) -> FloatArray:
        """Density of each label at the other rows of its block."""
        elsewhere = np.zeros(len(self.y))
        if away.any():
            support, support_starts = self._support(fitted)
            elsewhere[: self.n_movable] = density_elsewhere(
                self.y, fitted, spread, support, support_starts, self.starts, law
            )
        return elsewhere

    def _spread(self, growth: FloatArray, position: FloatArray) -> FloatArray:
        widest = self.settings.widest
        log_spread = growth[0] * position + growth[1] * (position**2 - 1.0)
        return np.exp(np.clip(log_spread, -widest, widest))

    def _next_growth(self, growth: FloatArray, sums: NoiseSums) -> FloatArray:
        """A damped step of Fisher scoring, with a weak pull towards a constant spread."""
        curvature = sums.curvature + 1e-3 * len(self.y) * np.eye(2)
        step = 0.7 * np.linalg.solve(curvature, sums.slope)
        return np.clip(growth + step, -self.settings.steepest, self.settings.steepest)

    def _support(self, fitted: FloatArray) -> tuple[IntArray, IntArray]:
        """Rows of each block, evenly spaced in the order of the fitted values."""
        rows, starts = [], [0]
        for first, last in pairwise(self.starts.tolist()):
            order = first + np.argsort(fitted[first:last], kind="stable")
            m = min(last - first, self.settings.support)
            rows.append(order[((np.arange(m) + 0.5) * (last - first) / m).astype(np.int64)])
            starts.append(starts[-1] + m)
        empty = np.empty(0, dtype=np.int64)
        return np.concatenate([empty, *rows]), np.array(starts, dtype=np.int64)


def _standardise(fitted: FloatArray) -> FloatArray:
    spread = float(fitted.std())
    return np.clip((fitted - fitted.mean()) / (spread or 1.0), -3.0, 3.0)


@dataclass(frozen=True, eq=False)
class RateProfile:
    """Likelihood of the rate of mismatches.

    Attributes
    ----------
    shape : NoiseShape
        Law chosen by the information criterion.
    rates, log_likelihoods : arrays
    best, none : NoiseFit
        At the most likely rate, and at rate 0.
    """

    shape: NoiseShape
    rates: FloatArray
    log_likelihoods: FloatArray
    best: NoiseFit
    none: NoiseFit

    @property
    def statistic(self) -> float:
        """Twice the log likelihood ratio of the most likely rate against none."""
        return max(2.0 * (self.best.log_likelihood - self.none.log_likelihood), 0.0)


def profile_rate(model: NoiseModel, shapes: tuple[NoiseShape, ...] = SHAPES) -> RateProfile:
    """Choose a law, and follow the likelihood over the rates."""
    settings, n = model.settings, len(model.y)
    if len(shapes) > 1:
        found = {shape: _freely(model, shape) for shape in shapes}

        def criterion(shape: NoiseShape) -> float:
            best = max(fit.log_likelihood for fit in found[shape])
            return -2.0 * best + shape.n_parameters * float(np.log(n))

        shape = min(shapes, key=criterion)
        free = found[shape][1:]
    else:
        shape = shapes[0]
        free = _freely(model, shape)[1:]
    fits = sorted([*_along(model, shape, settings.rates), *free], key=lambda fit: fit.rate)
    best = max(fits, key=lambda fit: fit.log_likelihood)
    for _ in range(2):
        between = _vertex(fits, best)
        if between is None:
            break
        near = min(fits, key=lambda fit: abs(fit.rate - between))
        fits = sorted(
            [*fits, model.fit(shape, between, near.law, near.growth)], key=lambda fit: fit.rate
        )
        best = max(fits, key=lambda fit: fit.log_likelihood)
    rates = np.array([fit.rate for fit in fits])
    return RateProfile(shape, rates, np.array([f.log_likelihood for f in fits]), best, fits[0])


def _along(model: NoiseModel, shape: NoiseShape, rates: tuple[float, ...]) -> list[NoiseFit]:
    """Fits at each rate upwards, each from the law before, and once more downwards."""
    law, growth = model.start(shape)
    fits = []
    for rate in rates:
        fits.append(model.fit(shape, rate, law, growth))
        law, growth = fits[-1].law, fits[-1].growth
    for k in range(len(rates) - 2, -1, -1):
        again = model.fit(shape, rates[k], fits[k + 1].law, fits[k + 1].growth)
        if again.log_likelihood > fits[k].log_likelihood:
            fits[k] = again
    return fits


def _freely(model: NoiseModel, shape: NoiseShape) -> list[NoiseFit]:
    """Without mismatches, and with a free rate from several starts."""
    none = model.fit(shape, 0.0, *model.start(shape))
    starts = model.settings.first_rates
    return [none, *(model.fit(shape, rate, none.law, none.growth, free=True) for rate in starts)]


def _vertex(fits: list[NoiseFit], best: NoiseFit) -> float | None:
    """Where a parabola through the best rate and its neighbours is highest."""
    k = next(k for k, fit in enumerate(fits) if fit is best)
    k = min(max(k, 1), len(fits) - 2)
    x = np.array([fits[j].rate for j in (k - 1, k, k + 1)])
    v = np.array([fits[j].log_likelihood for j in (k - 1, k, k + 1)])
    a, b, _ = np.polyfit(x - x[1], v - v[1], 2)
    if a >= 0.0:
        return None
    peak = float(x[1] - b / (2.0 * a))
    if not x[0] < peak < x[2] or np.min(np.abs(x - peak)) < 1e-3:
        return None
    return peak
