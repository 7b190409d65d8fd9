"""Could labels that have nothing to do with the features be matched as well?

Fresh labels are drawn inside each group from the smoothed distribution of its own labels, and the
same search is made for them. A best match that is not clearly better than theirs means nothing,
however often it was found.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.stats import t as student

from ..problem import FloatArray
from .landscape import Landscape
from .population import search_population

FEWEST, MOST = 4, 15
# A p-value beyond these needs no further null.
CLEARLY_BETTER, CLEARLY_NOT = 0.004, 0.3
# What simulations show of the spread of log objectives between nulls (.06 to .5), worth so many
# nulls: the variance of a handful is moderated by it.
USUAL_SPREAD, WORTH = 0.3, 4


def null_objectives(
    landscape: Landscape,
    objective: float,
    *,
    n_candidates: int,
    seed: int,
    report: Callable[[int], None],
) -> FloatArray:
    """Best matched sums of squares for unrelated labels, scaled to the labels' own total.

    As many as it takes to tell whether `objective` is lower, between 4 and 15.
    """
    found: list[float] = []
    for number in range(MOST):
        rng = np.random.Generator(np.random.Philox(key=[seed, 1_000_000 + number]))
        null = landscape.with_labels(unrelated_labels(landscape, rng))
        best = search_population(
            null, n_candidates=n_candidates, seed=seed + number + 1, report=lambda *_: None
        )
        found.append(float(best.objectives[0]) / null.total * landscape.total)
        report(number + 1)
        p = null_p_value(objective, np.array(found))
        if len(found) >= FEWEST and not CLEARLY_BETTER < p < CLEARLY_NOT:
            break
    return np.array(found)


def null_p_value(objective: float, nulls: FloatArray) -> float:
    """Chance of a null as low as `objective`: a moderated t-test on logarithms."""
    if len(nulls) < 2:
        return float("nan")
    logs = np.log(np.maximum(nulls, 1e-300))
    freedom = len(nulls) - 1 + WORTH
    squares = float(((logs - logs.mean()) ** 2).sum()) + WORTH * USUAL_SPREAD**2
    spread = (squares / freedom * (1.0 + 1.0 / len(nulls))) ** 0.5
    distance = float(np.log(max(objective, 1e-300)) - logs.mean())
    return float(student.cdf(distance / spread, freedom))


def unrelated_labels(landscape: Landscape, rng: np.random.Generator) -> FloatArray:
    """Labels drawn from the smoothed distribution inside each group; pinned rows keep theirs."""
    y = landscape.problem.y
    drawn = y.copy()
    starts = landscape.labels.starts
    for first, last in pairwise(starts):
        own, size = y[first:last], int(last - first)
        picked = own[rng.integers(size, size=size)]
        spread = float(own.std())
        width = 1.06 * spread * size**-0.2  # Silverman's rule
        noisy = picked + width * rng.normal(size=size)
        # Smoothing widens; shrinking towards the mean undoes it.
        centre = float(own.mean())
        shrink = spread / float(np.hypot(spread, width)) if spread else 0.0
        drawn[first:last] = centre + shrink * (noisy - centre)
    return drawn
