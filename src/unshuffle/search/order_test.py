"""Does the order in which the labels were given say anything about the rows?"""

import numpy as np
from scipy.stats import chi2

from ..data.problem import Problem
from ..families.least_squares import LeastSquares
from ..kernels.match import shuffle_groups
from ..kernels.types import FloatArray
from .settings import DEFAULT, OrderTestSettings


def order_p_value(
    problem: Problem,
    solver: LeastSquares,
    seed: int,
    settings: OrderTestSettings = DEFAULT.order_test,
) -> float:
    """p-value of the labels as given against labels shuffled at random inside groups.

    The sum of squares explained by least squares on the labels as given is compared with that on
    random shuffles. Its distribution over shuffles is close to a multiple of χ², whose two
    parameters are estimated, so that very small probabilities need no more shuffles. (Labels and
    features with long tails make them larger than formulas for normal ones would, in tables of any
    size.) X is read once for each shuffle and never copied.
    """
    if problem.n_movable == 0 or solver.rank == 0:
        return float("nan")
    if problem.n_movable >= settings.large:
        p_value = p_value_from(problem, solver, seed, settings.few_shuffles)
        if p_value < settings.beyond_doubt:
            return p_value
    return p_value_from(problem, solver, seed, settings.shuffles)


def p_value_from(problem: Problem, solver: LeastSquares, seed: int, n_shuffles: int) -> float:
    """Compare the labels as given with so many shuffles."""
    y = problem.y - problem.y.mean() if solver.fit_intercept else problem.y
    perm = np.empty(len(y), dtype=np.int64)

    def shuffled(number: int) -> FloatArray:
        shuffle_groups(perm, problem.starts, np.uint64(seed), number)
        return solver.coordinates(problem.restore(y[perm]))

    thetas = np.array([shuffled(number) for number in range(n_shuffles)])
    centre = thetas.mean(axis=0)  # what the groups explain however their labels stand
    explained = ((thetas - centre) ** 2).sum(axis=1)
    given = float(((solver.coordinates(problem.restore(y)) - centre) ** 2).sum())
    mean, variance = float(explained.mean()), float(explained.var(ddof=1))
    if variance <= 1e-20 * float(y @ y) ** 2:
        return float("nan")
    freedom = 2.0 * mean**2 / variance
    return float(chi2.sf(given * freedom / mean, freedom))
