"""Where to begin when the order is lost: search, prove if possible, and compare with chance."""

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
from .nulls import match_score, null_p_value, null_scores
from .population import FOUND_AGAIN, FOUND_OFTEN, SearchResult, search_population
from .recovery import refit_distances, usual_distance

# An optimum is followed when unrelated labels could hardly be matched as well; when that is less
# sure, but labels simulated from it lead back to it; or when it is doubtful, but the optimum stands
# far below all others, or was found again and labels simulated from it lead back to it.
SURELY_BETTER, BETTER_THAN_CHANCE, AGREED_ON, DOUBTFUL = 0.02, 0.05, 0.15, 0.2
FAR_BELOW = 1.3
LEADS_BACK = 0.2  # distance of refits, as a share of the coefficients' length
# Simulations of a fit: more where they are cheap and the sign of a slope may be all that is lost.
N_SIMULATIONS, FEW_DIRECTIONS, N_SIMULATIONS_FEW = 3, 3, 9
SIMULATED_CANDIDATES = 500

# How far the noise is inflated where no match is followed.
CAUTIOUS_TEMPER = 1.5

# Candidates of each null search: what most searches need, and no more than the search itself.
NULL_CANDIDATES = 1_000


class Stage(NamedTuple):
    """How far a search has come: candidates (or, with a total of 0, nulls) done, best objective."""

    done: int
    total: int
    objective: float


@dataclass(frozen=True, eq=False)
class Finding:
    """What a search found and how far it can be believed.

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
        Chance of matching unrelated labels as well; nan without nulls.
    """

    search: SearchResult
    lower_bound: float
    certified: bool
    score: float
    nulls: FloatArray
    p_value: float

    @property
    def stands_apart(self) -> bool:
        """Whether the best match is far below all others."""
        left = self.search.objectives
        return len(left) > 1 and bool(left[1] >= FAR_BELOW * left[0])

    @property
    def beats_chance(self) -> bool:
        """Whether the match found says more than a match of unrelated labels would."""
        return self.p_value < (DOUBTFUL if self.stands_apart else BETTER_THAN_CHANCE)

    @property
    def may_hold(self) -> bool:
        """Whether a fit from here is worth a trial: it may be right if searches agree on it."""
        agreed = self.search.n_found[0] >= FOUND_AGAIN
        return self.beats_chance or bool(agreed and self.p_value < AGREED_ON)

    def holds(self, distances: FloatArray) -> bool:
        """Whether it says so surely enough, given how far refits end from the fit."""
        sure = self.p_value < SURELY_BETTER or self.stands_apart
        return sure or usual_distance(distances) < LEADS_BACK


def refit(landscape: Landscape, state: State, seed: int) -> FloatArray:
    """How far refits to labels simulated from a fit end from it, as a share of its length."""
    few = landscape.rank <= FEW_DIRECTIONS
    return refit_distances(
        landscape,
        landscape.theta_of(state.fitted),
        state.noise_scale,
        n_simulations=N_SIMULATIONS_FEW if few else N_SIMULATIONS,
        n_candidates=SIMULATED_CANDIDATES,
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

    A match that was not found often and does not beat chance is no reason to stop: then the search
    is made again with the whole budget.
    """

    def tried(done: int, objective: float) -> None:
        report(Stage(done, n_candidates, objective))

    search = partial(
        search_population, landscape, n_candidates=n_candidates, seed=seed, report=tried
    )
    finding = _judge(landscape, search(), seed, compare, report)
    hasty = finding.search.stopped_by == "found again" and finding.search.n_found[0] < FOUND_OFTEN
    if compare and hasty and not finding.beats_chance:
        finding = _judge(landscape, search(patience=1.0), seed, compare, report)
    return finding


def _judge(
    landscape: Landscape,
    found: SearchResult,
    seed: int,
    compare: bool,
    report: Callable[[Stage], None],
) -> Finding:
    """Prove the optimum if there are few directions, and compare it with chance."""
    bound, certified = 0.0, False
    proof = certify(landscape, found.thetas[0])
    if proof is not None:
        bound, certified = proof.lower_bound, proof.certified
        found = _put_first(landscape, found, proof.theta)
    score, nulls = float("nan"), np.empty(0)
    if compare:
        effort = min(found.n_candidates, NULL_CANDIDATES)
        # An optimum that nothing but the budget ended is compared at equal effort: whoever tries
        # longer finds a lower one among many alike.
        best = float(found.objectives[0])
        if found.stopped_by == "budget":
            best = max(best, found.objective_after(effort))
        score = match_score(landscape, found, best)

        def compared(done: int) -> None:
            report(Stage(done, 0, best))

        nulls = null_scores(landscape, score, n_candidates=effort, seed=seed, report=compared)
    return Finding(found, bound, certified, score, nulls, null_p_value(score, nulls))


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
