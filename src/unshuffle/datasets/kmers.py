"""Sequences to numbers: how often each short word occurs."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from ..io.sequences import (
    check_alphabet,
    check_lengths,
    count_columns,
    find_words,
    first_unknown,
    letter_codes,
    make_words,
)
from ..kernels.types import IntArray


class KmerCounter(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    r"""Count the overlapping k-mers of sequences.

    Column :math:`w` of the result holds, for a sequence :math:`s` of length :math:`L`,

    .. math:: \sum_{i=1}^{L-k+1} [\, s_i s_{i+1} \dots s_{i+k-1} = w \,]

    for every word :math:`w` of `k_min` to `k_max` letters. Counts forget where a word stands: use
    them when the content of a sequence matters more than positions. Counts of neighbouring lengths
    are nearly collinear (the letters of a sequence add up from its pairs but for the ends), so
    coefficients of a regression on them are not unique, while predictions are.

    Parameters
    ----------
    k_min, k_max : int, default=1 and 3
        Shortest and longest word.
    alphabet : str, default="ACGT"
        The letters that may occur. If it has no lower-case letter, sequences may be written in
        either case.
    sparse_output : bool, default=False
        Return a SciPy CSR array instead of a NumPy array.

    Notes
    -----
    Columns stand by length, then in the order of the alphabet: A, C, G, T, AA, AC, ... There are
    :math:`\sum_k |A|^k` of them. Time grows with the number of letters times the number of
    lengths; a dense result also takes 8 bytes a cell. Nothing is learnt from the data, so
    `transform` works without `fit`.

    Examples
    --------
    >>> from unshuffle.datasets import KmerCounter
    >>> counter = KmerCounter(k_max=2, alphabet="AC")
    >>> counter.get_feature_names_out().tolist()
    ['A', 'C', 'AA', 'AC', 'CA', 'CC']
    >>> counter.fit_transform(["AACA", "CC"])
    array([[3., 1., 1., 1., 1., 0.],
           [0., 2., 0., 0., 0., 1.]])
    """

    def __init__(
        self,
        *,
        k_min: int = 1,
        k_max: int = 3,
        alphabet: str = "ACGT",
        sparse_output: bool = False,
    ) -> None:
        self.k_min = k_min
        self.k_max = k_max
        self.alphabet = alphabet
        self.sparse_output = sparse_output

    def fit(self, X: Any, y: Any = None) -> Self:
        """Check the parameters and the sequences.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,) or (n_samples, 1)
            Sequences; their lengths may differ.
        y : ignored
            Here for pipelines.

        Returns
        -------
        self : KmerCounter
        """
        self._check_parameters()
        encode(as_strings(X), self.alphabet)
        return self

    def transform(self, X: Any) -> Any:
        """Count.

        Parameters
        ----------
        X : array-like of str of shape (n_samples,) or (n_samples, 1)
            Sequences; a sequence shorter than k has no k-mers.

        Returns
        -------
        counts : array or CSR array of shape (n_samples, n_kmers)
        """
        self._check_parameters()
        sequences, lengths = as_strings(X), range(self.k_min, self.k_max + 1)
        codes, rows = encode(sequences, self.alphabet)
        row, column = find_words(codes, rows, len(self.alphabet), lengths)
        shape = (len(sequences), count_columns(len(self.alphabet), lengths))
        if not self.sparse_output:
            counts = np.bincount(row * shape[1] + column, minlength=shape[0] * shape[1])
            return counts.reshape(shape).astype(np.float64)
        # SciPy keeps the integer type it is given, and not every solver takes 64-bit indices. Words
        # that occur twice in a sequence are listed twice; SciPy adds them up.
        where = (row.astype(np.int32), column.astype(np.int32))
        return csr_array((np.ones(len(row)), where), shape=shape)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the k-mers in the order of the columns.

        Parameters
        ----------
        input_features : ignored
            Here for pipelines.

        Returns
        -------
        kmers : array of str of shape (n_kmers,)
        """
        self._check_parameters()
        lengths = range(self.k_min, self.k_max + 1)
        return np.array(make_words(self.alphabet, lengths), dtype=object)

    def _check_parameters(self) -> None:
        check_alphabet(self.alphabet)
        check_lengths(self.k_min, self.k_max, len(self.alphabet))
        if not isinstance(self.sparse_output, bool | np.bool_):
            raise ValueError(f"sparse_output must be True or False, got {self.sparse_output!r}")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.requires_fit = False
        tags.input_tags.string = True
        tags.input_tags.one_d_array = True
        tags.input_tags.two_d_array = False
        return tags


def as_strings(X: Any) -> list[str]:
    """Sequences as a list of strings."""
    if isinstance(X, str):
        raise ValueError(f"expected a list of sequences, got the single string {X!r}; write [X]")
    table = np.asarray(X, dtype=object)
    if table.ndim == 2 and table.shape[1] == 1:
        table = table[:, 0]
    if table.ndim != 1:
        raise ValueError(
            "expected sequences of shape (n_samples,) or (n_samples, 1), "
            f"got {type(X).__name__} of shape {table.shape}"
        )
    if len(table) == 0:
        raise ValueError("found no sequences; at least one is needed")
    sequences: list[str] = table.tolist()
    for i, sequence in enumerate(sequences):
        if not isinstance(sequence, str):
            raise ValueError(
                f"sequence {i} is {sequence!r} ({type(sequence).__name__}), not a string; "
                "leave out missing sequences"
            )
    return sequences


def encode(sequences: list[str], alphabet: str) -> tuple[IntArray, IntArray]:
    """Place in the alphabet of every letter of all sequences, and the sequence it stands in."""
    codes, rows = letter_codes(sequences, alphabet)
    unknown = first_unknown(codes, rows)
    if unknown is not None:
        i, position = unknown
        raise ValueError(
            f"sequence {i} holds {sequences[i][position]!r} at position {position} (both counted "
            f"from 0), which is not in the alphabet {alphabet!r}; leave out such sequences or "
            "add the letter to `alphabet`"
        )
    return codes, rows
