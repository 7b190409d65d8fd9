"""Columns of sequences as counts of their words (k-mers)."""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from ...exceptions import Problem
from ...kernels.types import FloatArray
from ..sequences import (
    check_alphabet,
    check_lengths,
    count_columns,
    find_words,
    first_unknown,
    letter_codes,
    make_words,
)
from .table import ColumnTable

DNA, RNA = "ACGT", "ACGU"
LETTERS_AT_ONCE = 1 << 17  # each takes about a hundred bytes while words are counted
ASKED = re.compile(r"(?P<name>.+?):(?P<low>\d{1,3})(?:-(?P<high>\d{1,3}))?(?::(?P<letters>[^:]+))?")


class Kmers(NamedTuple):
    """Which words of a sequence are counted.

    Attributes
    ----------
    low, high : int
        Letters of the shortest and of the longest word.
    alphabet : str
        The letters that may occur; empty until the sequences have been seen.
    """

    low: int
    high: int
    alphabet: str = ""

    @property
    def n_words(self) -> int:
        """How many words there are."""
        return count_columns(len(self.alphabet), self.lengths)

    @property
    def words(self) -> list[str]:
        """All words by length, then in the order of the alphabet."""
        return make_words(self.alphabet, self.lengths)

    @property
    def lengths(self) -> range:
        """Letters of the words."""
        return range(self.low, self.high + 1)

    def check(self) -> None:
        """Lengths and letters must make sense, and not too many words."""
        check_alphabet(self.alphabet)
        check_lengths(self.low, self.high, len(self.alphabet))


def parse_kmers(asked: Sequence[str]) -> dict[str, Kmers]:
    """Columns and their words from texts such as "sequence:1-3" or "sequence:2:ACGU".

    Examples
    --------
    >>> from unshuffle.io.tables.kmers import parse_kmers
    >>> parse_kmers(["sequence:1-3"])
    {'sequence': Kmers(low=1, high=3, alphabet='')}
    """
    columns: dict[str, Kmers] = {}
    for text in asked:
        found = ASKED.fullmatch(text)
        if found is None:
            raise ValueError(
                f"k-mers are asked for as COLUMN:SHORTEST-LONGEST, such as sequence:1-3, got "
                f"{text!r}"
            )
        low = int(found["low"])
        kmers = Kmers(low, int(found["high"] or low), found["letters"] or "")
        kmers._replace(alphabet=kmers.alphabet or DNA).check()
        if found["name"] in columns:
            raise ValueError(f"k-mers of the column {found['name']!r} are asked for twice")
        columns[found["name"]] = kmers
    return columns


def learn_alphabet(table: ColumnTable, name: str, kmers: Kmers) -> Kmers:
    """DNA or RNA, whichever the sequences are, unless an alphabet is given."""
    if kmers.alphabet:
        return kmers
    different = set(table.columns[name])
    has_u = any("U" in sequence or "u" in sequence for sequence in different)
    has_t = any("T" in sequence or "t" in sequence for sequence in different)
    return kmers._replace(alphabet=RNA if has_u and not has_t else DNA)


def count_words(table: ColumnTable, name: str, kmers: Kmers, counts: FloatArray) -> None:
    """Write how often each word occurs in each row into the columns given."""
    sequences = table.columns[name].tolist()
    for rows in _pieces(sequences):
        part = sequences[rows]
        codes, places = letter_codes(part, kmers.alphabet)
        unknown = first_unknown(codes, places)
        if unknown is not None:
            row, position = unknown
            problem = Problem(
                f"the letter {part[row][position]!r} at position {position + 1} is not in the "
                f"alphabet {kmers.alphabet!r}",
                "correct it, or name the letters that may occur after the lengths "
                f"({name}:{kmers.low}-{kmers.high}:LETTERS)",
                "letters",
            )
            raise table.error(problem, rows.start + row, name)
        row_of, word = find_words(codes, places, len(kmers.alphabet), kmers.lengths)
        counts[rows] = 0.0
        np.add.at(counts, (rows.start + row_of, word), 1.0)


def _pieces(sequences: list[str]) -> Iterator[slice]:
    """Rows some at a time; one long sequence is a piece of its own."""
    start = letters = 0
    for k, sequence in enumerate(sequences):
        if letters and letters + len(sequence) > LETTERS_AT_ONCE:
            yield slice(start, k)
            start, letters = k, 0
        letters += len(sequence)
    yield slice(start, len(sequences))
