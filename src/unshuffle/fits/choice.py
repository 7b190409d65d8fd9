"""Choose how to fit labels in lost order by the density of held-out groups.

Which start, how much noise the labels are aligned with (temper) and which ridge: none can be judged
by the labels that were fitted. Whole groups are left out in turn, and the labels of these are
scored as sets (`inference.predictive`), which needs no order.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..alignment.state import State
from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..inference.law_likelihood import label_densities
from ..inference.predictive import normal_log_density
from ..kernels.types import FloatArray
from ..search.landscape import Landscape
from ..search.lost import cautious_ridge
from ..search.population import automatic_budget, search_population
from .data import InMemory
from .folds import check_rows_left, fold_rows, take_rows
from .noise_law import fit_with_law
from .progress import Progress, Reporting, quiet
from .results import StochasticFit
from .settings import AutoSettings, StochasticSettings
from .stochastic import fit_stochastic

MATCH, GIVEN = "match", "labels as given"


class Setting(NamedTuple):
    """One way to fit: where EM starts, how it aligns and shrinks, and the law of the noise."""

    start: str
    temper: float
    ridge: float
    noise: str = "normal"


@dataclass(frozen=True)
class ChoiceSettings:
    """What is compared, and how.

    Attributes
    ----------
    n_folds : int
    starts : tuple of str
    tempers : tuple of float
    ridges : tuple of float or None
        None: none, and the one that fits the spread of the coefficients as given.
    noises : tuple of str
        Laws of the noise. Others than "normal" are fitted from the best match, without temper and
        ridge.
    rule : {"one-standard-error", "best"}
    most_candidates : int
        Of the search in each fold: a fold needs a start, not a proof.
    fewest_groups : int
        With fewer, a fold is a large part of the data and unlike the rest: nothing is chosen.
    immaterial : float
        Log density of all held-out labels together that no standard error makes a difference: the
        Monte Carlo error of the chains alone moves it by as much.
    """

    n_folds: int = 5
    starts: tuple[str, ...] = (MATCH, GIVEN)
    tempers: tuple[float, ...] = (1.0, 1.5)
    ridges: tuple[float, ...] | None = None
    noises: tuple[str, ...] = ("normal",)
    rule: str = "one-standard-error"
    most_candidates: int = 500
    fewest_groups: int = 8
    immaterial: float = 2.0


# Less temper than 1.5 is not compared: the density of held-out labels assumes normal noise as the
# fit does, and so cannot see that noise of another law misleads a fit that follows labels closely.
CAUTIOUS = ChoiceSettings(n_folds=3, starts=(GIVEN,), tempers=(1.5, 3.0), rule="best")
CAUTIOUS_RIDGES = (0.0, 1.0, 4.0)  # as multiples of the one that fits the spread of coefficients


@dataclass(frozen=True, eq=False)
class Choice:
    """Scores of all settings on held-out groups, the plainest setting first.

    Attributes
    ----------
    settings : list of Setting
    gains : array of shape (n_settings, n_folds)
        Gain in log density per held-out label over a normal without features.
    lost, lost_error : arrays of shape (n_settings,)
        Log density lost against the best setting, summed over groups, and its standard error.
    chosen, best : int
    """

    settings: list[Setting]
    gains: FloatArray
    lost: FloatArray
    lost_error: FloatArray
    chosen: int
    best: int

    @property
    def setting(self) -> Setting:
        """The setting chosen."""
        return self.settings[self.chosen]


def choose_setting(
    data: InMemory,
    settings: AutoSettings,
    choice: ChoiceSettings,
    *,
    reporting: Reporting = quiet,
) -> Choice:
    """Fit every setting without each fold of groups in turn, and score that fold."""
    problem = data.problem
    candidates = _settings(problem, settings, choice)
    fold_of_row, n_folds = fold_rows(problem, choice.n_folds, settings.seed)
    gains = np.empty((len(candidates), n_folds))
    by_group: list[FloatArray] = []
    total = n_folds * len(candidates)
    with reporting(total, "fits to part of the groups") as report:
        for fold in range(n_folds):
            held = fold_of_row == fold
            train, test = take_rows(problem, ~held), take_rows(problem, held)
            check_rows_left(train, settings.fit_intercept)
            null, densities = normal_log_density(test.y), []
            for done, state in enumerate(_fits(train, data, candidates, settings, choice), 1):
                fitted = test.X @ state.coef + state.intercept
                found = label_densities(
                    test, fitted, state.noise_scale, state.law, seed=settings.seed,
                    workers=data.workers,
                )  # fmt: skip
                densities.append(np.append(found.blocks, found.pinned))
                gains[done - 1, fold] = (found.total - null) / test.n_rows
                report(Progress(fold * len(candidates) + done, total))
            by_group.append(np.array(densities))
    lost, error = losses(np.concatenate(by_group, axis=1))
    chosen = plainest_near_best(lost, error, choice)
    return Choice(candidates, gains, lost, error, chosen, int(np.argmin(lost)))


def choose_cautious(
    data: InMemory, settings: AutoSettings, ridge: float, *, reporting: Reporting = quiet
) -> Choice | None:
    """Temper and ridge of a fit that starts from no match; None where there are few groups."""
    problem = data.problem
    spare = problem.n_rows // 2 > problem.X.shape[1]  # a fold holds about a third of the rows
    if problem.n_groups < CAUTIOUS.fewest_groups or not spare:
        return None
    ridges = tuple(ridge * multiple for multiple in CAUTIOUS_RIDGES)
    return choose_setting(data, settings, replace(CAUTIOUS, ridges=ridges), reporting=reporting)


def _settings(problem: Problem, settings: AutoSettings, choice: ChoiceSettings) -> list[Setting]:
    """All combinations, the plainest first: normal noise as it is, no shrinkage, the best match."""
    solver = LeastSquares(problem.X, fit_intercept=settings.fit_intercept)
    ridges = choice.ridges if choice.ridges is not None else (0.0, cautious_ridge(problem, solver))
    normal = [
        Setting(start, temper, ridge)
        for ridge in sorted(set(ridges))
        for temper in sorted(set(choice.tempers))
        for start in choice.starts
    ]
    others = [Setting(MATCH, 1.0, 0.0, noise) for noise in choice.noises if noise != "normal"]
    return (normal if "normal" in choice.noises else []) + others


def _fits(
    train: Problem,
    data: InMemory,
    candidates: list[Setting],
    settings: AutoSettings,
    choice: ChoiceSettings,
) -> Iterator[State]:
    """The end of every candidate's fit; one search serves all that start from a match."""
    solver = LeastSquares(train.X, fit_intercept=settings.fit_intercept)
    match = None
    for setting in candidates:
        init = None
        if setting.start == MATCH:
            if match is None:
                match = best_match(train, solver, data, settings, choice.most_candidates)
            init = match
        fit = fit_part(train, solver, data, settings, setting, init)
        if setting.noise != "normal":
            asked = replace(settings, noise=setting.noise)
            fit = fit_with_law(InMemory(train, data.workers), fit, solver, asked)[0]
        assert fit.permutations is not None
        yield fit.permutations.state


def best_match(
    train: Problem,
    solver: LeastSquares,
    data: InMemory,
    settings: AutoSettings,
    most_candidates: int,
) -> FloatArray:
    """Coefficients of the best match that a search of a part of the groups finds."""
    landscape = Landscape(train, solver, data.workers, settings.searching)
    budget = min(automatic_budget(landscape), most_candidates)
    found = search_population(landscape, n_candidates=budget, seed=settings.seed)
    return landscape.state(found.thetas[0]).coef


def fit_part(
    train: Problem,
    solver: LeastSquares,
    data: InMemory,
    settings: AutoSettings,
    setting: Setting,
    init: FloatArray | None,
) -> StochasticFit:
    """Stochastic EM on a part of the groups."""
    return fit_stochastic(
        InMemory(train, data.workers),
        StochasticSettings(
            settings.seed,
            max_iter=settings.em.iteration.max_iter,
            init=init,
            alignment=settings.alignment,
            temper=setting.temper,
            ridge=setting.ridge,
            fit_intercept=settings.fit_intercept,
            covariance="model",
            em=settings.em,
        ),
        solver=solver,
    )


def losses(by_group: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Density lost against the best setting, and its standard error from the groups."""
    best = int(np.argmax(by_group.sum(axis=1)))
    lost = by_group[best] - by_group
    n_groups = by_group.shape[1]
    return lost.sum(axis=1), lost.std(axis=1, ddof=1) * n_groups**0.5


def plainest_near_best(lost: FloatArray, error: FloatArray, choice: ChoiceSettings) -> int:
    """The first setting that loses no more than its standard error, or the best one."""
    limit = np.maximum(error, choice.immaterial) if choice.rule == "one-standard-error" else 0.0
    return int(np.flatnonzero(lost <= limit)[0])
