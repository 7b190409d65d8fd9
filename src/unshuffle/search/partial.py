"""Initial values where rows and labels are in unequal numbers: a population search, and nulls.

The local step matches every item of the smaller side of each group (`kernels.partial_em`), so that
all matchings have the same number of pairs. Labels that nobody holds cost their density among the
labels of their group; among the optima found, the one is taken under which they are most likely
with the density that belongs to it.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from ..alignment.partial import spread_inside
from ..data.threads import Workers
from ..data.unequal import UnequalProblem
from ..em.partial import PartialTable
from ..families.least_squares import LeastSquares
from ..kernels.partial_em import PartialTables, descend_partial, hand_out_labels
from ..kernels.streams import FIRST_NULL, null_seed, numbered_generator
from ..kernels.tied_density import log_tied_densities
from ..kernels.types import FloatArray, IntArray
from .nulls import match_score, null_p_value
from .population import SearchResult, Starts, search_population
from .settings import DEFAULT, SearchSettings
from .unrelated import Sampler

FIRST_SCALE = 0.1  # share of the labels' variance that the first step of a search takes for noise


class PartialLandscape:
    """The matched sum of squares as a function of coordinates; see `landscape.Landscape`.

    Attributes
    ----------
    rank : int
        Coordinates, that of the intercept included.
    total : float
        Spread of the labels, as a sum of squares over as many as can be matched.
    """

    def __init__(
        self,
        problem: UnequalProblem,
        solver: LeastSquares,
        workers: Workers,
        settings: SearchSettings = DEFAULT,
    ) -> None:
        self.problem, self.solver, self.workers = problem, solver, workers
        often = settings.partial.found_often
        self.settings = replace(
            settings,
            descent=replace(settings.descent, most_steps=settings.partial.most_steps),
            population=replace(settings.population, found_often=often, found_again=often),
        )
        self.Z = PartialTable(problem, solver, (0.0, 1.0)).Z
        self.rank = self.Z.shape[1]
        known = np.arange(1, problem.n_known + 1)
        starts = (
            np.concatenate([problem.row_starts, problem.n_open_rows + known]),
            np.concatenate([problem.label_starts, problem.n_open_labels + known]),
        )
        self.tables = PartialTables(self.Z, problem.y, prices(problem), *starts)
        self.n_pairs = problem.most_pairs + problem.n_known
        self.total = max(self.n_pairs * float(problem.y.var()), np.finfo(float).tiny)
        rows, labels = np.diff(starts[0]), np.diff(starts[1])
        cells = check_cells(rows, labels, settings.partial.most_cells)
        # Sums for the normal equations cost a visit for every product of two columns.
        self.work_per_step = cells + problem.n_rows * (
            self.rank * (self.rank + 3) // 2 + settings.descent.sort_columns
        )

    def with_labels(self, y: FloatArray) -> "PartialLandscape":
        """The same rows and groups with other (arranged) labels."""
        return PartialLandscape(
            self.problem.with_labels(y), self.solver, self.workers, self.settings
        )

    def descend(
        self,
        thetas: FloatArray,
        n_iter: int,
        *,
        momentum: float = 0.0,
        first_scale: float = FIRST_SCALE,
    ) -> FloatArray:
        """Take up to `n_iter` hard steps from each row of `thetas`, in place.

        The first step takes the share `first_scale` of the labels' variance for noise: 0 stays
        where `thetas` are, more looks farther around. Returns what each explains of `total`.
        """
        objectives = np.full(len(thetas), np.inf)
        scales = np.full(len(thetas), first_scale * self.total / self.n_pairs)
        settled = np.zeros(len(thetas), dtype=np.bool_)
        per_call = max(1, self.settings.descent.work_per_call // self.work_per_step)
        steps = min(per_call, n_iter)
        together = max(1, min(per_call // steps, -(-len(thetas) // (4 * self.workers.n_jobs))))
        tasks = [slice(k, k + together) for k in range(0, len(thetas), together)]
        for done in range(0, n_iter, steps):
            n_steps = min(steps, n_iter - done)

            def advance(rows: slice, n_steps: int = n_steps) -> int:
                return descend_partial(
                    self.tables, thetas[rows], objectives[rows], scales[rows], settled[rows],
                    n_steps, self.settings.descent.smallest_gain, momentum,
                )  # fmt: skip

            self.workers.map(advance, tasks)
            if settled.all():
                break
        return np.asarray(self.total - objectives)

    def match(self, theta: FloatArray) -> IntArray:
        """The label that each row holds at `theta`, or -1; the smaller sides are all matched."""
        partner = np.empty(self.problem.n_rows, dtype=np.int64)
        hand_out_labels(self.tables, self.Z @ theta, 0.0, partner)
        return partner

    def log_likelihood(self, theta: FloatArray) -> float:
        """Of all labels at their match, those of nobody under the density tied to `theta`."""
        problem, partner = self.problem, self.match(theta)
        mu, holds = self.Z @ theta, partner >= 0
        squares = float(((problem.y[partner[holds]] - mu[holds]) ** 2).sum())
        floor = self.settings.nulls.smallest * self.total
        noise = math.sqrt(max(squares, floor) / max(self.n_pairs - self.rank, 1))
        rows, labels = problem.n_open_rows, problem.n_open_labels
        alone = np.ones(problem.n_labels, dtype=np.bool_)
        alone[partner[holds]] = False
        density = np.zeros(labels)
        if alone.any():
            starts = problem.row_starts
            log_tied_densities(
                mu[:rows], problem.y[:labels], starts, problem.label_starts, noise,
                spread_inside(mu[:rows], starts), density,
            )  # fmt: skip
        return float(density[alone[:labels]].sum()) - self.n_pairs * math.log(noise)


def check_cells(rows: IntArray, labels: IntArray, most: int) -> int:
    """Cells of all tables of rows and labels; one that is too large for memory is refused."""
    cells = np.minimum(rows, labels) * (np.abs(rows - labels) + 1)
    largest = int(np.argmax(cells)) if len(cells) else 0
    if len(cells) and cells[largest] > most:
        raise ValueError(
            f"a group has {rows[largest]} rows and {labels[largest]} labels, which are too many to "
            f"be matched ({int(cells[largest]):,} cells, at most {most:,}); use smaller groups, or "
            "a sample of whole groups"
        )
    return int(cells.sum())


def prices(problem: UnequalProblem) -> FloatArray:
    """Minus the log density of each open label among those of its group; known ones cost nothing.

    Less the mean of the group, so that neither units nor the number of labels matter.
    """
    price, labels = np.zeros(problem.n_labels), problem.n_open_labels
    if labels:
        y, starts = problem.y[:labels], problem.label_starts
        spread = spread_inside(y, starts)
        if spread > 0.0:
            log_tied_densities(y, y, starts, starts, 0.0, spread, price[:labels])
            means = np.add.reduceat(price[:labels], starts[:-1]) / problem.group_labels
            price[:labels] = np.repeat(means, problem.group_labels) - price[:labels]
    return price


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
    """

    search: SearchResult
    score: float
    p_value: float
    nulls: FloatArray


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
    report: Callable[[int, float], None] = lambda tried, objective: None,
) -> PartialFinding:
    """Search, and compare the match found with those of unrelated labels."""
    found = most_likely_first(
        landscape,
        search_population(
            landscape, n_candidates=n_candidates, seed=seed, report=report, starts=STARTS
        ),
    )
    settings, best = landscape.settings.nulls, float(found.objectives[0])
    if not compare:
        score = match_score(landscape, found, best)
        return PartialFinding(found, score, float("nan"), np.empty(0))
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
    return PartialFinding(found, score, p_value, nulls)


def most_likely_first(landscape: PartialLandscape, found: SearchResult) -> SearchResult:
    """The same optima, that under which all labels are most likely before the others."""
    likely = [landscape.log_likelihood(theta) for theta in found.thetas]
    best = int(np.argmax(likely))
    order = [best, *(k for k in range(len(likely)) if k != best)]
    return replace(
        found,
        thetas=found.thetas[order],
        objectives=found.objectives[order],
        n_found=found.n_found[order],
    )


def unrelated_labels(problem: UnequalProblem, rng: np.random.Generator) -> FloatArray:
    """Labels like those of each group that have nothing to do with the rows; known ones stay."""
    drawn = problem.y.copy()
    for first, last in pairwise(problem.label_starts):
        own = problem.y[first:last]
        if len(own) > 1:
            drawn[first:last] = np.sort(Sampler(own).draw(rng))
    return drawn
