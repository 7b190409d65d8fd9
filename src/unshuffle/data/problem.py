"""The data of a fit, arranged so that every loop runs over contiguous blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..kernels.types import BoolArray, FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class Problem:
    """Features and labels whose pairing is lost inside groups.

    Labels, and every vector beside them, stand in the *arranged* order: rows that can exchange
    labels first, group by group, then the rows whose label is surely theirs (known ones, and
    groups with nobody to exchange with). X alone stays as the user gave it, so that it is never
    copied; `arrange` and `restore` lead from one order to the other.

    Attributes
    ----------
    X : array of shape (n, d)
        Features, in the user's order.
    y : array of shape (n,)
        Labels, arranged: ``y[i]`` is the label given beside arranged row i.
    starts : array of shape (n_blocks + 1,)
        Block g is ``starts[g]:starts[g + 1]``; rows from ``starts[-1]`` on are pinned.
    order : array of shape (n,) or None
        Arranged row i is row ``order[i]`` of the user's; None where the two orders are the same.
    n_groups : int
        Number of groups as the user counts them, pinned ones included.
    """

    X: FloatArray
    y: FloatArray
    starts: IntArray
    order: IntArray | None
    n_groups: int

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.y)

    @property
    def n_movable(self) -> int:
        """Number of rows that can exchange their label."""
        return int(self.starts[-1])

    @property
    def n_blocks(self) -> int:
        """Number of groups inside which labels can move."""
        return len(self.starts) - 1

    @cached_property
    def label_spread(self) -> float:
        """Standard deviation of the labels."""
        return float(self.y.std())

    def arrange(self, values: FloatArray) -> FloatArray:
        """Put one value per row of the user's into the arranged order."""
        return values if self.order is None else values[self.order]

    def restore(self, values: FloatArray) -> FloatArray:
        """Put one value per arranged row back into the user's order."""
        if self.order is None:
            return values
        restored = np.empty_like(values)
        restored[self.order] = values
        return restored

    def user_rows(self, rows: IntArray) -> IntArray:
        """The user's numbers of arranged rows."""
        return rows if self.order is None else self.order[rows]

    def arranged_rows(self, rows: IntArray) -> IntArray:
        """The arranged numbers of the user's rows."""
        if self.order is None:
            return rows
        place = np.empty_like(self.order)
        place[self.order] = np.arange(len(place))
        return place[rows]

    def thinned(self, step: int) -> Problem:
        """Every `step`-th group, and every `step`-th of the pinned rows."""
        sizes = np.diff(self.starts)
        kept = np.arange(0, self.n_blocks, step)
        blocks = [np.arange(self.starts[g], self.starts[g + 1]) for g in kept]
        rows = np.concatenate([*blocks, np.arange(self.n_movable, self.n_rows, step)])
        starts = np.concatenate([[0], np.cumsum(sizes[kept])]).astype(np.int64)
        X = self.X[self.user_rows(rows)]
        return Problem(X, self.y[rows], starts, None, len(kept) + len(rows) - int(starts[-1]))

    def squares_inside(self, values: FloatArray) -> float:
        """Sum of squares of (arranged) values of the rows that can move, around group means."""
        if self.n_movable == 0:
            return 0.0
        movable, sizes = values[: self.n_movable], np.diff(self.starts)
        means = np.add.reduceat(movable, self.starts[:-1]) / sizes
        distance = movable - np.repeat(means, sizes)
        return float(distance @ distance)

    def restore_permutation(self, perm: IntArray) -> IntArray:
        """Express `perm` in the user's row numbers: row i holds the user's label ``out[i]``."""
        if self.order is None:
            return perm
        restored = np.empty_like(perm)
        restored[self.order] = self.order[perm]
        return restored


def make_problem(X: FloatArray, y: FloatArray, codes: IntArray, known: BoolArray) -> Problem:
    """Arrange labels into contiguous blocks.

    Parameters
    ----------
    X, y : arrays of shape (n, d) and (n,)
    codes : array of shape (n,)
        Group number of each row, 0 .. n_groups - 1, in order of first appearance.
    known : array of shape (n,)
        True where the label is surely the row's own.
    """
    n_groups = int(codes.max()) + 1
    movable = np.bincount(codes[~known], minlength=n_groups)
    pinned = known | (movable[codes] < 2)
    key = np.where(pinned, n_groups, codes)
    sizes = movable[movable >= 2]
    starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    if np.all(key[:-1] <= key[1:]):
        return Problem(X, y, starts, None, n_groups)
    order = np.argsort(key, kind="stable")
    return Problem(X, y[order], starts, order, n_groups)
