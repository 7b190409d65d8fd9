"""Would a repair put more labels right than wrong?"""

from typing import NamedTuple

import numpy as np

from ..kernels.types import FloatArray, IntArray
from .results import StochasticFit


class RepairExpectation(NamedTuple):
    """Expected shares of right labels.

    Attributes
    ----------
    before, after : float
        Expected share of rows that hold their own label, as given and after the repair; nan where
        it is not known.
    moved : int
        Rows whose label the repair changes.
    n_rows : int
    """

    before: float
    after: float
    moved: int
    n_rows: int

    @property
    def is_worse(self) -> bool:
        """Whether the repair is expected to put fewer labels beside their own row."""
        return self.moved > 0 and self.after < self.before

    def __str__(self) -> str:
        if np.isnan(self.before):
            return f"{self.moved} of {self.n_rows} labels move; what they gain is not known"
        change = "lower" if self.is_worse else "raise"
        return (
            f"moving {self.moved} of {self.n_rows} labels is expected to {change} the share of "
            f"right labels from {self.before:.3f} to {self.after:.3f}"
            + (
                ": keep the labels as given, and use the coefficients, or review suspects()"
                if self.is_worse
                else ""
            )
        )


def expect_repair(
    fit: StochasticFit, permutation: IntArray, matched: FloatArray | None
) -> RepairExpectation:
    """Compare the labels as given with those of a permutation, by the posterior of the fit.

    Parameters
    ----------
    fit : StochasticFit
    permutation : array of shape (n,)
        Row i is to hold the label given beside row ``permutation[i]``, in the user's order.
    matched : array of shape (n,) or None
        Probability that each row holds its own label.
    """
    n, posterior = len(permutation), fit.permutations
    rows = np.flatnonzero(permutation != np.arange(n))
    if matched is None or posterior is None:
        return RepairExpectation(float("nan"), float("nan"), len(rows), n)
    before = float(matched.mean())
    if not len(rows):
        return RepairExpectation(before, before, 0, n)
    problem = posterior.problem
    held = posterior.share_held(
        problem.arranged_rows(rows), problem.arranged_rows(permutation[rows])
    )
    after = before + float((held - matched[rows]).sum()) / n
    return RepairExpectation(before, after, len(rows), n)
