"""Labels around a curve: a row's own, or another row's, under a law of the noise that is estimated.

The law is a mixture of normals (`families.noise`), and its spread may change with the fitted value.
The density of another row's label is tied to the same model: it is the mean of the densities at
the rows of the block. So mismatches cannot explain what is only noise of another shape.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.stats import norm

from ..families.noise import NoiseShape, first_law, next_law, noise_pull
from ..kernels.density_elsewhere import Stretches, density_elsewhere
from ..kernels.noise import SMALLEST_DENSITY, NoiseLaw, NoiseRows, NoiseSums, add_up_noise
from ..kernels.types import FloatArray, IntArray
from .curve import Curve
from .robust import median_scale
from .settings import DEFAULT, ProfileSettings


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
    growth_score : float
        Score statistic for other coefficients of the spread: large where it depends on the fit.
    """

    rate: float
    log_likelihood: float
    law: NoiseLaw
    growth: FloatArray
    fitted: FloatArray
    spread: FloatArray
    matched: FloatArray
    growth_score: float

    def expected(self, labels: FloatArray) -> FloatArray:
        """Expected own label of each row: the one given, or else the fitted value."""
        return np.asarray(self.matched * labels + (1.0 - self.matched) * self.fitted)

    def pull(self, labels: FloatArray) -> FloatArray:
        """How fast the density of a label falls with its distance, times the distance."""
        return noise_pull((labels - self.fitted) / self.spread, self.law)


class NoiseModel:
    """Labels, curve and blocks, for which laws of the noise are fitted.

    Parameters
    ----------
    curve : Curve
    match_prob : array of shape (n,) or None
        Given probabilities that a label is the row's own; they take the place of a rate.
    """

    def __init__(
        self, curve: Curve, match_prob: FloatArray | None = None,
        settings: ProfileSettings = DEFAULT.profile,
    ) -> None:  # fmt: skip
        self.curve, self.settings, self.match_prob = curve, settings, match_prob
        self.y, self.starts = curve.y, curve.starts
        self.n_movable = int(curve.starts[-1])
        self._smallest = settings.smallest_noise * (float(self.y.std()) or 1.0)

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
        scale = max(median_scale(size), 0.05 * float(size.std()), self._smallest)
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
        found = self.around(shape, rate, law, growth, fitted)
        for _ in range(1, settings.free_rounds if free else settings.rounds):
            if free:
                rate = self.next_rate(found)
                fitted = self.curve(self.away(rate))
            found = self.around(shape, rate, found.law, found.growth, fitted)
        return found

    def release(self, shape: NoiseShape, start: NoiseFit) -> NoiseFit:
        """EM in which the curve follows the expected labels, no longer tied to least squares."""
        found, as_given = start, float(((self.y - self.curve.as_given) ** 2).mean())
        for _ in range(self.settings.most_releases):
            before = found
            left = float(found.matched @ (self.y - found.fitted) ** 2) / float(found.matched.sum())
            share = min(left / as_given, 1.0)
            fitted = self.curve.smooth(found.expected(self.y), noise_share=share)
            rate = self.next_rate(found)
            found = self.around(shape, rate, found.law, found.growth, fitted)
            change = float(np.linalg.norm(found.fitted - before.fitted))
            if change < self.settings.settled * float(np.linalg.norm(self.y - self.y.mean())):
                break
        return found

    def next_rate(self, found: NoiseFit) -> float:
        """Mean probability of a mismatch among the rows that can move."""
        if not self.n_movable:
            return 0.0
        share = 1.0 - float(found.matched[: self.n_movable].mean())
        return min(max(share, 1e-4), self.settings.largest_rate)

    def around(
        self,
        shape: NoiseShape,
        rate: float,
        law: NoiseLaw,
        growth: FloatArray,
        fitted: FloatArray,
        *,
        centred: bool = True,
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
            law = next_law(
                shape, sums.component, settings.smallest_scale, self._smallest, centred=centred
            )
        sums = add_up_noise(NoiseRows(residual, spread, position, away, elsewhere), law)
        score = float(sums.slope @ np.linalg.lstsq(sums.curvature, sums.slope, rcond=None)[0])
        return NoiseFit(rate, sums.log_likelihood, law, growth, fitted, spread, sums.matched, score)

    def elsewhere(self, found: NoiseFit) -> FloatArray:
        """Density of each label at the rows of its block; 0 for labels that cannot move."""
        return self._elsewhere(np.ones(len(self.y)), found.fitted, found.spread, found.law)

    def log_anywhere(self, found: NoiseFit) -> float:
        """Log likelihood of the labels at any row, as if they did not depend on the features.

        Less this, the likelihood says how well the pairs are described: models can be compared
        that describe the distribution of the labels by themselves differently.
        """
        return float(np.log(np.maximum(self.elsewhere(found), SMALLEST_DENSITY)).sum())

    def _elsewhere(
        self, away: FloatArray, fitted: FloatArray, spread: FloatArray, law: NoiseLaw
    ) -> FloatArray:
        """Density of each label at the other rows of its block."""
        elsewhere = np.zeros(len(self.y))
        if self.n_movable and away.any():
            stretches = self._stretches(fitted, spread)
            narrowest = stretches.spread.min()
            elsewhere[: self.n_movable] = density_elsewhere(
                self.y, stretches, self.starts, law,
                (self.y.min() - fitted.max()) / narrowest,
                (self.y.max() - fitted.min()) / narrowest,
            )  # fmt: skip
        return elsewhere

    def _spread(self, growth: FloatArray, position: FloatArray) -> FloatArray:
        widest = self.settings.widest
        log_spread = growth[0] * position + growth[1] * (position**2 - 1.0)
        return np.asarray(np.exp(np.clip(log_spread, -widest, widest)))

    def _next_growth(self, growth: FloatArray, sums: NoiseSums) -> FloatArray:
        """A damped step of Fisher scoring, with a weak pull towards a constant spread."""
        curvature = sums.curvature + 1e-3 * len(self.y) * np.eye(2)
        step = 0.7 * np.linalg.solve(curvature, sums.slope)
        return np.asarray(np.clip(growth + step, -self.settings.steepest, self.settings.steepest))

    def _stretches(self, fitted: FloatArray, spread: FloatArray) -> Stretches:
        """Rows of each block in the order of the fitted values, fewest to a stretch at the ends."""
        blocks, first, last, weight, starts = self._layout
        order = np.lexsort((fitted[: self.n_movable], blocks))
        low, high, middle = (order[k] for k in (first, last, (first + last) // 2))
        return Stretches(fitted[low], fitted[high], spread[middle], weight, starts)

    @cached_property
    def _layout(self) -> tuple[IntArray, IntArray, IntArray, FloatArray, IntArray]:
        """Block of each row; first and last row, weight and number of the stretches of blocks."""
        sizes = np.diff(self.starts)
        taken = np.minimum(sizes, self.settings.stretches)
        bounds = [_bounds(int(size), int(many)) for size, many in zip(sizes, taken, strict=True)]
        before = np.repeat(self.starts[:-1], taken)
        first = before + np.concatenate([edges[:-1] for edges in bounds])
        last = before + np.concatenate([edges[1:] for edges in bounds]) - 1
        weight = (last + 1 - first) / np.repeat(sizes, taken)
        starts = np.concatenate([[0], np.cumsum(taken)]).astype(np.int64)
        return np.repeat(np.arange(len(sizes)), sizes), first, last, weight, starts


@lru_cache(maxsize=256)
def _bounds(n_rows: int, n_stretches: int) -> IntArray:
    """First row of each stretch, and the end: even steps of a normal law, at least a row each.

    At the ends rows stand alone, so that labels far out have the density of these rows only.
    """
    if n_rows <= n_stretches:
        return np.arange(n_rows + 1)
    outermost = norm.ppf(0.5 / n_rows)
    edges = n_rows * norm.cdf(np.linspace(outermost, -outermost, n_stretches + 1))
    number = np.arange(n_stretches + 1)
    bounds = np.round(edges).astype(np.int64)
    bounds[0], bounds[-1] = 0, n_rows
    bounds = np.maximum.accumulate(np.maximum(bounds - number, 0)) + number
    # The same from the other end, so that the last stretches have a row each too.
    from_end = n_rows - (n_stretches - number)
    return np.asarray(np.minimum(bounds, from_end))


def _standardise(fitted: FloatArray) -> FloatArray:
    spread = float(fitted.std())
    return np.asarray(np.clip((fitted - fitted.mean()) / (spread or 1.0), -3.0, 3.0))
