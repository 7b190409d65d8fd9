r"""The rate of mismatches when the order is mostly right: prior, normaliser and draws.

Given a rate :math:`\alpha`, a permutation of a group of m rows with K of them mismatched has prior

.. math::

    p(\pi \mid \alpha) = \frac{e^{-\gamma K}}{Z_m(\gamma)}, \qquad \gamma = \log m (1 - \alpha),
    \qquad Z_m(\gamma) = \sum_{k=0}^{m} \binom{m}{k} D_k e^{-\gamma k},

where :math:`D_k` counts the permutations of k rows that leave none in place. As
:math:`D_k \approx k!/e`, the number of matched rows is close to a Poisson variable with mean
:math:`m (1 - \alpha)`. Because :math:`\gamma` depends on the rate through
:math:`\log(1 - \alpha)` alone, the rate depends on a permutation through the total K over groups:
:math:`\log p(\alpha \mid \pi) = \log p(\alpha) - K \log(1 - \alpha) - \sum_m \log Z_m`.
"""

import math

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.special import gammaln

from ..kernels.limits import SMALLEST_RATE
from ..kernels.types import FloatArray, IntArray
from .sampling_settings import RATES, RateSettings


def log_derangements(n: int) -> FloatArray:
    """Logarithms of the numbers of permutations of 0 .. n things that leave none in place."""
    count, exact = 1, [1]
    for k in range(1, min(n, 20) + 1):
        count = k * count + (-1) ** k
        exact.append(count)
    # From there on k!/e is right to the last bit.
    logs = gammaln(np.arange(n + 1) + 1.0) - 1.0
    with np.errstate(divide="ignore"):
        logs[: len(exact)] = np.log(np.array(exact[: n + 1], dtype=np.float64))
    return np.asarray(logs)


def log_ways(n: int) -> FloatArray:
    """Logarithms of the numbers of permutations of n rows with 0 .. n of them mismatched."""
    k = np.arange(n + 1)
    ways: FloatArray = (
        gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0) + log_derangements(n)
    )
    return ways


def log_normalisers(n: int, rates: FloatArray) -> FloatArray:
    """Log of the sum of ``exp(-γ K)`` over the permutations of a group of n rows, at each rate."""
    ways, k = log_ways(n), np.arange(n + 1)
    totals = np.empty(len(rates))
    # One at a time: a table of all would be as large as many problems.
    for place, cost in enumerate(np.log(n * (1.0 - rates))):
        terms = ways - cost * k
        top = terms.max()
        totals[place] = top + np.log(np.exp(terms - top).sum())
    return totals


class RatePosterior:
    """Draws of the rate given how many rows are mismatched, by slice sampling on its logit.

    Parameters
    ----------
    starts : array of shape (n_blocks + 1,)
    shape : pair of float
        Of the Beta prior, which is cut to the rates that the prior over permutations allows.
    settings : RateSettings
    """

    def __init__(
        self, starts: IntArray, shape: tuple[float, float], settings: RateSettings = RATES
    ) -> None:
        self.width = settings.slice_width
        self.shape = shape
        self.limit = float(np.log1p(-SMALLEST_RATE) - np.log(SMALLEST_RATE))
        logits = np.linspace(-self.limit, self.limit, settings.knots)
        rates = 1.0 / (1.0 + np.exp(-logits))
        total = np.zeros(settings.knots)
        sizes, counts = np.unique(np.diff(starts), return_counts=True)
        for size, count in zip(sizes.tolist(), counts.tolist(), strict=True):
            total += count * log_normalisers(size, rates)
        # Smooth on the scale of one logit whatever the data, so that a spline replaces the sums.
        self._pieces = CubicSpline(logits, total).c.T.tolist()
        self._step = float(logits[1] - logits[0])

    def log_density(self, logit: float, n_mismatched: int) -> float:
        """Of the logit of the rate, up to a constant; minus infinity outside the prior."""
        if abs(logit) > self.limit:
            return -math.inf
        a, b = self.shape
        # Both logarithms from the exponential that cannot overflow.
        small = math.log1p(math.exp(-abs(logit)))
        log_rate, log_rest = min(logit, 0.0) - small, min(-logit, 0.0) - small
        return a * log_rate + (b - n_mismatched) * log_rest - self.log_normaliser(logit)

    def log_normaliser(self, logit: float) -> float:
        """Sum over groups, read off the spline."""
        place = min(int((logit + self.limit) / self._step), len(self._pieces) - 1)
        x = logit + self.limit - place * self._step
        cubic, square, slope, level = self._pieces[place]
        return float(((cubic * x + square) * x + slope) * x + level)

    def draw(self, rate: float, n_mismatched: int, rng: np.random.Generator) -> float:
        """Move on from `rate` (Neal 2003: step out, then shrink)."""
        here = float(np.log(rate) - np.log1p(-rate))
        here = min(max(here, -self.limit), self.limit)
        height = self.log_density(here, n_mismatched) - rng.exponential()
        low = here - self.width * rng.random()
        high = low + self.width
        while self.log_density(low, n_mismatched) > height:
            low -= self.width
        while self.log_density(high, n_mismatched) > height:
            high += self.width
        while True:
            there = rng.uniform(low, high)
            if self.log_density(there, n_mismatched) >= height:
                return float(1.0 / (1.0 + np.exp(-there)))
            low, high = (there, high) if there < here else (low, there)
