"""Global search: a population of distinct local optima of the matched sum of squares.

Each round makes candidates (random directions, random shuffles, and children of the population),
takes a few hard steps from each, abandons all but the best fifth, and follows those down. What
they end in joins the population. Children are a member, plus the difference of two others in six
cases of ten, plus a Gaussian step of random length; all in coordinates whose distances are those of
fitted values. The search ends when the best optimum was found again from independent starts, when
it stands out from all others, or when the budget of candidates is used up.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from ..kernels.streams import FIRST_ROUND, numbered_generator
from ..kernels.types import FloatArray, IntArray
from .landscape import Landscape
from .restarts import draw_shuffles
from .settings import SearchSettings
from .starts import deterministic_starts, free_dimensions

Report = Callable[[int, float], None]


class Searchable(Protocol):
    """What is searched: a function of coordinates with many local optima."""

    settings: SearchSettings
    rank: int
    total: float

    def descend(self, thetas: FloatArray, n_iter: int, *, momentum: float = 0.0) -> FloatArray:
        """Follow each row of `thetas` down, in place; return what each explains of `total`."""
        ...


class Starts(NamedTuple):
    """Where descents start.

    Attributes
    ----------
    certain : callable
        Starts that are not drawn, from what is searched.
    independent : callable
        Random ones, from what is searched, their count, the seed, the number of the first, and a
        generator.
    """

    certain: Callable[[Any], FloatArray]
    independent: Callable[[Any, int, int, int, np.random.Generator], FloatArray]


@dataclass(frozen=True, eq=False)
class SearchResult:
    """Distinct local optima, the best first.

    Attributes
    ----------
    thetas : array of shape (n_optima, rank)
        In the coordinates of the landscape.
    objectives : array of shape (n_optima,)
        Matched sums of squares.
    n_found : array of shape (n_optima,)
        How often each was reached from independent starts.
    n_candidates : int
        Candidates tried.
    stopped_by : str
        "found again", "stands out" or "budget".
    path : list of (int, float)
        Candidates tried and lowest objective after each round.
    typical : float
        Median objective that the independent starts of the first round ended with.
    """

    thetas: FloatArray
    objectives: FloatArray
    n_found: IntArray
    n_candidates: int
    stopped_by: str
    path: list[tuple[int, float]]
    typical: float

    def objective_after(self, n_candidates: int) -> float:
        """The lowest objective when `n_candidates` had been tried, or the first known one."""
        reached = [objective for tried, objective in self.path if tried <= n_candidates]
        return reached[-1] if reached else self.path[0][1]


def automatic_budget(landscape: Landscape) -> int:
    """Candidates worth trying: twice as many for each direction that group means leave open."""
    free, settings = free_dimensions(landscape), landscape.settings.population
    hopeful = free <= settings.hopeful_directions
    doublings = min(free, settings.most_doublings) if hopeful else settings.doublings_beyond
    wanted = int(settings.candidates * 2.0**doublings)
    return max(min(wanted, affordable_candidates(landscape, free)), 2)


def affordable_candidates(landscape: Landscape, free: int, share: float = 1.0) -> int:
    """Candidates that a share of the allowed work can follow, with so many open directions."""
    settings = landscape.settings.population
    hopeful = free <= settings.hopeful_directions
    work = settings.most_work if hopeful else settings.most_work_beyond
    return int(share * work / (landscape.work_per_step * settings.steps_per_candidate))


def search_population(
    landscape: Searchable,
    *,
    n_candidates: int,
    seed: int,
    report: Report = lambda tried, objective: None,
    patience: float | None = None,
    starts: Starts | None = None,
) -> SearchResult:
    """Search for the best matching with at most `n_candidates` starting points.

    From the share `patience` of the budget on, fewer independent finds of the best optimum are
    enough to stop. `starts` are those of a `Landscape` unless others are given.

    `report` gets the number of candidates tried and the lowest objective so far, once a round. The
    outcome depends on the seed alone, not on the threads.
    """
    if n_candidates < 1:
        raise ValueError(f"a search needs at least one candidate, got n_candidates={n_candidates}")
    settings, population = landscape.settings.population, _Population(landscape)
    starts = Starts(deterministic_starts, _independent) if starts is None else starts
    patience = settings.patience if patience is None else patience
    certain = starts.certain(landscape)[:n_candidates]
    population.add(*_follow(landscape, certain), independent=False)
    tried, round_number = len(certain), 0
    path, typical = [(tried, population.lowest)], list[float]()
    size = max(n_candidates // settings.share_per_round, settings.smallest_round)
    size = min(size, settings.largest_round)
    stopped_by = population.stop_reason(tried, patience * n_candidates)
    while stopped_by == "budget" and tried < n_candidates:
        rng = numbered_generator(seed, FIRST_ROUND + round_number)
        size = min(size, n_candidates - tried)
        n_children = size // 2 if round_number else 0
        fresh = starts.independent(landscape, size - n_children, seed, tried, rng)
        ends = _follow(landscape, fresh)
        population.add(*ends, independent=True)
        typical.append(landscape.total - float(np.median(ends[1])))
        if n_children:
            children = population.children(n_children, rng)
            population.add(*_follow(landscape, children), independent=False)
        tried, round_number = tried + size, round_number + 1
        path.append((tried, population.lowest))
        report(*path[-1])
        stopped_by = population.stop_reason(tried, patience * n_candidates)
    return SearchResult(
        population.thetas,
        landscape.total - population.explained,
        population.n_found,
        tried,
        stopped_by,
        path,
        typical[0] if typical else population.lowest,
    )


def _independent(
    landscape: Landscape, count: int, seed: int, number: int, rng: np.random.Generator
) -> FloatArray:
    """Random directions; half of them random shuffles where groups hold part of the answer."""
    thetas = rng.normal(size=(count, landscape.rank))
    if landscape.problem.n_groups > 1:
        draw_shuffles(landscape, seed, number, thetas[: count // 2])
    return thetas


def _follow(landscape: Searchable, thetas: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Take a few steps from all candidates, then follow the best of them to the end."""
    settings, most_steps = landscape.settings.population, landscape.settings.descent.most_steps
    if len(thetas) * settings.surviving >= 2:
        explained = landscape.descend(thetas, settings.screening_steps, momentum=settings.momentum)
        best = np.argsort(-explained, kind="stable")[: int(len(thetas) * settings.surviving)]
        thetas = thetas[best]
    return thetas, landscape.descend(thetas, most_steps, momentum=settings.momentum)


class _Population:
    """Distinct optima, the best first, and how often each was found from independent starts."""

    def __init__(self, landscape: Searchable) -> None:
        self.landscape, self.settings = landscape, landscape.settings.population
        self.length = landscape.total**0.5
        self.thetas = np.empty((0, landscape.rank))
        self.explained = np.empty(0)
        self.n_found = np.empty(0, dtype=np.int64)

    @property
    def lowest(self) -> float:
        """The best objective so far."""
        return self.landscape.total - float(self.explained[0])

    def add(self, thetas: FloatArray, explained: FloatArray, *, independent: bool) -> None:
        """Take in the ends of descents; those near a member replace it if they are better."""
        for k in np.argsort(-explained, kind="stable"):
            distance = np.linalg.norm(self.thetas - thetas[k], axis=1)
            near = np.flatnonzero(distance < self.settings.distance * self.length)
            if not len(near):
                self.thetas = np.vstack([self.thetas, thetas[k]])
                self.explained = np.append(self.explained, explained[k])
                self.n_found = np.append(self.n_found, int(independent))
                continue
            member = near[np.argmax(self.explained[near])]
            self.n_found[member] += independent
            if explained[k] > self.explained[member]:
                self.thetas[member], self.explained[member] = thetas[k], explained[k]
        best = np.argsort(-self.explained, kind="stable")[: self.settings.size]
        self.thetas, self.explained = self.thetas[best], self.explained[best]
        self.n_found = self.n_found[best]

    def children(self, count: int, rng: np.random.Generator) -> FloatArray:
        """Members moved by differences of members and by Gaussian steps."""
        n, rank = self.thetas.shape
        parent, one, other = rng.integers(n, size=(3, count))
        differs = rng.random(count) < self.settings.difference_share
        share = np.where(differs, rng.uniform(0.3, 1.0, size=count), 0.0)
        shortest = np.log(self.settings.shortest_step)
        step = np.exp(rng.uniform(shortest, 0.0, size=count)) * self.length / rank**0.5
        children: FloatArray = self.thetas[parent] + share[:, None] * (
            self.thetas[one] - self.thetas[other]
        )
        children += step[:, None] * rng.normal(size=(count, rank))
        return children

    def stop_reason(self, tried: int, patience: float) -> str:
        """Why the search may stop now; "budget" when only the budget can end it."""
        settings = self.settings
        enough = settings.found_again if tried >= patience else settings.found_often
        if self.n_found[0] >= enough:
            return "found again"
        left = self.landscape.total - self.explained[:2]
        alone = len(left) < 2 or left[1] >= settings.stands_out * left[0]
        if tried >= settings.least_tried and alone:
            return "stands out"
        return "budget"
