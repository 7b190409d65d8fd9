"""Where to begin when the order given is mostly right: Huber, mixture, and Sinkhorn if need be."""

import numpy as np

from ..alignment.carry import with_noise
from ..alignment.hard import sort_all_but
from ..alignment.priors import Prior
from ..alignment.sinkhorn import SinkhornAlignment
from ..alignment.state import State
from ..data.problem import Problem
from ..em.loop import run_em
from ..em.memory import MemoryTable, start_from_coefficients
from ..em.stopping import StopWhenStable
from ..families.least_squares import LeastSquares
from ..kernels.types import IntArray
from .robust import fit_mixture

# The mixture knows only that a mismatched label is somebody's, Sinkhorn that each is used once.
# That starts to matter where many labels are mismatched, and is affordable in small groups.
MANY_MISMATCHES = 0.35
MOST_PAIRS = 1_000_000
FIRST_GUESS = 0.1  # rate of mismatches, until the robust start has estimated it

# Noise, as a share of the spread inside groups, and rate of mismatches that lost labels exceed.
TIGHT, HARDLY_ANY_RIGHT = 0.65, 0.87


def mostly_right_start(
    problem: Problem, solver: LeastSquares, prior: Prior, given: State | None, seed: int
) -> State:
    """Coefficients, noise, rate of mismatches, and a permutation with them.

    Coefficients of a `given` start are kept, and only the rest comes from the mixture.
    """
    known = np.zeros(problem.n_rows)
    known[problem.n_movable :] = 1.0
    mixture = fit_mixture(
        solver,
        problem.restore(problem.y),
        mismatch_rate=None if prior.estimates else prior.rate,
        match_prob=None if prior.match_prob is None else problem.restore(prior.match_prob),
        known=problem.restore(known) == 1.0,
    )
    start = given or start_from_coefficients(problem, solver, mixture.coef, mixture.intercept)
    start = start._replace(
        noise_scale=mixture.noise_scale,
        mismatch_rate=mixture.mismatch_rate,
        match_proba=problem.arrange(mixture.match_proba),
    )
    if prior.places is None:  # where labels have a reach, only the order given surely keeps it
        start = start._replace(perm=typical_permutation(problem, start, seed))
    n_pairs = int((np.diff(problem.starts) ** 2).sum())
    if given is not None or mixture.mismatch_rate < MANY_MISMATCHES or n_pairs > MOST_PAIRS:
        return start
    table = MemoryTable(problem, solver, SinkhornAlignment(problem, prior))
    end = run_em(table, start, max_iter=100, stop=StopWhenStable(table, 0.2, 5)).state
    if prior.places is not None:
        return end
    return end._replace(perm=typical_permutation(problem, end, seed))


def fits_tightly(problem: Problem, solver: LeastSquares, seed: int) -> bool:
    """Whether a fit that believes the order given finds many rows near a line.

    Labels that are lost leave it with noise like their own spread, or with hardly a row matched.
    """
    start = mostly_right_start(problem, solver, Prior(FIRST_GUESS, True), None, seed)
    tight = start.noise_scale < TIGHT * spread_inside(problem)
    return tight and start.mismatch_rate < HARDLY_ANY_RIGHT


def spread_inside(problem: Problem) -> float:
    """Standard deviation of the labels inside their groups."""
    return float(np.sqrt(problem.squares_inside(problem.y) / problem.n_movable))


def share_inside(problem: Problem) -> float:
    """Share of the labels' variance that lies inside their groups, where it can be shuffled."""
    if problem.n_movable == 0 or problem.label_spread == 0.0:
        return 0.0
    return problem.squares_inside(problem.y) / (problem.label_spread**2 * problem.n_rows)


def typical_permutation(problem: Problem, state: State, seed: int) -> IntArray:
    """A permutation near a draw from the posterior: as many mismatched rows as expected.

    Every row is mismatched with its probability (drawn systematically along the rows), and these
    are sorted among themselves like the fitted values with noise. The most likely permutation
    would leave all doubtful rows at home, and sorting without noise would leave residuals that are
    too small; a chain takes tens of iterations to make up for either.
    """
    total = np.cumsum(1.0 - np.asarray(state.match_proba)) + 0.5
    leaves = np.floor(total) > np.floor(np.concatenate([[0.5], total[:-1]]))
    drawn = with_noise(state.fitted, state.noise_scale, seed)
    return sort_all_but(problem, drawn, ~leaves)
