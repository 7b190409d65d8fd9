"""Where EM over partial matchings starts: coefficients with the noise and the share they imply."""

import math

import numpy as np

from ..alignment.state import State
from ..em.partial import PartialTable
from ..kernels.types import FloatArray, IntArray
from ..search.partial_landscape import PartialLandscape

FIRST_SHARE = 0.95  # of the rows that can have a label, at the start
# Noise at the start over that of the match: labels that differ from fitted values because others
# are missing are no noise, and EM does not return from too much of it.
LARGEST_EXCESS = 3.0
NORMAL_MAD = 1.4826  # standard deviation of a normal law over its median absolute deviation


def initial_state(table: PartialTable, landscape: PartialLandscape, theta: FloatArray) -> State:
    """Coefficients with the noise and the share that belong to them.

    Some pairs of the match are wrong because all of the smaller side had to be matched; their
    distances say nothing about the noise, the median does.
    """
    problem, theta = table.problem, theta[None].copy()
    landscape.descend(theta, landscape.settings.descent.most_steps, first_scale=0.0)
    held = landscape.match(theta[0])
    holds = held >= 0
    residual = problem.y[held[holds]] - (table.Z @ theta[0])[holds]
    freedom = max(len(residual) - table.solver.n_parameters, 1)
    noise = NORMAL_MAD * float(np.median(np.abs(residual))) * math.sqrt(len(residual) / freedom)
    noise = max(noise, min(_excess(table, theta[0]), LARGEST_EXCESS * noise))
    low, high = table.bounds
    return table.start(theta[0], noise, max(low, FIRST_SHARE * high), held)


def _excess(table: PartialTable, theta: FloatArray) -> float:
    """What labels vary inside groups beyond the fitted values, as far as that is certain."""
    problem = table.problem
    rows, labels = problem.n_open_rows, problem.n_open_labels
    if not problem.n_groups:
        return 0.0
    fitted = _squares_inside((table.Z @ theta)[:rows], problem.row_starts)
    given = _squares_inside(problem.y[:labels], problem.label_starts)
    if min(fitted[1], given[1]) < 1:
        return 0.0
    variance = given[0] / given[1]
    missing = abs(rows - labels) + 2.0 * (1.0 - FIRST_SHARE) * problem.most_pairs
    error = variance * math.sqrt(2.0 * missing / (rows * labels))
    return math.sqrt(max(variance - fitted[0] / fitted[1] - 2.0 * error, 0.0))


def _squares_inside(values: FloatArray, starts: IntArray) -> tuple[float, int]:
    """Sum of squares around group means, and its degrees of freedom."""
    sizes = np.diff(starts)
    means = np.add.reduceat(values, starts[:-1]) / sizes
    squares = float(((values - np.repeat(means, sizes)) ** 2).sum())
    return squares, len(values) - len(sizes)
