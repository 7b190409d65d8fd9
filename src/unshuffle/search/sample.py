"""A sample of a large table: large enough to judge matches by, and cheap to search.

Searches, null distributions and refits visit all rows thousands of times. What they decide (which
match is the best, whether unrelated labels match as well, whether the match is found again) some
ten thousand rows decide as well as a million; the coefficients are then fitted to all rows.
"""

import numpy as np

from ..data.problem import Problem
from .settings import DescentSettings, PopulationSettings

FEWEST_GROUPS = 20  # that must remain for group means to say something of a direction


def sample_of(problem: Problem, many: int) -> Problem:
    """The table itself, or a sample of about `many` rows if it has twice as many.

    Whole groups, whose means stay exact; and a part of each where few groups are very large.
    """
    by_group = min(problem.n_rows // many, problem.n_blocks // FEWEST_GROUPS)
    if by_group >= 2:
        problem = problem.thinned(by_group)
    inside = problem.n_rows // many
    return thin_groups(problem, inside) if inside >= 2 else problem


def rows_to_search(rank: int, population: PopulationSettings, descent: DescentSettings) -> int:
    """Rows of a sample: fewer where there are many columns, since a step visits rows × columns."""
    columns = (5 + descent.sort_columns) / (rank + descent.sort_columns)
    rows = int(population.many_rows * min(columns, 1.0))
    return max(rows, min(population.fewest_sampled, population.many_rows))


def thin_groups(problem: Problem, step: int) -> Problem:
    """One row in `step` of each group, and as many of its labels, evenly spaced by rank.

    The pairs are broken: where the order is lost, only the two distributions inside a group count.
    Evenly spaced ranks follow that of the labels more closely than labels drawn at random would.
    """
    rows, labels, starts = [], [], [0]
    for first, last in zip(problem.starts[:-1], problem.starts[1:], strict=True):
        size = int(last - first)
        kept = max(size // step, min(size, 2))
        place = ((np.arange(kept) + 0.5) * (size / kept)).astype(np.int64)
        rows.append(first + place)
        labels.append(np.sort(problem.y[first:last])[place])
        starts.append(starts[-1] + kept)
    pinned = np.arange(problem.n_movable, problem.n_rows, step)
    taken = np.concatenate([*rows, pinned])
    y = np.concatenate([*labels, problem.y[pinned]])
    X = problem.X[problem.user_rows(taken)]
    return Problem(X, y, np.array(starts, dtype=np.int64), None, len(rows) + len(pinned))
