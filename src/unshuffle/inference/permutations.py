"""Which label belongs to which row, according to a fit."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import min_weight_full_bipartite_matching

from ..alignment.chain import Chain
from ..alignment.hard import most_likely_permutation, sort_all_but
from ..alignment.law_chain import LawChain
from ..alignment.priors import Prior
from ..alignment.sampled import SampledAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..data.threads import Workers
from ..kernels.streams import FIRST_PARTNERS
from ..kernels.swap import Schedule
from ..kernels.types import FloatArray, IntArray
from .sampling_settings import PARTNERS, PartnerSettings


@dataclass(frozen=True, eq=False)
class PermutationPosterior:
    """The posterior over permutations at the fitted coefficients, without X.

    Attributes
    ----------
    problem : Problem
        With X of no columns.
    prior : Prior
    state : State
    seed : int
    """

    problem: Problem
    prior: Prior
    state: State
    seed: int

    def partners(
        self, rows: IntArray, settings: PartnerSettings = PARTNERS
    ) -> list[dict[int, float]]:
        """For each arranged row in `rows`, the labels it held and for what share of the time.

        Counted in snapshots of the chain, a few sweeps apart.
        """
        n_snapshots, shares = settings.snapshots, []
        seen = np.array([perm[rows] for perm in self._snapshots(n_snapshots, settings)])
        for column in seen.T:
            labels, counts = np.unique(column, return_counts=True)
            order = np.argsort(-counts, kind="stable")
            shares.append({int(labels[k]): float(counts[k]) / n_snapshots for k in order})
        return shares

    def share_held(
        self, rows: IntArray, labels: IntArray, settings: PartnerSettings = PARTNERS
    ) -> FloatArray:
        """For each arranged row in `rows`, for what share of the time it holds its label.

        With many rows there are fewer snapshots: it is their mean over rows that is asked for.
        """
        fewer = settings.row_snapshots // max(self.problem.n_movable, 1)
        n_snapshots = min(settings.snapshots, max(fewer, settings.fewest_snapshots))
        held = np.zeros(len(rows))
        for perm in self._snapshots(n_snapshots, settings):
            held += perm[rows] == labels
        return held / n_snapshots

    def _snapshots(self, n_snapshots: int, settings: PartnerSettings) -> Iterator[IntArray]:
        """Permutations that the chain passes, a few sweeps apart."""
        if self.state.law is not None:
            yield from self._snapshots_of_law(n_snapshots, settings)
            return
        steps = max(settings.sweeps * self.problem.n_movable, settings.fewest_proposals)
        chain = Chain(self.problem, Schedule(steps, 0, 1), self.seed, Workers(1))
        align, state = SampledAlignment(chain, self.prior), self.state
        for k in range(n_snapshots):
            state = state._replace(perm=align(state, FIRST_PARTNERS + k).perm)
            yield state.perm

    def _snapshots_of_law(self, n_snapshots: int, settings: PartnerSettings) -> Iterator[IntArray]:
        """The same where the noise has a law of its own."""
        chain, state = LawChain(self.problem, self.seed, 2 * settings.sweeps, 1), self.state
        for k in range(n_snapshots):
            state = state._replace(perm=chain(state, FIRST_PARTNERS + k).perm)
            yield state.perm


def without_features(problem: Problem) -> Problem:
    """The same problem, small enough to be kept with a fit."""
    return Problem(
        np.empty((problem.n_rows, 0)), problem.y, problem.starts, problem.order, problem.n_groups
    )


def likely_permutation(problem: Problem, prior: Prior, state: State) -> IntArray:
    """A most likely permutation: one to one, inside groups, and within reach.

    Where the order is lost, labels are sorted like the fitted values. Where it is mostly right,
    rows that hold their own label more often than not keep it, and the others are sorted among
    themselves. Where labels have a reach, the cheapest matching within it is found. A row with
    match probability 0 does not keep its own label.
    """
    if prior.places is not None:
        return _cheapest_within_reach(problem, prior, state)
    if not prior.mostly_right or state.match_proba is None:
        return most_likely_permutation(problem, state.fitted)
    perm = sort_all_but(problem, state.fitted, state.match_proba >= 0.5)
    return perm if prior.match_prob is None else _move_excluded(problem, prior, state, perm)


def _move_excluded(problem: Problem, prior: Prior, state: State, perm: IntArray) -> IntArray:
    """Exchange each label that is excluded beside its row where that is most probable."""
    by_row, moved = prior.by_row(problem, state.mismatch_rate), perm.copy()
    for row in prior.excluded(problem.n_movable):
        if moved[row] != row:
            continue
        block = int(np.searchsorted(problem.starts, row, side="right")) - 1
        others = np.arange(problem.starts[block], problem.starts[block + 1])
        others = others[others != row]
        gained = problem.y[row] - problem.y[moved[others]]
        cost = (state.fitted[row] - state.fitted[others]) * gained / state.noise_scale**2
        cost += by_row.costs[others] * (moved[others] == others)
        chosen = others[int(np.argmin(cost))]
        moved[row], moved[chosen] = moved[chosen], row
    return moved


def _cheapest_within_reach(problem: Problem, prior: Prior, state: State) -> IntArray:
    perm: IntArray = np.arange(problem.n_rows, dtype=np.int64)
    by_row = prior.by_row(problem, state.mismatch_rate)
    for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
        places, size = by_row.places[first:last], int(last - first)
        low = np.searchsorted(places, places - by_row.reach)
        high = np.searchsorted(places, places + by_row.reach, side="right")
        row = np.repeat(np.arange(size), high - low)
        label = np.concatenate([np.arange(a, b) for a, b in zip(low, high, strict=True)])
        cost: FloatArray = state.fitted[first + row] - problem.y[first + label]
        cost = 0.5 * (cost / state.noise_scale) ** 2
        if len(by_row.costs):
            cost = cost + by_row.costs[first + row] * (row != label)
        cost += 1.0 - cost.min()  # the matching ignores entries of zero
        graph = csr_array((cost, (row, label)), shape=(size, size))
        perm[first:last] = first + min_weight_full_bipartite_matching(graph)[1]
    return perm
