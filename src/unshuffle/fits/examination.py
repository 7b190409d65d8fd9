"""What do labels given beside rows show of mismatches?

Heavy tails, skew, curvature and noise that grows look like mismatches to a normal likelihood. Here
labels are described twice: by a law of the noise that is estimated with the rate, and by their
association with the fitted values, which needs no law. Mismatches must show in both, and a fit with
mismatches is compared with least squares on the labels as given, which needs neither.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..families.noise import NoiseShape
from ..inference.settings import CHECKS, CheckSettings
from ..kernels.types import FloatArray
from ..search.association_fit import Association, associate
from ..search.curve import Curve, plane
from ..search.kernel_curve import KernelCurve, best_curve
from ..search.label_fit import LabelFit
from ..search.noise_model import NoiseFit, NoiseModel
from ..search.rate_profile import (
    NORMAL,
    RateProfile,
    criterion,
    profile_rate,
    shapes_named,
)
from ..search.settings import DEFAULT, SearchSettings
from .as_given import largest_share, r_squared, radius_of, tail_share
from .auto_results import MismatchFit
from .clearly_normal import Rivals, clearly_normal, of_pairs
from .mismatch_candidates import (
    Candidate,
    FreeLaw,
    free_laws,
    under_law,
    with_noise,
    without_law,
)

NAN = float("nan")


@dataclass(frozen=True, eq=False)
class Examination:
    """What the labels as given show of mismatches.

    Attributes
    ----------
    best : LabelFit or None
        The fit with mismatches; None where there is no sign of any.
    facts : MismatchFit
        Of `best`, or of least squares where that is the answer.
    whole : bool
        Whether all rows were looked at, not a sample.
    normal : bool
        Whether a plane with normal noise of one spread describes the labels: there a chain over
        permutations is more precise than `best`.
    association : Association or None
        The description without a law, where it was made and there is a sign of mismatches.
    """

    best: LabelFit | None
    facts: MismatchFit
    whole: bool
    normal: bool
    association: Association | None = None


def examine(
    problem: Problem,
    noise: str = "auto",
    checks: CheckSettings = CHECKS,
    settings: SearchSettings = DEFAULT,
    *,
    order_is_sure: bool = True,
) -> Examination:
    """Estimate rate and noise, test whether there are mismatches, and check consistency.

    Where the order given is only plausible, no law of the noise suffices by itself.
    """
    rows = _sample(problem, settings.profile.many_rows)
    whole = rows is problem
    X, y = rows.X[rows.user_rows(np.arange(rows.n_rows))], rows.y
    curve = best_curve(X, y, rows.starts, settings.curve)
    model = NoiseModel(curve, settings=settings.profile)
    profile = profile_rate(model, shapes_named(noise))
    freed = cache(partial(free_laws, model, profile))
    reference = LeastSquares(X, fit_intercept=True)
    association = _association(curve, rows, settings) if noise == "auto" else None
    other, straight = association, not isinstance(curve, KernelCurve)
    if order_is_sure and other is not None:
        facts = _facts(reference, y, profile, other, checks, both=False)
        line = plane(X, y, rows.starts, settings.curve)
        rivals = Rivals(model, profile, other.criterion)
        clear = clearly_normal(reference, line, rivals, facts, checks, settings.profile)
        if clear is not None:
            facts = _by_row(clear.facts, problem, whole)
            return Examination(clear.fit, facts, whole, normal=True, association=other)
    if order_is_sure and straight and other and _suffices(model, profile, freed, other, checks):
        other = None
    facts = _facts(reference, y, profile, association, checks, both=other is not None)
    if facts.p_value >= (checks.mismatch_p if other is None else checks.mismatch_p_of_two):
        facts = _by_row(with_noise(facts, profile.none, model), problem, whole)
        return Examination(None, facts, whole, normal=False)
    law, found = _consistent_law(reference, model, facts, freed(), profile.shape, checks)
    if association is None and _doubtful(found.facts, checks):
        found = found._replace(facts=replace(found.facts, answer="doubtful"))
    normal = other is None and straight and law.shape == NORMAL and found.holds
    if normal:  # the penalty of the curve would shrink slopes
        flat = NoiseModel(plane(X, y, rows.starts, settings.curve), settings=settings.profile)
        found = found._replace(fit=flat.release(NORMAL, law.fit))
    if other is not None:
        found = without_law(reference, y, found, other.fit, checks)
    if not found.holds:
        found = found._replace(facts=with_noise(found.facts, profile.none, model))
    facts = _by_row(found.facts, problem, whole)
    return Examination(found.fit, facts, whole, normal, association)


def _association(curve: Curve, rows: Problem, settings: SearchSettings) -> Association | None:
    """The second description of the labels.

    Labels that stay in blocks, or beside known rows, have no one distribution to be compared with.
    """
    if rows.n_blocks > 1 or rows.n_movable < rows.n_rows:
        return None
    return associate(curve, settings.association)


def _suffices(
    model: NoiseModel,
    profile: RateProfile,
    freed: Callable[[], list[FreeLaw]],
    other: Association,
    checks: CheckSettings,
) -> bool:
    """Whether a law of the noise describes the pairs, so that the association is not needed.

    Normal noise, the simplest law, is given up only for an association that is decisively better;
    any other law must be so itself. Tied fits of a right law can lie behind, because least squares
    as given is imprecise where many labels were exchanged; so the free fit counts too.
    """

    def ahead(shape: NoiseShape, found: NoiseFit) -> bool:
        margin = checks.decisive if shape == NORMAL else -checks.decisive
        return of_pairs(model, shape, found) < other.criterion + margin

    if ahead(profile.shape, profile.best):
        return True
    law = freed()[0]
    return law.shape == NORMAL and ahead(law.shape, law.fit)


def _consistent_law(
    reference: LeastSquares,
    model: NoiseModel,
    facts: MismatchFit,
    laws: list[FreeLaw],
    chosen: NoiseShape,
    checks: CheckSettings,
) -> tuple[FreeLaw, Candidate]:
    """The best law whose fit least squares does not contradict; the best of all if there is none.

    Heavy tails look like more mismatches to a simple law, which can be more likely than the law
    `chosen` by tied fits. Another law that is decisively worse than the best is not considered.
    """
    worst = criterion(laws[0].shape, laws[0].fit) + checks.decisive
    near = [law for law in laws if law.shape == chosen or criterion(law.shape, law.fit) < worst]
    found = [under_law(reference, model, facts, law, checks) for law in near]
    first = next((k for k, candidate in enumerate(found) if candidate.holds), 0)
    return near[first], found[first]


def _doubtful(facts: MismatchFit, checks: CheckSettings) -> bool:
    """Whether noise that grows explains nearly as much as mismatches do."""
    weak = facts.gain < checks.doubtful_gain and facts.r_squared < checks.doubtful_r_squared
    return facts.spread_by_fit and weak


def _facts(
    reference: LeastSquares,
    y: FloatArray,
    profile: RateProfile,
    association: Association | None,
    checks: CheckSettings,
    *,
    both: bool,
) -> MismatchFit:
    """What holds whatever the answer will be.

    If `both` descriptions must show mismatches, the weaker evidence counts. The limit of the rate
    is always the larger one: that of the profile takes least squares for exact, and is too low
    where many labels were exchanged.
    """
    residual = y - reference.solve(y).fitted
    there: list[RateProfile | Association] = [profile]
    if association is not None:
        there.append(association)
    described = there if both else there[:1]
    return MismatchFit(
        answer="none",
        p_value=max(found.p_value for found in described),
        rate=profile.best.rate,
        rate_limit=max(found.upper_limit for found in there),
        radius=radius_of(reference, y),
        tail_share=tail_share(residual, checks.tail_scales),
        largest_share=largest_share(reference, y),
        gain=min(found.statistic for found in described) / len(y),
        r_squared=r_squared(reference, y),
        noise=profile.shape.name,
        spread_by_fit=profile.shape.by_fit,
        consistency=None,
        pit_distance=NAN,
        off_proba=None,
        two_models=both,
        agreement=NAN,
    )


def _by_row(facts: MismatchFit, problem: Problem, whole: bool) -> MismatchFit:
    """Probabilities in the user's order; a sample has none."""
    off = problem.restore(facts.off_proba) if whole and facts.off_proba is not None else None
    return replace(facts, off_proba=off)


def _sample(problem: Problem, many: int) -> Problem:
    """All rows, or whole groups of a large table, or every k-th row of one large group."""
    step = -(-problem.n_rows // many)
    if step == 1:
        return problem
    if problem.n_blocks > step:
        return problem.thinned(step)
    rows = np.arange(0, problem.n_rows, step)
    starts = np.searchsorted(rows, problem.starts).astype(np.int64)
    X = problem.X[problem.user_rows(rows)]
    return Problem(X, problem.y[rows], starts, None, problem.n_groups)
