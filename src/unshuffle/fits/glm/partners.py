r"""Beside which rows the own label of a row may stand, where the order is mostly right.

The label beside row j came from row i with probability

.. math::

    r_{ij} = \frac{\alpha_j w_i f(y_j \mid x_i) / \sum_k w_k}
    {(1 - \alpha_j) f(y_j \mid x_j) + \alpha_j g(y_j)},

the sum over the group. A row that does not hold its own label has it elsewhere, so that the
probabilities of its partners are those of j in proportion to :math:`r_{ij}`, and together one minus
its match probability. Labels are taken one by one: that two rows cannot hold one label is left out.
"""

from dataclasses import dataclass

import numpy as np

from ...families.exponential import RowTerms
from ...kernels.partners import likely_labels
from ...kernels.types import FloatArray, IntArray
from .data import GlmData


@dataclass(frozen=True, eq=False)
class Redraws:
    """How probable every pair of a row and a label of its group is; arranged.

    Attributes
    ----------
    rows : array of shape (n,)
        The user's numbers of the rows.
    starts : array of shape (n_blocks + 1,)
    a, u, v : arrays of shape (n,), (n, k) and (n, k)
        Terms of the log density of rows and labels.
    level : array of shape (n,)
        Of each label: log of its probability to have been redrawn over its density.
    matched : array of shape (n,)
        Probability that the label beside a row is its own.
    """

    rows: IntArray
    starts: IntArray
    a: FloatArray
    u: FloatArray
    v: FloatArray
    level: FloatArray
    matched: FloatArray


def redraws_of(
    data: GlmData,
    rows: RowTerms,
    v: FloatArray,
    log_density: FloatArray,
    redrawn: FloatArray,
    matched: FloatArray,
) -> Redraws:
    """Collect what `partners_of` needs; the weight of a row cancels among its partners."""
    n = data.n_movable
    with np.errstate(divide="ignore"):
        level = np.log(redrawn) - np.log(data.block_weights()) - log_density[:n]
    numbers = data.problem.user_rows(np.arange(data.problem.n_rows))
    return Redraws(numbers, data.problem.starts, rows.a, rows.u, v, level, matched)


def partners_of(redraws: Redraws, rows: IntArray, n_partners: int) -> tuple[IntArray, FloatArray]:
    """Rows beside which the own labels of given rows most likely stand, and how probable that is.

    Both of shape (len(rows), n_partners), in the user's numbers; -1 and nan where there are fewer.
    """
    place = np.full(int(redraws.rows.max()) + 1, -1, dtype=np.int64)
    place[redraws.rows] = np.arange(len(redraws.rows))
    arranged = place[rows]
    found = np.full((len(rows), n_partners), -1, dtype=np.int64)
    proba = np.full(found.shape, np.nan)
    movable = np.flatnonzero(arranged < redraws.starts[-1])
    if len(movable) == 0 or n_partners == 0:
        return found, proba
    inside = arranged[movable]
    block = np.searchsorted(redraws.starts, inside, side="right") - 1
    labels = np.empty((len(movable), n_partners), dtype=np.int64)
    share = np.empty(labels.shape)
    likely_labels(
        inside, redraws.starts[block], redraws.starts[block + 1], redraws.a, redraws.u,
        redraws.v, redraws.level, labels, share,
    )  # fmt: skip
    found[movable] = np.where(labels >= 0, redraws.rows[labels], -1)
    proba[movable] = share * (1.0 - redraws.matched[inside])[:, None]
    return found, proba
