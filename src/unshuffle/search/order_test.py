"""Does the order in which the labels were given say anything about the rows?"""

import numpy as np
from scipy.stats import chi2

from .landscape import Landscape
from .restarts import draw_shuffles


def order_p_value(landscape: Landscape, seed: int) -> float:
    """p-value of the labels as given against labels shuffled at random inside groups.

    The sum of squares explained by least squares on the labels as given is compared with that on
    random shuffles. Its distribution over shuffles is close to a multiple of χ², whose two
    parameters are estimated, so that very small probabilities need no more shuffles. (Labels and
    features with long tails make them larger than formulas for normal ones would, in tables of any
    size.)
    """
    if landscape.problem.n_movable == 0 or landscape.rank == 0:
        return float("nan")
    settings = landscape.settings.order_test
    if landscape.problem.n_movable >= settings.large:
        p_value = p_value_from(landscape, seed, settings.few_shuffles)
        if p_value < settings.beyond_doubt:
            return p_value
    return p_value_from(landscape, seed, settings.shuffles)


def p_value_from(landscape: Landscape, seed: int, n_shuffles: int) -> float:
    """Compare the labels as given with so many shuffles."""
    shuffled = np.empty((n_shuffles, landscape.rank))
    draw_shuffles(landscape, seed, 0, shuffled)
    centre = shuffled.mean(axis=0)  # what the groups explain however their labels stand
    explained = ((shuffled - centre) ** 2).sum(axis=1)
    given = float(((landscape.theta_of(landscape.y) - centre) ** 2).sum())
    mean, variance = float(explained.mean()), float(explained.var(ddof=1))
    if variance <= 1e-20 * landscape.total**2:
        return float("nan")
    freedom = 2.0 * mean**2 / variance
    return float(chi2.sf(given * freedom / mean, freedom))
