"""Many mismatches around a plane with normal noise, where no other description comes near.

Least squares as given is far off where many labels were exchanged, and so is what is tied to it.
This fit starts from a robust one. Real noise often looks like mismatches to a normal law, so that
labels must be clearly own or another's, and every other description decisively worse.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..families.least_squares import LeastSquares
from ..families.noise import NoiseShape, first_law
from ..inference.settings import CheckSettings
from ..kernels.noise import NoiseLaw
from ..search.curve import MeanCurve
from ..search.noise_model import NoiseFit, NoiseModel
from ..search.rate_profile import NORMAL, SHAPES, RateProfile, criterion, p_value_of
from ..search.robust import fit_mixture
from ..search.settings import ProfileSettings
from .auto_results import MismatchFit
from .mismatch_candidates import Candidate, FreeLaw, distance_in_radii, under_law


class Rivals(NamedTuple):
    """Other descriptions: laws of the noise tied to least squares, and the association."""

    model: NoiseModel
    profile: RateProfile
    association: float

    def best(self) -> float:
        """The lowest criterion."""
        tied = of_pairs(self.model, self.profile.shape, self.profile.best)
        return min(tied, self.without_mismatches(), self.association)

    def without_mismatches(self) -> float:
        """The criterion of the law chosen, at rate 0."""
        return of_pairs(self.model, self.profile.shape, self.profile.none)


def of_pairs(model: NoiseModel, shape: NoiseShape, fit: NoiseFit) -> float:
    """Criterion of how well pairs are described, whatever the labels look like by themselves."""
    return criterion(shape, fit) + 2.0 * model.log_anywhere(fit)


def clearly_normal(
    reference: LeastSquares,
    line: MeanCurve,
    rivals: Rivals,
    facts: MismatchFit,
    checks: CheckSettings,
    settings: ProfileSettings,
) -> Candidate | None:
    """The fit, or None where anything speaks against it.

    Parameters
    ----------
    reference : LeastSquares
    line : MeanCurve
        A plane through the labels.
    rivals : Rivals
    facts : MismatchFit
        What holds whatever the answer will be.
    """
    fine = replace(settings, stretches=settings.many_stretches)
    model, near = NoiseModel(line, settings=fine), fit_mixture(reference, line.y)
    law = NoiseLaw(np.ones(1), np.zeros(1), np.array([near.noise_scale]))
    fitted = reference.predict(near.coef, near.intercept)
    start = model.around(NORMAL, near.mismatch_rate, law, np.zeros(2), fitted)
    found = model.release(NORMAL, start)
    doubt = float(np.mean(found.matched * (1.0 - found.matched)))
    unclear = doubt >= checks.clear_doubt * found.rate * (1.0 - found.rate)
    if unclear or found.rate >= checks.mismatch_caution:
        return None
    ours, none = of_pairs(model, NORMAL, found), rivals.without_mismatches()
    if ours >= rivals.best() - checks.decisive:
        return None
    if not _normal_suffices(reference, model, found, start, checks):
        return None
    facts = replace(
        facts,
        p_value=p_value_of(none - ours, found.rate),
        rate_limit=max(facts.rate_limit, found.rate),
        gain=(none - ours) / len(line.y),
    )
    clear = under_law(reference, model, facts, FreeLaw(NORMAL, found, found), checks)
    return clear if clear.holds else None


def _normal_suffices(
    reference: LeastSquares,
    model: NoiseModel,
    found: NoiseFit,
    start: NoiseFit,
    checks: CheckSettings,
) -> bool:
    """Whether no other law around the same plane is decisively better and gives another fit."""
    limit = criterion(NORMAL, found) - checks.decisive
    for shape in SHAPES:
        if shape == NORMAL or (shape.by_fit and shape.name != "normal"):
            continue
        law = first_law(shape, float(start.law.scales[0]))
        near = model.around(shape, start.rate, law, start.growth, start.fitted)
        other = model.release(shape, near)
        if criterion(shape, other) < limit:
            apart = distance_in_radii(reference, model.y, other, found)
            if not apart < checks.same_fit:
                return False
    return True
