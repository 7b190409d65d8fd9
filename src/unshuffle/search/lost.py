"""Where to begin when the order is lost: search, prove if possible, and compare with chance."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..problem import FloatArray
from .certify import certify
from .landscape import Landscape
from .nulls import null_objectives, null_p_value
from .population import SearchResult, search_population

# An optimum is followed when unrelated labels could hardly be matched as well, or when that is
# doubtful but it stands far below all other optima.
BETTER_THAN_CHANCE = 0.02
DOUBTFUL = 0.2
FAR_BELOW = 1.3

# Candidates of each null search: what most searches need, and no more than the search itself.
NULL_CANDIDATES = 1_000


class Stage(NamedTuple):
    """How far a search has come: what it is doing, candidates tried of how many, best objective."""

    name: str
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
    nulls : array
        Best objectives for unrelated labels; empty where they were not asked for.
    p_value : float
        Chance of matching unrelated labels as well; nan without nulls.
    """

    search: SearchResult
    lower_bound: float
    certified: bool
    nulls: FloatArray
    p_value: float

    @property
    def beats_chance(self) -> bool:
        """Whether the match found says more than a match of unrelated labels would."""
        left = self.search.objectives
        apart = len(left) > 1 and bool(left[1] >= FAR_BELOW * left[0])
        return self.p_value < (DOUBTFUL if apart else BETTER_THAN_CHANCE)


def explore(
    landscape: Landscape,
    *,
    n_candidates: int,
    seed: int,
    compare: bool,
    report: Callable[[Stage], None],
) -> Finding:
    """Search with at most `n_candidates`; `compare` with unrelated labels."""

    def tried(done: int, objective: float) -> None:
        report(Stage("searching", done, n_candidates, objective))

    found = search_population(landscape, n_candidates=n_candidates, seed=seed, report=tried)
    bound, certified = 0.0, False
    proof = certify(landscape, found.thetas[0])
    if proof is not None:
        bound, certified = proof.lower_bound, proof.certified
        found = _put_first(landscape, found, proof.theta)
    best, nulls = float(found.objectives[0]), np.empty(0)
    if compare:
        effort = min(found.n_candidates, NULL_CANDIDATES)
        # An optimum that nothing but the budget ended is compared at equal effort: whoever tries
        # longer finds a lower one among many alike.
        if found.stopped_by == "budget":
            best = max(best, found.objective_after(effort))

        def compared(done: int) -> None:
            report(Stage("comparing with chance", done, 0, best))

        nulls = null_objectives(
            landscape,
            best,
            n_candidates=effort,
            seed=seed,
            report=compared,
        )
    return Finding(found, bound, certified, nulls, null_p_value(best, nulls))


def _put_first(landscape: Landscape, found: SearchResult, theta: FloatArray) -> SearchResult:
    """The proved optimum takes the place of the best one found."""
    thetas, objectives = found.thetas.copy(), found.objectives.copy()
    thetas[0] = theta
    objectives[0] = min(float(objectives[0]), landscape.total - float(theta @ theta))
    return replace(found, thetas=thetas, objectives=objectives)
