"""How many labels are another row's? A likelihood in which nothing can pull the coefficients.

If a share a of the labels was exchanged, least squares on the labels as given estimates
``(1 - a) m(x) + a mean(y)``, whatever the law of the noise. So for every rate a the curve m is
fixed by least squares, and the likelihood decides on a alone, with a free law of the noise.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import chi2

from ..families.noise import NoiseShape
from ..kernels.types import FloatArray
from .noise_model import NoiseFit, NoiseModel

NORMAL = NoiseShape("normal")
SHAPES = tuple(
    NoiseShape(name, count, means, by_fit)
    for name, count, means in (
        ("normal", 1, False), ("t", 1, False), ("mixture", 2, False), ("mixture", 3, True),
    )
    for by_fit in (False, True)
)  # fmt: skip


def shapes_named(noise: str) -> tuple[NoiseShape, ...]:
    """The laws that `noise` allows; "auto" allows all."""
    return tuple(shape for shape in SHAPES if noise in {"auto", shape.name})


# One-sided 95 % limit: 90 % of a χ² variable with one degree of freedom lie below.
LIKELY_DROP = 2.71
SAME_RATE = 1e-3  # rates nearer to each other count as one


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
    simpler : dict
        At the most likely rate under simpler laws that were tried: normal noise, and the same law
        with one spread.
    """

    shape: NoiseShape
    rates: FloatArray
    log_likelihoods: FloatArray
    best: NoiseFit
    none: NoiseFit
    simpler: dict[NoiseShape, NoiseFit]

    @property
    def statistic(self) -> float:
        """Twice the log likelihood ratio of the most likely rate against none."""
        return max(2.0 * (self.best.log_likelihood - self.none.log_likelihood), 0.0)

    @property
    def p_value(self) -> float:
        """Of the labels as given against a model with mismatches, if there were none."""
        return p_value_of(self.statistic, self.best.rate)

    @property
    def upper_limit(self) -> float:
        """Upper 95 % limit of the rate."""
        return upper_limit(self.rates, self.log_likelihoods)


def p_value_of(statistic: float, rate: float) -> float:
    """p-value of a likelihood ratio for a rate that cannot be negative."""
    return 0.5 * float(chi2.sf(statistic, 1)) if rate > 0.0 else 1.0


def upper_limit(rates: FloatArray, log_likelihoods: FloatArray) -> float:
    """Upper 95 % limit of the rate: beyond it the likelihood ratio is too large."""
    drop = 2.0 * (log_likelihoods.max() - log_likelihoods)
    last = int(np.flatnonzero(drop <= LIKELY_DROP)[-1])
    if last == len(drop) - 1:
        return 1.0
    part = (LIKELY_DROP - drop[last]) / (drop[last + 1] - drop[last])
    return float(rates[last] + part * (rates[last + 1] - rates[last]))


def profile_rate(model: NoiseModel, shapes: tuple[NoiseShape, ...] = SHAPES) -> RateProfile:
    """Choose a law, and follow the likelihood over the rates."""
    settings = model.settings
    found = _fits_by_shape(model, shapes)
    shape = min(found, key=lambda shape: criterion(shape, _best(found[shape])))
    free = found[shape][1:]
    fits = _distinct([*_along(model, shape, settings.rates), *free])
    best = _best(fits)
    for _ in range(2):
        between = _vertex(fits, best)
        if between is None:
            break
        near = min(fits, key=lambda fit: abs(fit.rate - between))
        fits = _distinct([*fits, model.fit(shape, between, near.law, near.growth)])
        best = _best(fits)
    rates = np.array([fit.rate for fit in fits])
    levels = np.array([fit.log_likelihood for fit in fits])
    others = {NORMAL, replace(shape, by_fit=False)} - {shape}
    simpler = {other: _best(found[other][1:]) for other in SHAPES if other in others & found.keys()}
    return RateProfile(shape, rates, levels, best, fits[0], simpler)


def criterion(shape: NoiseShape, fit: NoiseFit) -> float:
    """Bayesian information criterion of a law, the same constant left out for all."""
    return shape.n_parameters * float(np.log(len(fit.fitted))) - 2.0 * fit.log_likelihood


def _fits_by_shape(
    model: NoiseModel, shapes: tuple[NoiseShape, ...]
) -> dict[NoiseShape, list[NoiseFit]]:
    """Fits without mismatches and with a free rate, under each law that may be the best.

    Laws are left out where they cannot be: all but the normal one where the residuals look
    normal, and a spread that depends on the fit where its score is small.
    """
    if _looks_normal(model):
        shapes = tuple(s for s in shapes if s.name == "normal") or shapes
    found: dict[NoiseShape, list[NoiseFit]] = {}
    for shape in sorted(shapes, key=lambda shape: shape.by_fit):
        plain = found.get(replace(shape, by_fit=False)) if shape.by_fit else None
        if plain is not None and _best(plain).growth_score < model.settings.smallest_score:
            continue
        found[shape] = _freely(model, shape)
    return found


def _best(fits: list[NoiseFit]) -> NoiseFit:
    return max(fits, key=lambda fit: fit.log_likelihood)


def _looks_normal(model: NoiseModel) -> bool:
    """Whether skewness and kurtosis of the labels around the curve are those of a normal."""
    residual = model.y - model.curve.as_given
    u = (residual - residual.mean()) / (residual.std() or 1.0)
    skewness, excess = float((u**3).mean()), float((u**4).mean()) - 3.0
    statistic = len(u) / 6.0 * (skewness**2 + excess**2 / 4.0)
    return statistic < model.settings.normal_moments


def _distinct(fits: list[NoiseFit]) -> list[NoiseFit]:
    """By rate; of fits at nearly the same rate the best one."""
    kept: list[NoiseFit] = []
    for fit in sorted(fits, key=lambda fit: fit.rate):
        if kept and fit.rate - kept[-1].rate < SAME_RATE:
            if kept[-1].rate > 0.0 and fit.log_likelihood > kept[-1].log_likelihood:
                kept[-1] = fit
            continue
        kept.append(fit)
    return kept


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
    (x0, v0), (x1, v1), (x2, v2) = (
        (fits[j].rate, fits[j].log_likelihood) for j in range(k - 1, k + 2)
    )
    rise, fall = (v1 - v0) / (x1 - x0), (v2 - v1) / (x2 - x1)
    bend = (fall - rise) / (x2 - x0)
    if bend >= 0.0:
        return None
    peak = 0.5 * (x0 + x1) - rise / (2.0 * bend)
    nearest = min(abs(x - peak) for x in (x0, x1, x2))
    return peak if x0 < peak < x2 and nearest > SAME_RATE else None
