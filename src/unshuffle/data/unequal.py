"""Rows and labels in groups that may have more of one than of the other."""

from dataclasses import dataclass

import numpy as np

from ..kernels.types import FloatArray, IntArray

NO_PAIRS: IntArray = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class UnequalProblem:
    """Features and labels of two tables, arranged group by group.

    Arranged rows and labels of group g are ``row_starts[g]:row_starts[g + 1]`` and
    ``label_starts[g]:label_starts[g + 1]``; labels ascend inside a group. The last `n_known` of
    both surely belong together, one to one. Groups with rows or labels only are left out.

    Attributes
    ----------
    X : array of shape (n_rows, d)
        Features, arranged.
    y : array of shape (n_labels,)
        Labels, arranged.
    row_starts, label_starts : arrays of shape (n_groups + 1,)
    row_numbers, label_numbers : arrays of shape (n_rows,) and (n_labels,)
        Numbers of arranged rows and labels in the user's tables.
    n_known : int
    n_given_rows, n_given_labels : int
        Rows and labels of the user's tables.
    n_groups_without_labels, n_groups_without_rows : int
        Groups that were left out.
    """

    X: FloatArray
    y: FloatArray
    row_starts: IntArray
    label_starts: IntArray
    row_numbers: IntArray
    label_numbers: IntArray
    n_known: int
    n_given_rows: int
    n_given_labels: int
    n_groups_without_labels: int
    n_groups_without_rows: int

    @property
    def n_rows(self) -> int:
        """Rows in groups that have labels, known ones included."""
        return len(self.row_numbers)

    @property
    def n_labels(self) -> int:
        """Labels in groups that have rows, known ones included."""
        return len(self.label_numbers)

    @property
    def n_open_rows(self) -> int:
        """Rows whose label is not known."""
        return int(self.row_starts[-1])

    @property
    def n_open_labels(self) -> int:
        """Labels whose row is not known."""
        return int(self.label_starts[-1])

    @property
    def n_groups(self) -> int:
        """Groups that have rows and labels to be matched."""
        return len(self.row_starts) - 1

    @property
    def group_rows(self) -> IntArray:
        """Rows of each group."""
        return np.diff(self.row_starts)

    @property
    def group_labels(self) -> IntArray:
        """Labels of each group."""
        return np.diff(self.label_starts)

    @property
    def most_pairs(self) -> int:
        """Open rows that can have a label at most: the smaller side of each group."""
        return int(np.minimum(self.group_rows, self.group_labels).sum())

    @property
    def largest_share(self) -> float:
        """Largest share of the open rows that can have a label."""
        return self.most_pairs / max(self.n_open_rows, 1)

    def with_labels(self, y: FloatArray) -> "UnequalProblem":
        """The same rows and groups with other (arranged) labels, ascending inside groups."""
        return UnequalProblem(**{**vars(self), "y": y})

    def thinned(self, step: int) -> "UnequalProblem":
        """Every `step`-th group, without known rows."""
        return self.take_groups(np.arange(0, self.n_groups, step))

    def take_groups(self, groups: IntArray, known: IntArray = NO_PAIRS) -> "UnequalProblem":
        """Some groups, and some of the known pairs, each as often as it is named."""
        rows = _members(self.row_starts, groups)
        labels = _members(self.label_starts, groups)
        rows = np.concatenate([rows, self.n_open_rows + known])
        labels = np.concatenate([labels, self.n_open_labels + known])
        return UnequalProblem(
            self.X[rows],
            self.y[labels],
            _edges(self.group_rows[groups]),
            _edges(self.group_labels[groups]),
            self.row_numbers[rows],
            self.label_numbers[labels],
            len(known),
            self.n_given_rows,
            self.n_given_labels,
            self.n_groups_without_labels,
            self.n_groups_without_rows,
        )


def make_unequal_problem(
    X: FloatArray,
    y: FloatArray,
    of_rows: IntArray,
    of_labels: IntArray,
    known_rows: IntArray = NO_PAIRS,
    known_labels: IntArray = NO_PAIRS,
) -> UnequalProblem:
    """Arrange two tables.

    Parameters
    ----------
    X, y : arrays of shape (n_rows, d) and (n_labels,)
    of_rows, of_labels : arrays of shape (n_rows,) and (n_labels,)
        Numbers of the groups, counted alike.
    known_rows, known_labels : arrays of int
        Rows and labels that surely belong together, one to one.
    """
    size = int(max(of_rows.max(initial=-1), of_labels.max(initial=-1))) + 1
    open_rows, open_labels = np.ones(len(of_rows), bool), np.ones(len(of_labels), bool)
    open_rows[known_rows], open_labels[known_labels] = False, False
    n_rows = np.bincount(of_rows[open_rows], minlength=size)
    n_labels = np.bincount(of_labels[open_labels], minlength=size)
    both = (n_rows > 0) & (n_labels > 0)
    rows = np.flatnonzero(open_rows & both[of_rows])
    labels = np.flatnonzero(open_labels & both[of_labels])
    rows = rows[np.argsort(of_rows[rows], kind="stable")]
    labels = labels[np.lexsort((y[labels], of_labels[labels]))]
    row_numbers = np.concatenate([rows, known_rows]).astype(np.int64)
    label_numbers = np.concatenate([labels, known_labels]).astype(np.int64)
    return UnequalProblem(
        np.ascontiguousarray(X[row_numbers]),
        y[label_numbers],
        _edges(n_rows[both]),
        _edges(n_labels[both]),
        row_numbers,
        label_numbers,
        len(known_rows),
        len(of_rows),
        len(of_labels),
        int(np.sum((n_rows > 0) & (n_labels == 0))),
        int(np.sum((n_labels > 0) & (n_rows == 0))),
    )


def _edges(sizes: IntArray) -> IntArray:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)


def _members(starts: IntArray, groups: IntArray) -> IntArray:
    if not len(groups):
        return NO_PAIRS
    return np.concatenate([np.arange(starts[g], starts[g + 1]) for g in groups])
