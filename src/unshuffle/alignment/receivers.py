"""Rows that may take a label which is excluded beside its own row."""

import numpy as np

from ..data.problem import Problem
from ..kernels.types import FloatArray, IntArray

# On either side of the label in the order of fitted values: enough for the chain to choose from,
# and few enough that it still is a short list.
NEIGHBOURS = 16


def receivers(problem: Problem, fitted: FloatArray, excluded: IntArray) -> IntArray:
    """The rows of the same block whose fitted values are nearest to the excluded labels.

    Such a label has to go somewhere, and the chain proposes exchanges among suspected rows most of
    the time; where every other row fits its own label, nobody would take it.

    Parameters
    ----------
    problem : Problem
    fitted : array of shape (n,)
        Fitted values of the (arranged) rows.
    excluded : array
        Movable rows that may not hold their own label.

    Returns
    -------
    rows : array
        Each once, in ascending order; the excluded rows are among them.
    """
    found = [excluded]
    blocks = np.searchsorted(problem.starts, excluded, side="right") - 1
    for block in np.unique(blocks):
        first, last = (int(edge) for edge in problem.starts[block : block + 2])
        order = np.argsort(fitted[first:last], kind="stable")
        places = np.searchsorted(fitted[first:last][order], problem.y[excluded[blocks == block]])
        near = (places[:, None] + np.arange(-NEIGHBOURS, NEIGHBOURS)).ravel()
        found.append(first + order[near[(near >= 0) & (near < last - first)]])
    return np.unique(np.concatenate(found))
