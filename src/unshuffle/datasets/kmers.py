"""Sequences to numbers: how often each short word occurs."""

from itertools import product
from numbers import Integral
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.base import BaseEstimator, TransformerMixin

from ..kernels.types import IntArray

MAX_COLUMNS = 10_000_000


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
        shape = (len(sequences), sum(len(self.alphabet) ** k for k in lengths))
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
        kmers = ["".join(word) for k in lengths for word in product(self.alphabet, repeat=k)]
        return np.array(kmers, dtype=object)

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


def check_alphabet(alphabet: Any) -> None:
    """At least one letter, each once."""
    if not isinstance(alphabet, str) or not alphabet:
        raise ValueError(
            f"alphabet must be a string of at least one letter, like 'ACGT'; got {alphabet!r}"
        )
    for letter in alphabet:
        if alphabet.count(letter) > 1:
            raise ValueError(f"alphabet {alphabet!r} holds {letter!r} more than once")


def check_lengths(k_min: Any, k_max: Any, n_letters: int) -> None:
    """Word lengths that make sense and a table that fits into memory."""
    for name, value in (("k_min", k_min), ("k_max", k_max)):
        if not isinstance(value, Integral) or isinstance(value, bool) or value < 1:
            raise ValueError(f"{name} must be a whole number from 1 on, got {value!r}")
    if k_min > k_max:
        raise ValueError(f"k_min={k_min} is larger than k_max={k_max}; no word has such a length")
    n_columns = 0
    for k in range(k_min, k_max + 1):
        # Beyond 64 letters the power is too large in any case, and could have millions of digits.
        n_columns += n_letters ** min(int(k), 64)
        if n_columns > MAX_COLUMNS:
            raise ValueError(
                f"k_max={k_max} with an alphabet of {n_letters} letters makes more than "
                f"{MAX_COLUMNS:,} columns; choose a smaller k_max"
            )


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
    code = {letter: k for k, letter in enumerate(alphabet)}
    if alphabet == alphabet.upper():
        lower = {letter.lower(): k for letter, k in code.items()}
        code = {letter: k for letter, k in lower.items() if len(letter) == 1} | code
    table = np.full(max(map(ord, code)) + 2, -1, dtype=np.int64)  # the last entry stays -1
    table[[ord(letter) for letter in code]] = list(code.values())
    # "surrogatepass" lets broken text through to the message about unknown letters.
    text = "".join(sequences).encode("utf-32-le", "surrogatepass")
    codes = table[np.minimum(np.frombuffer(text, dtype="<u4"), len(table) - 1)]
    rows = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence in sequences])
    unknown = np.flatnonzero(codes < 0)
    if len(unknown):
        i = int(rows[unknown[0]])
        position = int(unknown[0] - np.searchsorted(rows, i))
        raise ValueError(
            f"sequence {i} holds {sequences[i][position]!r} at position {position} (both counted "
            f"from 0), which is not in the alphabet {alphabet!r}; leave out such sequences or "
            "add the letter to `alphabet`"
        )
    return codes, rows


def find_words(
    codes: IntArray, rows: IntArray, n_letters: int, lengths: range
) -> tuple[IntArray, IntArray]:
    """Row and column of every word.

    A word is a number in base `n_letters`, so the words that start at every letter grow by one
    letter at the cost of one multiplication and one addition. Words that run over the end of
    their sequence are left out.
    """
    in_rows, in_columns, words, offset = [], [], codes, 0
    for k in range(1, lengths.stop):
        if k > 1:
            words = words[:-1] * n_letters + codes[k - 1 :]
        if k in lengths:
            first = rows[: len(words)]
            inside = first == rows[k - 1 :]
            in_rows.append(first[inside])
            in_columns.append(words[inside] + offset)
            offset += n_letters**k
    return np.concatenate(in_rows), np.concatenate(in_columns)
