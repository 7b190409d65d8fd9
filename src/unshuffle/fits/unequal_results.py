"""What a fit knows of rows without labels and labels without rows."""

from dataclasses import dataclass

from ..kernels.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class UnmatchedFit:
    """Rows without labels and labels without rows, in the user's order.

    Attributes
    ----------
    n_rows, n_labels : int
        Given.
    rows_left_out, labels_left_out : int
        In groups that have rows or labels only.
    n_pairs : float
        Expected number of rows that hold a label, known ones included.
    match_share, match_share_se : float
        Share of the rows that have their label among those given, and its standard error (nan
        where the share was given, or lies at its bound). Known rows do not count where the order
        is lost.
    estimated : bool
        Whether the share was estimated.
    row_proba : array of shape (n_rows,)
        Probability that a row has no label among those given.
    label_proba : array of shape (n_labels,)
        Probability that a label belongs to none of the rows given. Where labels stood beside rows
        there is one for each row, nan where the label is missing.
    seen : array of shape (n_snapshots, n_rows)
        Label that each row held in snapshots of the chain, or -1 for nobody's.
    row_groups, label_groups : arrays of shape (n_rows,) and (n_labels,)
        Number of the group inside which both are matched; -1 where there is nothing to match.
    """

    n_rows: int
    n_labels: int
    rows_left_out: int
    labels_left_out: int
    n_pairs: float
    match_share: float
    match_share_se: float
    estimated: bool
    row_proba: FloatArray
    label_proba: FloatArray
    seen: IntArray
    row_groups: IntArray
    label_groups: IntArray
