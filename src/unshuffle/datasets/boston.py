"""The Boston housing table, shipped with the package."""

import gzip
from dataclasses import dataclass
from importlib.resources import files

import numpy as np

from ..kernels.types import FloatArray


@dataclass(frozen=True, eq=False)
class BostonHousing:
    """506 census tracts.

    Attributes
    ----------
    data : array of shape (506, 14)
    columns : tuple of str
        Names of the columns of `data`.
    """

    data: FloatArray
    columns: tuple[str, ...]

    def column(self, name: str) -> FloatArray:
        """One column by its name."""
        return self.data[:, self.columns.index(name)]

    def without(self, name: str) -> FloatArray:
        """Every column but one."""
        return np.delete(self.data, self.columns.index(name), axis=1)


def load_boston() -> BostonHousing:
    """Load the Boston housing data (Harrison & Rubinfeld 1978).

    It is here because the paper uses it. scikit-learn removed it in version 1.2: its column B
    encodes the racist premise that self-segregation raises house prices, and the data were made
    to study air pollution without testing that premise. Use it to compare methods, not to learn
    about houses.

    Returns
    -------
    boston : BostonHousing

    Examples
    --------
    >>> from unshuffle.datasets import load_boston
    >>> boston = load_boston()
    >>> boston.data.shape
    (506, 14)
    """
    source = files(__package__) / "data" / "boston.csv.gz"
    with source.open("rb") as raw, gzip.open(raw, "rt", encoding="ascii") as lines:
        columns = tuple(next(lines).strip().split(","))
        return BostonHousing(np.loadtxt(lines, delimiter=","), columns)
