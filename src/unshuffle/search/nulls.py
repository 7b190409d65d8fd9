"""Could labels that have nothing to do with the features be matched as well?

Fresh labels are drawn inside each group from the smoothed distribution of its own labels, and the
same search is made for them. A best match that is not clearly better than theirs means nothing,
however often it was found. How good a match is counts twice: against the spread of the labels,
which decides where a few directions leave one optimum, and against what independent starts
typically end in, which decides where there are thousands of optima:
``log(best / total) + log(best / typical)``.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from scipy.stats import t as student

from ..kernels.streams import FIRST_NULL, null_seed, numbered_generator
from ..kernels.types import FloatArray
from .landscape import Landscape
from .population import SearchResult, search_population
from .settings import DEFAULT, NullSettings


def match_score(landscape: Landscape, found: SearchResult, objective: float) -> float:
    """How low `objective` is, in logarithms, against the labels' spread and typical optima."""
    best = max(objective, landscape.settings.nulls.smallest * landscape.total)
    typical = max(found.typical, best)
    return float(np.log(best / landscape.total) + np.log(best / typical))


def null_scores(
    landscape: Landscape,
    score: float,
    *,
    n_candidates: int,
    seed: int,
    report: Callable[[int], None],
) -> FloatArray:
    """Scores of the best matches for unrelated labels.

    As many as it takes to decide whether `score` is lower.
    """
    found: list[float] = []
    settings = landscape.settings.nulls
    for number in range(settings.most):
        rng = numbered_generator(seed, FIRST_NULL + number)
        null = landscape.with_labels(unrelated_labels(landscape, rng))
        best = search_population(null, n_candidates=n_candidates, seed=null_seed(seed, number))
        found.append(match_score(null, best, float(best.objectives[0])))
        report(number + 1)
        p = null_p_value(score, np.array(found), settings)
        if any(
            len(found) >= enough and not low < p < high
            for enough, (low, high) in (
                (settings.fewest, settings.clear), (settings.some, settings.fair),
            )
        ):  # fmt: skip
            break
    return np.array(found)


def null_p_value(score: float, nulls: FloatArray, settings: NullSettings = DEFAULT.nulls) -> float:
    """Probability of a null as low as `score`: a moderated t-test."""
    if len(nulls) < 2:
        return float("nan")
    freedom = len(nulls) - 1 + settings.worth
    squares = float(((nulls - nulls.mean()) ** 2).sum()) + settings.worth * settings.usual_spread**2
    spread = (squares / freedom * (1.0 + 1.0 / len(nulls))) ** 0.5
    return float(student.cdf((score - float(nulls.mean())) / spread, freedom))


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
