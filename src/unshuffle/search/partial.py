"""Initial values where rows and labels are in unequal numbers: a population search, and nulls.

Steps and objective are those of `partial_landscape`; among the optima found, `partial_choice` takes
the one with most posterior mass.
"""

import math
from collections.abc import Callable
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..data.unequal import UnequalProblem
from ..kernels.streams import FIRST_NULL, null_seed, numbered_generator
from ..kernels.types import FloatArray
from .nulls import match_score, null_p_value
from .partial_choice import Followed, most_likely_first
from .partial_landscape import PartialLandscape
from .population import SearchResult, Starts, search_population
from .unrelated import Sampler


def group_mean_start(landscape: PartialLandscape) -> FloatArray:
    """Regression of the mean labels of groups on the means of their rows, shape (1, rank)."""
    tables = landscape.tables
    rows, labels = np.diff(tables.row_starts), np.diff(tables.label_starts)
    means = np.add.reduceat(tables.Z, tables.row_starts[:-1], axis=0) / rows[:, None]
    values = np.add.reduceat(tables.ascending, tables.label_starts[:-1]) / labels
    weight = np.sqrt(np.minimum(rows, labels).astype(float))
    theta = np.linalg.lstsq(means * weight[:, None], values * weight, rcond=1e-10)[0]
    return np.asarray(theta, dtype=np.float64)[None]


def independent_starts(
    landscape: PartialLandscape, count: int, seed: int, number: int, rng: np.random.Generator
) -> FloatArray:
    """Random directions whose fitted values have about the mean and the spread of the labels.

    About: the rows whose labels are given have another mean and another spread than the labels,
    and a descent seldom mends either.
    """
    problem, Z = landscape.problem, landscape.Z
    y, fit_intercept = problem.y, landscape.solver.fit_intercept
    thetas = rng.normal(size=(count, landscape.rank))
    if fit_intercept:
        thetas[:, 0] = 0.0
    spread = np.sqrt(((Z @ thetas.T) ** 2).mean(axis=0))
    label_spread = float(y.std()) if fit_intercept else math.sqrt(float((y**2).mean()))
    differing = abs(problem.n_rows - problem.n_labels) / (problem.n_rows * problem.n_labels)
    error = math.sqrt(differing)  # of a mean, in units of the spread
    scale = np.exp(SPREAD_ERRORS * error * rng.normal(size=count))
    thetas *= (scale * label_spread / np.where(spread > 0.0, spread, 1.0))[:, None]
    if fit_intercept:
        centre = y.mean() + error * label_spread * rng.normal(size=count)
        thetas[:, 0] = centre * len(Z) ** 0.5
    return thetas


# Error of the logarithm of a spread over that of a mean: 0.7 under a normal law, more under others.
SPREAD_ERRORS = 1.5
STARTS = Starts(group_mean_start, independent_starts)


class PartialFinding(NamedTuple):
    """What a search found.

    Attributes
    ----------
    search : SearchResult
    score, p_value : float
        Of the match against unrelated labels; nan without null searches.
    nulls : array
    followed : Followed or None
        Where EM leads from the first optimum; None if it has no rival.
    """

    search: SearchResult
    score: float
    p_value: float
    nulls: FloatArray
    followed: Followed | None


def automatic_budget(landscape: PartialLandscape) -> int:
    """Candidates worth trying: twice as many for each direction that groups leave open."""
    settings, problem = landscape.settings.partial, landscape.problem
    n_open = max(landscape.solver.rank + 1 - problem.n_groups - problem.n_known, 0)
    wanted = settings.candidates << min(n_open, settings.most_doublings)
    return max(min(wanted, affordable_candidates(landscape, settings.most_work)), 2)


def affordable_candidates(landscape: PartialLandscape, work: float) -> int:
    """Candidates that so much work can follow."""
    steps = landscape.settings.population.steps_per_candidate
    return int(work / (landscape.work_per_step * steps))


def explore_partial(
    landscape: PartialLandscape,
    *,
    n_candidates: int,
    seed: int,
    compare: bool,
    bounds: tuple[float, float] = (0.0, 1.0),
    report: Callable[[int, float], None] = lambda tried, objective: None,
) -> PartialFinding:
    """Search, and compare the match found with those of unrelated labels.

    `bounds` are those of the share of rows that have a label.
    """
    found, followed = most_likely_first(
        landscape,
        search_population(
            landscape, n_candidates=n_candidates, seed=seed, report=report, starts=STARTS
        ),
        bounds,
    )
    settings, best = landscape.settings.nulls, float(found.objectives[0])
    if followed is not None:
        # Rivals were compared by their mass. Whether labels and rows are related at all is asked of
        # the lowest optimum, as it is of unrelated labels.
        best = float(found.objectives.min())
    if not compare:
        score = match_score(landscape, found, best)
        return PartialFinding(found, score, float("nan"), np.empty(0), followed)
    work = landscape.settings.partial.null_share * landscape.settings.partial.most_work
    affordable = max(affordable_candidates(landscape, work), 2)
    effort = min(found.n_candidates, settings.most_candidates, affordable)
    # What only the budget ended is compared at equal effort.
    if found.stopped_by == "budget":
        best = max(best, found.objective_after(effort))
    score = match_score(landscape, found, best)
    nulls, p_value = np.empty(0), float("nan")
    for number in range(settings.most):
        rng = numbered_generator(seed, FIRST_NULL + number)
        other = landscape.with_labels(unrelated_labels(landscape.problem, rng))
        search = search_population(
            other, n_candidates=effort, seed=null_seed(seed, number), starts=STARTS
        )
        nulls = np.append(nulls, match_score(other, search, float(search.objectives[0])))
        p_value = null_p_value(score, nulls, settings)
        enough = len(nulls) >= settings.fewest
        if enough and not settings.clear[0] < p_value < settings.clear[1]:
            break
    return PartialFinding(found, score, p_value, nulls, followed)


def unrelated_labels(problem: UnequalProblem, rng: np.random.Generator) -> FloatArray:
    """Labels like those of each group that have nothing to do with the rows; known ones stay."""
    drawn = problem.y.copy()
    for first, last in pairwise(problem.label_starts):
        own = problem.y[first:last]
        if len(own) > 1:
            drawn[first:last] = np.sort(Sampler(own).draw(rng))
    return drawn
