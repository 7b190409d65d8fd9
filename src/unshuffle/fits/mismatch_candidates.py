"""Fits with mismatches, under a law of the noise and without one, and what speaks against each."""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

from ..families.least_squares import LeastSquares
from ..families.noise import NoiseShape, component_shares, off_components
from ..inference.consistency import (
    Consistency,
    compare_with_least_squares,
    slope_among_mismatched,
)
from ..inference.settings import CheckSettings
from ..kernels.noise import NoiseLaw
from ..kernels.types import FloatArray
from ..search.association_fit import AssociationFit
from ..search.label_fit import LabelFit
from ..search.noise_model import NoiseFit, NoiseModel
from ..search.rate_profile import RateProfile, criterion
from .as_given import noise_radius
from .auto_results import MismatchFit

NAN = float("nan")


class Candidate(NamedTuple):
    """A fit with mismatches, and what would be said of it."""

    fit: LabelFit
    facts: MismatchFit

    @property
    def holds(self) -> bool:
        """Whether nothing contradicts it."""
        return self.facts.answer == "mismatches"


class FreeLaw(NamedTuple):
    """A law of the noise, the fit tied to least squares, and the fit that is not."""

    shape: NoiseShape
    tied: NoiseFit
    fit: NoiseFit


def free_laws(model: NoiseModel, profile: RateProfile) -> list[FreeLaw]:
    """Laws for the free fits, the best first.

    Tied fitted values are off by the sampling error of least squares, which makes simple noise look
    like other noise; so simpler laws are compared once more, each with its own free fit.
    """
    tied = {profile.shape: profile.best} | profile.simpler
    laws = [FreeLaw(shape, start, model.release(shape, start)) for shape, start in tied.items()]
    return sorted(laws, key=lambda law: criterion(law.shape, law.fit))


def under_law(
    reference: LeastSquares,
    model: NoiseModel,
    facts: MismatchFit,
    law: FreeLaw,
    checks: CheckSettings,
) -> Candidate:
    """The fit under a law of the noise."""
    shape, tied, free = law
    facts = replace(facts, noise=shape.name, spread_by_fit=shape.by_fit, rate=free.rate)
    found = _consistency(reference, model.y, free, free.rate - tied.rate)
    answer = "mismatches" if _consistent(found, checks) else "inconsistent"
    facts = replace(facts, answer=answer, consistency=found)
    return Candidate(free, with_noise(facts, free, model))


def without_law(
    reference: LeastSquares,
    y: FloatArray,
    by_law: Candidate,
    found: AssociationFit,
    checks: CheckSettings,
) -> Candidate:
    """The fit by the association; a law still says which own labels are far off."""
    consistency = _consistency(reference, y, found, NAN)
    facts = replace(
        by_law.facts,
        answer="inconsistent",
        consistency=consistency,
        rate=found.rate,
        agreement=distance_in_radii(reference, y, by_law.fit, found),
    )
    if not _consistent(consistency, checks):
        return Candidate(found, facts)
    off = facts.off_proba
    assert off is not None
    own = np.minimum(off / np.maximum(by_law.fit.matched, 1e-300), 1.0)
    return Candidate(
        found,
        replace(
            facts,
            answer="mismatches",
            noise="any",
            spread_by_fit=False,
            pit_distance=NAN,
            off_proba=found.matched * own,
        ),
    )


def distance_in_radii(
    reference: LeastSquares, y: FloatArray, first: LabelFit, second: LabelFit
) -> float:
    """Distance between two fits, in 95 % radii of a fit with known order and the same noise."""
    ahead, fit = reference.solve(first.expected(y)), reference.solve(second.expected(y))
    weight, freedom = second.matched, len(y) - reference.n_parameters
    variance = float(weight @ (y - fit.fitted) ** 2) / max(float(weight.sum()), 1e-9)
    distance = float(np.linalg.norm(ahead.fitted - fit.fitted - np.mean(ahead.fitted - fit.fitted)))
    radius = noise_radius(reference, float(np.sqrt(variance)), max(freedom, 1))
    return distance / radius if radius > 0.0 else float("inf")


def _consistency(
    reference: LeastSquares, y: FloatArray, found: LabelFit, rate_difference: float
) -> Consistency:
    fitted = reference.solve(found.expected(y)).fitted
    distance, p_value = compare_with_least_squares(reference.basis(), y, fitted, found.rate)
    slope = slope_among_mismatched(y, found.fitted, found.matched)
    return Consistency(distance, p_value, slope, rate_difference)


def _consistent(found: Consistency, checks: CheckSettings) -> bool:
    """Whether least squares as given does not contradict a fit."""
    near = is_near(found.distance, found.p_value, checks)
    other_rate = abs(found.rate_difference) > checks.rate_difference  # never, where it is nan
    return near and not other_rate and found.slope < checks.mismatched_slope


def is_near(distance: float, p_value: float, checks: CheckSettings) -> bool:
    """Whether a fit and least squares as given differ little, or by no more than chance."""
    return distance < checks.consistent_distance or p_value > checks.consistent_p


def with_noise(facts: MismatchFit, found: NoiseFit, model: NoiseModel) -> MismatchFit:
    """Add how well the law describes the residuals, and which labels are far off."""
    u = (model.y - found.fitted) / found.spread
    order = np.argsort(u)
    weight = found.matched[order] / found.matched.sum()
    expected = sum(
        w * norm.cdf((u[order] - m) / s)
        for w, m, s in zip(found.law.weights, found.law.means, found.law.scales, strict=True)
    )
    distance = float(np.max(np.abs(np.cumsum(weight) - 0.5 * weight - expected)))
    off = np.zeros(len(u)) if facts.noise == "t" else _off(u, found.law, found.matched)
    return replace(facts, pit_distance=distance, off_proba=off)


def _off(u: FloatArray, law: NoiseLaw, matched: FloatArray) -> FloatArray:
    """Probability that a label is the row's own and from a component of gross errors."""
    return np.asarray(matched * (component_shares(u, law) @ off_components(law)))
