"""Could labels that have nothing to do with the features be matched as well?

Fresh labels are drawn inside each group from the smoothed distribution of its own labels
(`search.unrelated`), and the same search is made for them. A best match that is not clearly better
than theirs means nothing, however often it was found. How good a match is counts twice: against the
spread of the labels, which decides where a few directions leave one optimum, and against what
independent starts typically end in, which decides where there are thousands of optima:
``log(best / total) + log(best / typical)``.

With few directions searches are cheap. Then many are made, each as long as the one that the match
is judged by, and the p-value is a rank. With more directions there are a handful of nulls, and the
p-value is that of a moderated t-test.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from ..kernels.streams import FIRST_NULL, null_seed, numbered_generator
from ..kernels.types import FloatArray
from .landscape import Landscape
from .population import Searchable, SearchResult, affordable_candidates, search_population
from .settings import DEFAULT, NullSettings
from .starts import free_dimensions
from .unrelated import UnrelatedLabels

Report = Callable[[int], None]


class Comparison(NamedTuple):
    """Score of a match, scores of matches for unrelated labels, and the p-value."""

    score: float
    nulls: FloatArray
    p_value: float


HIGHEST_SCORE = 1e4  # above every logarithm of a ratio of two numbers


def match_score(landscape: Searchable, found: SearchResult, objective: float) -> float:
    """How low `objective` is, in logarithms, against the labels' spread and typical optima."""
    if landscape.total == 0.0:  # unrelated labels that are all equal, drawn from a few values
        return 0.0
    best = max(objective, landscape.settings.nulls.smallest * landscape.total)
    typical = max(found.typical, best)
    with np.errstate(over="ignore"):  # of labels so small that their squares have few digits
        return float(min(np.log(best / landscape.total) + np.log(best / typical), HIGHEST_SCORE))


def compare_with_unrelated(
    landscape: Landscape, found: SearchResult, *, seed: int, report: Report
) -> Comparison:
    """Compare the best match found with best matches for unrelated labels."""
    settings = landscape.settings.nulls
    # Inside several groups the scores differ so little that ranks among them would make much of
    # what smoothing leaves; there the usual spread of scores keeps the p-value from being too low.
    few = landscape.rank <= settings.few_directions and landscape.problem.n_blocks == 1
    if few and landscape.rank * landscape.problem.n_rows <= settings.most_cells:
        return _compare_ranks(landscape, found, seed, report)
    free = free_dimensions(landscape)
    affordable = affordable_candidates(landscape, free, settings.share_of_work)
    effort = min(found.n_candidates, settings.most_candidates, max(affordable, 2))
    # An optimum that nothing but the budget ended is compared at equal effort: a longer
    # search finds a lower one among many alike.
    best = float(found.objectives[0])
    if found.stopped_by == "budget":
        best = max(best, found.objective_after(effort))
    score, nulls = match_score(landscape, found, best), np.empty(0)
    labels = UnrelatedLabels(landscape, found.thetas[0])
    p_value = float("nan")
    for number in range(settings.most):
        nulls = np.append(nulls, _null_score(landscape, labels, number, effort, seed))
        report(len(nulls))
        p_value = null_p_value(score, nulls, settings)
        if any(
            len(nulls) >= enough and not low < p_value < high
            for enough, (low, high) in (
                (settings.fewest, settings.clear), (settings.some, settings.fair),
            )
        ):  # fmt: skip
            break
    return Comparison(score, nulls, p_value)


def _compare_ranks(
    landscape: Landscape, found: SearchResult, seed: int, report: Report
) -> Comparison:
    """Many short searches for unrelated labels, and one as short for the labels themselves."""
    settings = landscape.settings.nulls
    effort, score = _equal_effort(landscape, found, seed)
    nulls, p_value = np.empty(0), float("nan")
    labels = UnrelatedLabels(landscape, found.thetas[0])
    for number in range(settings.most_of_few):
        nulls = np.append(nulls, _null_score(landscape, labels, number, effort, seed))
        report(len(nulls))
        p_value = rank_p_value(score, nulls, settings)
        if _few_decide(score, nulls, p_value, settings):
            break
    return Comparison(score, nulls, p_value)


def _few_decide(score: float, nulls: FloatArray, p_value: float, settings: NullSettings) -> bool:
    """Whether the p-value is known well enough for what it decides."""
    low, high = settings.fair_of_few
    return (
        int((nulls <= score).sum()) >= settings.enough_lower
        or (len(nulls) >= settings.fewest_of_few and p_value < settings.clear_of_few)
        or (len(nulls) >= settings.some_of_few and not low < p_value < high)
    )


def _equal_effort(landscape: Landscape, found: SearchResult, seed: int) -> tuple[int, float]:
    """Candidates of a short search that reaches the best match again, and the score it gives."""
    settings, objective = landscape.settings.nulls, float(found.objectives[0])
    effort = settings.candidates_per_direction * landscape.rank
    while True:
        short = search_population(
            landscape, n_candidates=effort, seed=null_seed(seed, settings.most_of_few)
        )
        reached = float(short.objectives[0])
        again = reached <= (1.0 + settings.reached) * objective
        if again or 2 * effort > settings.most_candidates:
            return effort, match_score(landscape, short, reached)
        effort *= 2


def _null_score(
    landscape: Landscape, labels: UnrelatedLabels, number: int, n_candidates: int, seed: int
) -> float:
    """Score of the best match for the unrelated labels `number`."""
    rng = numbered_generator(seed, FIRST_NULL + number)
    null = landscape.with_labels(labels.draw(rng))
    best = search_population(null, n_candidates=n_candidates, seed=null_seed(seed, number))
    return match_score(null, best, float(best.objectives[0]))


def null_p_value(score: float, nulls: FloatArray, settings: NullSettings = DEFAULT.nulls) -> float:
    """Probability of a null as low as `score`: a moderated t-test."""
    if len(nulls) < 2:
        return float("nan")
    freedom = len(nulls) - 1 + settings.worth
    squares = float(((nulls - nulls.mean()) ** 2).sum()) + settings.worth * settings.usual_spread**2
    spread = (squares / freedom * (1.0 + 1.0 / len(nulls))) ** 0.5
    return float(student.cdf((score - float(nulls.mean())) / spread, freedom))


def rank_p_value(score: float, nulls: FloatArray, settings: NullSettings = DEFAULT.nulls) -> float:
    """Probability of a null as low as `score`: its rank, and a tail below the lowest null.

    Below all nulls the rank says only that the p-value is at most ``1 / (n + 1)``. There the tail
    is taken as exponential in the score, that is a power of the sum of squares, with the mean
    excess of the lowest fifth as its scale. Sums of squares have thinner tails, so this errs on the
    careful side; the scale is widened by its standard error for the same reason.
    """
    n = len(nulls)
    lower = int((nulls <= score).sum())
    rank = (lower + 1.0) / (n + 1.0)
    n_tail = int(settings.tail_share * n)
    if lower or n_tail < 2:
        return rank
    ascending = np.sort(nulls)
    edge = float(ascending[n_tail])
    scale = float((edge - ascending[:n_tail]).mean()) * (1.0 + n_tail**-0.5)
    if scale <= 0.0:
        return rank
    tail = (n_tail + 1.0) / (n + 1.0) * float(np.exp((score - edge) / scale))
    return min(rank, tail)
