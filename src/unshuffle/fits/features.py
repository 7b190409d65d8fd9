"""Choose features where the order of labels is lost: a lasso path, scored by held-out groups.

In each fold the model with all features is fitted to the other groups, which gives expected labels.
The lasso path of these says in which order features come in. With each number of features the model
is fitted again, and the labels held out are scored as sets.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from ..data.problem import Problem
from ..em.memory import start_from_labels
from ..families.least_squares import LeastSquares
from ..inference.predictive import group_log_densities, normal_log_density
from ..kernels.types import FloatArray, IntArray
from .choice import (
    MATCH,
    ChoiceSettings,
    Setting,
    best_match,
    fit_part,
    losses,
    plainest_near_best,
)
from .data import InMemory
from .folds import check_rows_left, fold_rows, take_rows
from .progress import Progress, Reporting, quiet
from .results import StochasticFit
from .settings import AutoSettings

PLAIN = Setting(MATCH, 1.0, 0.0)
# From a problem, labels in the order of its rows and a largest number: features for each number.
Supports: TypeAlias = Callable[[Problem, FloatArray, int], list[IntArray]]


@dataclass(frozen=True, eq=False)
class FeatureChoice:
    """Scores of all numbers of features on held-out groups, no feature first.

    Attributes
    ----------
    gains : array of shape (n_sizes, n_folds)
        Gain in log density per held-out label over a normal without features.
    lost, lost_error : arrays of shape (n_sizes,)
        Log density lost against the best number, summed over groups, and its standard error.
    chosen, best : int
        Entries, which are numbers of features.
    support : array of int
        The features chosen, in the order of the columns.
    """

    gains: FloatArray
    lost: FloatArray
    lost_error: FloatArray
    chosen: int
    best: int
    support: IntArray


def choose_features(
    data: InMemory,
    settings: AutoSettings,
    choice: ChoiceSettings,
    most_features: int,
    supports: Supports,
    *,
    reporting: Reporting = quiet,
) -> FeatureChoice:
    """Score every number of features on folds of groups; take the path of all groups to it."""
    problem = data.problem
    fold_of_row, n_folds = fold_rows(problem, choice.n_folds, settings.seed)
    gains, by_group = np.empty((most_features + 1, n_folds)), list[FloatArray]()
    with reporting(n_folds + 1, "lasso paths") as report:
        for fold in range(n_folds):
            held = fold_of_row == fold
            train, test = take_rows(problem, ~held), take_rows(problem, held)
            check_rows_left(train, settings.fit_intercept)
            null, densities = normal_log_density(test.y), []
            full = _fit_all(train, data, settings, choice)
            for size, columns in enumerate(supports(train, _labels(full), most_features)):
                coef, intercept, noise = _fit_some(train, columns, _labels(full), data, settings)
                fitted = test.X[:, columns] @ coef + intercept
                found = group_log_densities(
                    test, fitted, noise, seed=settings.seed, workers=data.workers
                )
                densities.append(np.append(found.blocks, found.pinned))
                gains[size, fold] = (found.total - null) / test.n_rows
            by_group.append(np.array(densities))
            report(Progress(fold + 1, n_folds + 1))
        full = _fit_all(problem, data, settings, choice)
        report(Progress(n_folds + 1, n_folds + 1))
    lost, error = losses(np.concatenate(by_group, axis=1))
    chosen = plainest_near_best(lost, error, choice)
    support = np.sort(supports(problem, _labels(full), most_features)[chosen])
    return FeatureChoice(gains, lost, error, chosen, int(np.argmin(lost)), support)


def _labels(fit: StochasticFit) -> FloatArray:
    """Expected labels, in the order of the rows of X."""
    assert fit.matches is not None
    return fit.matches.expected_labels


def _fit_all(
    train: Problem, data: InMemory, settings: AutoSettings, choice: ChoiceSettings
) -> StochasticFit:
    solver = LeastSquares(train.X, fit_intercept=settings.fit_intercept)
    match = best_match(train, solver, data, settings, choice.most_candidates)
    return fit_part(train, solver, data, settings, PLAIN, match)


def _fit_some(
    train: Problem,
    columns: IntArray,
    expected: FloatArray,
    data: InMemory,
    settings: AutoSettings,
) -> tuple[FloatArray, float, float]:
    """Stochastic EM with some features, from least squares on the expected labels of all."""
    if not len(columns):
        centre = float(train.y.mean()) if settings.fit_intercept else 0.0
        return np.empty(0), centre, float(np.sqrt(np.mean((train.y - centre) ** 2)))
    part = replace(train, X=np.ascontiguousarray(train.X[:, columns]))
    solver = LeastSquares(part.X, fit_intercept=settings.fit_intercept)
    start = start_from_labels(part, solver, part.arrange(expected))
    fit = fit_part(part, solver, data, settings, PLAIN, start.coef)
    return fit.coef, fit.intercept, fit.noise_scale
