"""Words of sequences: every stretch of k letters, as a number in the base of the alphabet."""

from itertools import product
from numbers import Integral
from typing import Any

import numpy as np

from ..kernels.types import IntArray

MAX_COLUMNS = 10_000_000


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


def letter_codes(sequences: list[str], alphabet: str) -> tuple[IntArray, IntArray]:
    """Place in the alphabet of every letter of all sequences, and the sequence it stands in.

    A letter that the alphabet does not have is -1.
    """
    code = {letter: k for k, letter in enumerate(alphabet)}
    if alphabet == alphabet.upper():
        lower = {letter.lower(): k for letter, k in code.items()}
        code = {letter: k for letter, k in lower.items() if len(letter) == 1} | code
    table = np.full(max(map(ord, code)) + 2, -1, dtype=np.int64)  # the last entry stays -1
    table[[ord(letter) for letter in code]] = list(code.values())
    # "surrogatepass" lets broken text through to the message about unknown letters.
    text = "".join(sequences).encode("utf-32-le", "surrogatepass")
    codes: IntArray = table[np.minimum(np.frombuffer(text, dtype="<u4"), len(table) - 1)]
    rows = np.repeat(np.arange(len(sequences)), [len(sequence) for sequence in sequences])
    return codes, rows


def first_unknown(codes: IntArray, rows: IntArray) -> tuple[int, int] | None:
    """Sequence and position of the first letter that is not in the alphabet."""
    unknown = np.flatnonzero(codes < 0)
    if not len(unknown):
        return None
    row = int(rows[unknown[0]])
    return row, int(unknown[0] - np.searchsorted(rows, row))


def make_words(alphabet: str, lengths: range) -> list[str]:
    """All words by length, then in the order of the alphabet."""
    return ["".join(word) for k in lengths for word in product(alphabet, repeat=k)]


def count_columns(n_letters: int, lengths: range) -> int:
    """How many words there are."""
    return sum(n_letters**k for k in lengths)


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
