"""Sampled alignment: expected labels from a Metropolis-Hastings chain over permutations."""

from copy import copy

import numpy as np

from ..data.threads import Workers
from ..families.family import Family
from ..families.normal import NORMAL
from ..kernels.limits import SUSPICIOUS_ODDS
from ..kernels.local import ALL_SCALES, Lists, pick_suspects
from ..kernels.match import rank_inside
from ..kernels.types import BoolArray, IntArray
from .chain import Chain
from .density import kernel_density
from .priors import Prior
from .receivers import receivers
from .soft import SoftAlignment
from .state import Alignment, State
from .sweeps import Sweeps

NOBODY = np.empty(0, dtype=np.bool_)


class SampledAlignment(SoftAlignment):
    """Posterior mean of the labels; the chain goes on where the last iteration left it."""

    def __init__(self, chain: Chain, prior: Prior, family: Family = NORMAL) -> None:
        super().__init__(chain.problem, prior, family)
        self.chain = chain
        self._density = kernel_density(chain.problem.y) if prior.mostly_right else None
        # Where labels have a reach the neighbours are those of the table, and where states are
        # thinned they are counted one by one: both are left to random pairs.
        self._sweeps: Sweeps | None = None
        if prior.places is None and chain.schedule.thin == 1:
            self._sweeps = chain.sweeps()

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Average the labels over one run of the chain at `state`."""
        perm = state.perm.copy()
        by_row = self.prior.by_row(self.problem, state.mismatch_rate)
        rows = self.family.interaction(state.fitted, state.noise_scale)
        where = (rows, self.statistic, perm, iteration)
        if self._sweeps is None:
            expected, matched, rate = self.chain.run_local_pairs(*where, self.lists(state), by_row)
        else:
            suspected = self._suspected(state) if len(by_row.costs) else NOBODY
            expected, matched, rate = self._sweeps.run(*where, by_row.costs, suspected)
        return self.conclude(state, expected, matched, perm, rate)

    def twin(self) -> "SampledAlignment":
        """An independent one of the same kind, for a thread of its own."""
        own = copy(self)
        chain = self.chain
        own.chain = Chain(chain.problem, chain.schedule, int(chain.seed), Workers(1))
        own._sweeps = None if self._sweeps is None else own.chain.sweeps()
        return own

    def lists(self, state: State) -> Lists:
        """Rows in the order of their fitted values, and the suspects among them."""
        problem, prior = self.problem, self.prior
        n = problem.n_movable
        rows = np.arange(n)
        max_scale = ALL_SCALES
        if prior.places is None:
            rank_inside(state.fitted, problem.starts, rows)
        else:  # neighbours in the table, since labels cannot come from far away
            max_scale = min(max(1, int(2 * prior.reach).bit_length()), ALL_SCALES - 1)
        suspects, limits = (
            np.empty(n, dtype=np.int64),
            np.empty(len(problem.starts), dtype=np.int64),
        )
        place_of = np.empty(n, dtype=np.int64)
        suspected = self._suspected(state)
        pick_suspects(rows, problem.starts, suspected, suspects, place_of, limits)
        return Lists(rows, suspects[: limits[-1]], limits, place_of, max_scale)

    def _suspected(self, state: State) -> BoolArray:
        """Rows whose residual makes a mismatch possible, by the odds of the two-part mixture.

        Not by how often the chain saw them mismatched: a row that stayed for one short run
        would drop from the list and hardly be proposed again.
        """
        n = self.problem.n_movable
        if self._density is None:
            return np.zeros(n, dtype=np.bool_)
        matched = self.prior.matched(n, state.mismatch_rate)
        own = self.family.density(self.problem.y[:n], state.fitted[:n], state.noise_scale)
        odds_against = (1.0 - matched) * self._density[:n]
        suspected: BoolArray = odds_against > SUSPICIOUS_ODDS * matched * own
        excluded = self.prior.excluded(n)
        if len(excluded):
            suspected[receivers(self.problem, state.fitted, excluded)] = True
        return suspected


class PublishedAlignment:
    """The alignment as its authors ran it.

    Each iteration restarts at the identity and permutes the *averaged* labels of the iteration
    before, so that the labels shrink towards their mean; their spread is forgotten.
    """

    def __init__(self, chain: Chain) -> None:
        self.chain = chain

    def __call__(self, state: State, iteration: int) -> Alignment:
        """Average the carried labels over one run of the chain at `state`."""
        perm: IntArray = np.arange(len(state.labels), dtype=np.int64)
        rows = NORMAL.interaction(state.fitted, state.noise_scale)
        carried, rate = self.chain.run_random_pairs(rows, state.labels, perm, iteration)
        return Alignment(carried, 0.0, carried, perm, rate)
