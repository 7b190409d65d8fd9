"""Labels far from all others: missing codes such as 999, slips of the decimal point, other units.

One of them can hold more of the variance than all other labels together. Then neither the order
given nor a match seems to say anything, and no law describes the noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .problem import Problem
from .settings import ISOLATED, IsolatedSettings


@dataclass(frozen=True, eq=False)
class IsolatedLabels:
    """Labels of a table that are far from all others.

    Attributes
    ----------
    rows : array of int
        The user's rows beside which they were given.
    labels : array of shape (len(rows),)
    lowest, highest : float
        Smallest and largest of all other labels.
    """

    rows: IntArray
    labels: FloatArray
    lowest: float
    highest: float

    def replaced(self, problem: Problem) -> Problem:
        """The same table with the median of its group's other labels in place of each of them.

        This depends on the labels of a group alone, not on their rows, so that tests of the order
        stay exact. The median says nothing of the row: with the nearest other label there, the
        row would look like one that holds a label of another.
        """
        y, far = problem.y.copy(), problem.arranged_rows(self.rows)
        for block in np.unique(np.searchsorted(problem.starts, far, side="right") - 1):
            first, last = (int(edge) for edge in problem.starts[block : block + 2])
            inside = far[(far >= first) & (far < last)]
            others = np.delete(problem.y[first:last], inside - first)
            y[inside] = np.median(others if len(others) else np.delete(problem.y, far))
        return replace(problem, y=y)

    def put_back(self, values: FloatArray, isolated: FloatArray | float) -> FloatArray:
        """A copy of values of the user's rows, with others at the isolated labels."""
        changed = values.copy()
        changed[self.rows] = isolated
        return changed


def find_isolated(problem: Problem, settings: IsolatedSettings = ISOLATED) -> IsolatedLabels | None:
    """Find labels that can move and are far from all others; None where there are none.

    The labels in the middle are taken for good. A next label belongs to them if its distance is at
    most so many times their range, and so on outwards; what is left is isolated.
    """
    ranked, n = np.sort(problem.y), problem.n_rows
    first, last = int(settings.largest_share * n), n - 1 - int(settings.largest_share * n)
    if ranked[-1] - ranked[0] <= (1.0 + settings.gap) * (ranked[last] - ranked[first]):
        return None  # most tables end here
    before = None
    while before != (first, last):
        before, reach = (first, last), settings.gap * (ranked[last] - ranked[first])
        if last < n - 1 and ranked[last + 1] - ranked[last] <= reach:
            last += 1
        if first > 0 and ranked[first] - ranked[first - 1] <= reach:
            first -= 1
    lowest, highest = ranked[first], ranked[last]
    movable = problem.y[: problem.n_movable]
    found = np.flatnonzero((movable < lowest) | (movable > highest))
    few = len(np.unique(ranked[first : last + 1])) < settings.fewest_values
    if few or not len(found):
        return None
    rows = problem.user_rows(found)
    order = np.argsort(rows)
    return IsolatedLabels(rows[order], movable[found][order], float(lowest), float(highest))
