"""Where to begin when the order given is mostly right: Huber, mixture, and Sinkhorn if need be."""

import numpy as np

from ..alignment.hard import suspects_sorted
from ..alignment.sinkhorn import SinkhornAlignment
from ..alignment.state import State
from ..em import Drift, run_em, start_from_coefficients
from ..least_squares import LeastSquares
from ..priors import Prior
from ..problem import Problem
from .robust import fit_mixture

# The mixture knows only that a mismatched label is somebody's, Sinkhorn that each is used once.
# That starts to matter where many labels are mismatched, and is affordable in small groups.
MANY_MISMATCHES = 0.35
MOST_PAIRS = 1_000_000


def mostly_right_start(
    problem: Problem, solver: LeastSquares, prior: Prior, given: State | None
) -> State:
    """Coefficients, noise, rate of mismatches, and who is suspected.

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
    start = start._replace(perm=suspects_sorted(problem, start))
    n_pairs = int((np.diff(problem.starts) ** 2).sum())
    if given is not None or mixture.mismatch_rate < MANY_MISMATCHES or n_pairs > MOST_PAIRS:
        return start
    end = run_em(
        problem,
        solver,
        start,
        SinkhornAlignment(problem, prior),
        max_iter=100,
        settled=Drift(problem, solver, 0.2, 5),
        report=lambda step: None,
    ).state
    return end._replace(perm=suspects_sorted(problem, end))
