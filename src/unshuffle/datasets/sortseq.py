"""Promoters sorted into bins by a cytometer, shipped with the package."""

import gzip
from dataclasses import dataclass
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from ..kernels.types import FloatArray, IntArray


@dataclass(frozen=True, eq=False)
class SortSeqData:
    """Promoter variants and the bins in which they were seen.

    Attributes
    ----------
    sequences : array of str of shape (n_sequences,)
        DNA, all of one length, in alphabetical order.
    counts : array of int of shape (n_sequences, 10)
        1 where a sequence was seen in a bin, else 0. Column 0 is the unsorted library; columns 1
        to 9 are the bins of the cytometer, from dark to bright.
    """

    sequences: NDArray[np.str_]
    counts: IntArray

    @property
    def mean_bin(self) -> FloatArray:
        """Mean bin of each sequence over the bins 1 to 9, shape (n_sequences,).

        The unsorted library says nothing about brightness and does not count. A sequence that was
        seen nowhere else has no mean (NaN); the shipped data hold none.
        """
        in_bin = self.counts[:, 1:]
        total = in_bin.sum(axis=1)
        weighted = in_bin @ np.arange(1.0, self.counts.shape[1])
        mean = np.full(len(total), np.nan)
        np.divide(weighted, total, out=mean, where=total > 0)
        return mean


def load_sortseq() -> SortSeqData:
    """Load a sort-seq experiment on a bacterial promoter.

    Kinney et al. (2010) mutated 75 letters of the *lac* promoter of *E. coli* (about one letter in
    nine), let the variants drive a fluorescent protein, sorted the cells by brightness into nine
    bins and sequenced each bin. A tenth sample, column 0, is by all signs the library before
    sorting (the README beside the data gives the reasons). This is the experiment they call
    full-wt.

    The cytometer is a natural maker of lost pairings: the brightness of every cell and the
    sequences in every bin are known, but not which cell held which sequence. These data hold the
    second half only, the sequences of each bin.

    A sequence is nearly always seen in one bin (98 of 100), and seen or not is all that the
    published table gives, so `mean_bin` is a coarse label. The limits of bins 1 to 9 on
    the scale of brightness are not part of the data.

    Returns
    -------
    sortseq : SortSeqData
        25,000 sequences, a random sample of the 45,066 that were seen in at least one of the
        bins 1 to 9.

    References
    ----------
    J. B. Kinney, A. Murugan, C. G. Callan and E. C. Cox, "Using deep sequencing to characterize
    the biophysical mechanism of a transcriptional regulatory sequence", PNAS 107, 9158-9163, 2010.

    Examples
    --------
    >>> from unshuffle.datasets import load_sortseq
    >>> sortseq = load_sortseq()
    >>> sortseq.counts.shape
    (25000, 10)
    >>> float(sortseq.mean_bin.min()), float(sortseq.mean_bin.max())
    (1.0, 9.0)
    """
    columns = [("sequence", "U75"), ("counts", np.int64, 10)]
    source = files(__package__) / "data" / "sortseq.csv.gz"
    with source.open("rb") as raw, gzip.open(raw, "rt", encoding="ascii") as lines:
        table = np.loadtxt(lines, dtype=columns, delimiter=",", skiprows=1)
    return SortSeqData(table["sequence"].copy(), table["counts"].copy())
