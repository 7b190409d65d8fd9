"""Initial values where the order is lost: search, prove if possible, and test the match found."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np

from ..alignment.state import State
from ..data.problem import Problem
from ..em.memory import start_from_labels
from ..families.least_squares import LeastSquares
from ..kernels.types import FloatArray
from .certify import certify
from .landscape import Landscape
from .nulls import Comparison, compare_with_unrelated
from .population import SearchResult, search_population
from .recovery import refit_distances, usual_distance
from .settings import DEFAULT, SearchSettings


class Stage(NamedTuple):
    """How far a search has come: candidates (or, with a total of 0, nulls) done, best objective."""

    done: int
    total: int
    objective: float


@dataclass(frozen=True, eq=False)
class Finding:
    """What a search found, and how it compares with unrelated labels.

    Attributes
    ----------
    search : SearchResult
        Distinct optima, the best first.
    lower_bound : float
        No matching has a smaller sum of squares; 0 where nothing was proved.
    certified : bool
        Whether the best optimum was proved to be the global one.
    score : float
        How low the best match is, in logarithms; nan where it was not compared.
    nulls : array
        Scores of the best matches for unrelated labels; empty where they were not asked for.
    p_value : float
        Probability of matching unrelated labels as well; nan without nulls.
    settings : SearchSettings
    """

    search: SearchResult
    lower_bound: float
    certified: bool
    score: float
    nulls: FloatArray
    p_value: float
    settings: SearchSettings = DEFAULT

    @property
    def stands_apart(self) -> bool:
        """Whether the best match is far below all others."""
        left = self.search.objectives
        return len(left) > 1 and bool(left[1] >= self.settings.match.far_below * left[0])

    @property
    def beats_unrelated(self) -> bool:
        """Whether the match found is better than matches of unrelated labels."""
        match = self.settings.match
        return self.p_value < (match.doubtful if self.stands_apart else match.likely)

    @property
    def may_hold(self) -> bool:
        """Whether a fit from here is worth a trial: it may be right if searches agree on it."""
        agreed = self.search.n_found[0] >= self.settings.population.found_again
        return self.beats_unrelated or bool(agreed and self.p_value < self.settings.match.agreed)

    def holds(self, distances: FloatArray) -> bool:
        """Whether it is sure enough, given how far refits end from the fit."""
        sure = self.p_value < self.settings.match.sure or self.stands_apart
        return sure or usual_distance(distances) < self.settings.match.refit_distance


def refit(landscape: Landscape, state: State, seed: int) -> FloatArray:
    """How far refits to labels simulated from a fit end from it, as a share of its length."""
    settings = landscape.settings.match
    few = landscape.rank <= settings.few_directions
    return refit_distances(
        landscape,
        landscape.theta_of(state.fitted),
        state.noise_scale,
        n_simulations=settings.refits_of_few if few else settings.refits,
        n_candidates=settings.refit_candidates,
        seed=seed,
    )


def explore(
    landscape: Landscape,
    *,
    n_candidates: int,
    seed: int,
    compare: bool,
    report: Callable[[Stage], None],
) -> Finding:
    """Search with at most `n_candidates`; `compare` with unrelated labels.

    A match that was not found often and is no better than those of unrelated labels is no reason to
    stop: then the search is made again with the whole budget.
    """

    def tried(done: int, objective: float) -> None:
        report(Stage(done, n_candidates, objective))

    search = partial(
        search_population, landscape, n_candidates=n_candidates, seed=seed, report=tried
    )
    finding = _judge(landscape, search(), seed, compare, report)
    found = finding.search
    often = found.n_found[0] >= landscape.settings.population.found_often
    if compare and found.stopped_by == "found again" and not often and not finding.beats_unrelated:
        finding = _judge(landscape, search(patience=1.0), seed, compare, report)
    return finding


def _judge(
    landscape: Landscape,
    found: SearchResult,
    seed: int,
    compare: bool,
    report: Callable[[Stage], None],
) -> Finding:
    """Prove the optimum if there are few directions, and compare it with unrelated labels."""
    bound, certified = 0.0, False
    proof = certify(landscape, found.thetas[0])
    if proof is not None:
        bound, certified = proof.lower_bound, proof.certified
        found = _put_first(landscape, found, proof.theta)
    compared = Comparison(float("nan"), np.empty(0), float("nan"))
    if compare:

        def count(done: int) -> None:
            report(Stage(done, 0, float(found.objectives[0])))

        compared = compare_with_unrelated(landscape, found, seed=seed, report=count)
    return Finding(found, bound, certified, *compared, landscape.settings)


def _put_first(landscape: Landscape, found: SearchResult, theta: FloatArray) -> SearchResult:
    """The proved optimum takes the place of the best one found."""
    thetas, objectives = found.thetas.copy(), found.objectives.copy()
    thetas[0] = theta
    objectives[0] = min(float(objectives[0]), landscape.total - float(theta @ theta))
    return replace(found, thetas=thetas, objectives=objectives)


def cautious_ridge(problem: Problem, solver: LeastSquares) -> float:
    """The ridge that fits the spread of the coefficients, from the labels as given.

    Noise variance over the variance of standardised coefficients, per row (Hoerl, Kennard and
    Baldwin 1975); what noise adds to the squares of the coefficients is taken off first.
    """
    start = start_from_labels(problem, solver, problem.y)
    spread, noise = problem.X.std(axis=0), start.noise_scale**2
    squared = float(((start.coef * spread) ** 2).sum())
    if squared == 0.0:
        return 0.0
    from_noise = noise * float(((solver.to_coef * spread[:, None]) ** 2).sum())
    return solver.rank * noise / (problem.n_rows * max(squared - from_noise, 0.1 * squared))
