"""Choose family and start of a fit to labels in lost order by the density of held-out groups.

Labels of a group left out are scored as a set (`predictive`), which needs no order. Densities of
families can be compared where they are densities of the same kind: of counts, or of numbers.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ...data.threads import Workers
from ...families.exponential import LabelFamily
from ...families.irls import maximise
from ...kernels.types import FloatArray
from ..choice import ChoiceSettings, losses, plainest_near_best
from ..folds import fold_rows
from ..progress import Progress, Reporting, quiet
from .data import GlmData
from .group_sums import fit_group_sums
from .known import KnownFit, fit_known
from .lost_chain import run_chain
from .predictive import family_densities
from .resample import take_groups

SUMS, GIVEN = "sums of groups", "labels as given"


class FamilySetting(NamedTuple):
    """One way to fit: the law of the labels, and where the chain starts."""

    family: LabelFamily
    start: str


@dataclass(frozen=True, eq=False)
class FamilyChoice:
    """Scores of all settings on held-out groups, the plainest first; attributes as `Choice`."""

    settings: list[FamilySetting]
    gains: FloatArray
    lost: FloatArray
    lost_error: FloatArray
    chosen: int
    best: int


def choose_family(
    data: GlmData,
    families: list[LabelFamily],
    choice: ChoiceSettings,
    *,
    seed: int,
    workers: Workers,
    names: list[str] | None = None,
    reporting: Reporting = quiet,
) -> FamilyChoice:
    """Fit every setting without each fold of groups in turn, and score that fold."""
    settings = [FamilySetting(family, start) for family in families for start in (SUMS, GIVEN)]
    fold_of_row, n_folds = fold_rows(data.problem, choice.n_folds, seed)
    gains, by_group = np.empty((len(settings), n_folds)), []
    total = n_folds * len(settings)
    with reporting(total, "fits to part of the groups") as report:
        for fold in range(n_folds):
            train = take_groups(data, fold_of_row != fold)
            test = take_groups(data, fold_of_row == fold)
            null, densities = _without_features(test, families[0]), []
            for k, setting in enumerate(settings):
                known = fit_known(train, setting.family, names=names)
                start = start_of(train, setting, known)
                fit = run_chain(train, setting.family, start, known.precision, seed, workers)
                eta = test.offset + test.Z @ fit.theta
                found = family_densities(
                    test, setting.family, eta, fit.precision, seed=seed, workers=workers
                )
                densities.append(np.append(found.blocks, found.pinned))
                gains[k, fold] = (found.total - null) / test.problem.n_rows
                report(Progress(fold * len(settings) + k + 1, total))
            by_group.append(np.array(densities))
    lost, error = losses(np.concatenate(by_group, axis=1))
    chosen = plainest_near_best(lost, error, choice)
    return FamilyChoice(settings, gains, lost, error, chosen, int(np.argmin(lost)))


def start_of(data: GlmData, setting: FamilySetting, known: KnownFit) -> FloatArray:
    """Coordinates from which a chain starts; the labels as given where sums say nothing."""
    if setting.start == SUMS:
        flat = np.zeros_like(known.theta)
        if data.design.fit_intercept:
            flat[0] = known.theta[0]
        sums = fit_group_sums(data, setting.family, known.precision, flat)
        if sums is not None:
            return sums.theta
    return known.theta


def _without_features(data: GlmData, family: LabelFamily) -> float:
    """Log density of the labels under a model that has an intercept alone."""
    ones, sums = np.ones((len(data.y), 1)), data.y[:, None]
    found = maximise(family, ones, data.offset, data.weights, sums)
    precision = family.fit_precision(data.y, found.eta, data.weights, 1)
    return float(family.log_density(data.y, found.eta, precision).sum())
