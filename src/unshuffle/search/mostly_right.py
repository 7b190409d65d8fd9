"""Initial values where the order given is mostly right: Huber, mixture, and Sinkhorn if needed."""

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
from .settings import DEFAULT, SearchSettings


def mostly_right_start(
    problem: Problem,
    solver: LeastSquares,
    prior: Prior,
    given: State | None,
    seed: int,
    settings: SearchSettings = DEFAULT,
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
        settings=settings.mixture,
    )
    start = given or start_from_coefficients(problem, solver, mixture.coef, mixture.intercept)
    start = start._replace(
        noise_scale=mixture.noise_scale,
        mismatch_rate=mixture.mismatch_rate,
        match_proba=problem.arrange(mixture.match_proba),
    )
    if prior.places is None:  # where labels have a reach, only the order given surely keeps it
        start = start._replace(perm=typical_permutation(problem, start, seed))
    own, n_pairs = settings.mostly_right, int((np.diff(problem.starts) ** 2).sum())
    few = mixture.mismatch_rate < own.many_mismatches
    if given is not None or few or n_pairs > own.most_pairs:
        return start
    table = MemoryTable(problem, solver, SinkhornAlignment(problem, prior))
    stop = StopWhenStable(table, own.sinkhorn_tolerance, own.sinkhorn_window)
    end = run_em(table, start, max_iter=own.sinkhorn_steps, stop=stop).state
    if prior.places is not None:
        return end
    return end._replace(perm=typical_permutation(problem, end, seed))


def fits_tightly(
    problem: Problem, solver: LeastSquares, seed: int, settings: SearchSettings = DEFAULT
) -> bool:
    """Whether a fit that assumes the order given to be mostly right finds many rows near a line.

    Labels in lost order leave it with noise like their own spread, or with hardly a row matched.
    """
    own = settings.mostly_right
    start = mostly_right_start(problem, solver, Prior(own.first_rate, True), None, seed, settings)
    tight = start.noise_scale < own.tight * spread_inside(problem)
    return tight and start.mismatch_rate < own.hardly_any_right


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
    would leave all doubtful rows with their own label, and sorting without noise would leave
    residuals that are too small; a chain takes tens of iterations to make up for either.
    """
    total = np.cumsum(1.0 - np.asarray(state.match_proba)) + 0.5
    leaves = np.floor(total) > np.floor(np.concatenate([[0.5], total[:-1]]))
    drawn = with_noise(state.fitted, state.noise_scale, seed)
    return sort_all_but(problem, drawn, ~leaves)
