"""Clues beside rows: what may say whether a row holds its own label."""

from dataclasses import dataclass

import numpy as np

from ..kernels.types import FloatArray


@dataclass(frozen=True, eq=False)
class Clues:
    """Columns of numbers that a model of mismatches uses.

    Attributes
    ----------
    values : array of shape (n, q)
        In the arranged order of a problem; no column is a combination of others.
    names : tuple of str
        One per column.
    dropped : tuple of str
        Columns that were left out, because they are constant or combinations of those before.
    largest_rate : float or None
        Bound on the mean rate of mismatches.
    """

    values: FloatArray
    names: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    largest_rate: float | None = None


def independent_columns(values: FloatArray, tolerance: float = 1e-7) -> list[int]:
    """Columns that are neither constant nor linear combinations of those before them."""
    kept: list[int] = []
    basis = np.zeros((len(values), 0))
    for j, column in enumerate(values.T):
        centred = column - column.mean()
        length = float(np.linalg.norm(centred))
        # The mean is right to the last digits of the column only.
        if length <= 1e-12 * float(np.linalg.norm(column)):
            continue
        rest = centred / length
        for _ in range(2):  # the second pass removes what rounding left
            rest = rest - basis @ (basis.T @ rest)
        left = float(np.linalg.norm(rest))
        if left > tolerance:
            kept.append(j)
            basis = np.column_stack([basis, rest / left])
    return kept
