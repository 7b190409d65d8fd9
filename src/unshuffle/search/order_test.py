"""Does the order in which the labels were given say anything about the rows?"""

import numpy as np
from scipy.stats import chi2

from .landscape import Landscape
from .restarts import draw_shuffles

N_SHUFFLES = 199
# In large tables so few are tried first, and are enough where nothing can come near any more.
LARGE, FEW_SHUFFLES, BEYOND_DOUBT = 50_000, 39, 1e-20


def order_p_value(landscape: Landscape, seed: int) -> float:
    """Probability of explaining as much by chance, if labels were shuffled inside groups.

    The sum of squares explained by least squares on the labels as given is compared with that on
    random shuffles. Its distribution over shuffles is close to a multiple of χ², whose two
    parameters are estimated, so that very small probabilities need no more shuffles. (Labels and
    features with long tails make them larger than formulas for normal ones would, in tables of any
    size.)
    """
    if landscape.problem.n_movable == 0 or landscape.rank == 0:
        return float("nan")
    if landscape.problem.n_movable >= LARGE:
        p_value = compare(landscape, seed, FEW_SHUFFLES)
        if p_value < BEYOND_DOUBT:
            return p_value
    return compare(landscape, seed, N_SHUFFLES)


def compare(landscape: Landscape, seed: int, n_shuffles: int) -> float:
    """The labels as given beside so many shuffles."""
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
