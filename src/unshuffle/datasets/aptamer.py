"""Reader for the aptamer microarray of Knight et al. (2009), which users bring themselves."""

import codecs
import csv
import gzip
import io
import math
import os
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..kernels.types import FloatArray

COLUMNS = ("sequence", "affinity")
LETTERS = "ACGT"
REFERENCE = "C. G. Knight et al., Nucleic Acids Research 37:e6, 2009"


@dataclass(frozen=True, eq=False)
class AptamerData:
    """Aptamers and how strongly they bind.

    Attributes
    ----------
    sequences : array of str of shape (n_sequences,)
        DNA in upper case, all of one length.
    affinity : array of shape (n_sequences,)
        Binding, in the unit of the file.
    """

    sequences: NDArray[np.str_]
    affinity: FloatArray


def load_aptamers(path: str | os.PathLike[str]) -> AptamerData:
    r"""Read your own table of the aptamer microarray of Knight et al. (2009).

    The paper measured how strongly DNA aptamers bind the protein allophycocyanin. The data are
    not distributed with this package: take them from the paper or its authors and save them as a
    table with the columns `sequence` and `affinity`.

    Parameters
    ----------
    path : str or path-like
        A CSV or TSV file in UTF-8, gzipped or not, with a header line. Names of columns may be in
        either case, other columns are ignored. Sequences hold the letters A, C, G and T in either
        case and are all of one length; affinities are finite numbers with a decimal point.

    Returns
    -------
    aptamers : AptamerData

    Raises
    ------
    FileNotFoundError
        There is no such file; the message says where the data come from.
    ValueError
        The file is not such a table; the message names the file and the line.

    References
    ----------
    C. G. Knight, M. Platt, W. Rowe, D. C. Wedge, F. Khan, P. J. R. Day, A. McShea, J. Knowles,
    and D. B. Kell, "Array-based evolution of DNA aptamers allows modelling of an explicit
    sequence-fitness landscape", Nucleic Acids Research 37:e6, 2009.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from unshuffle.datasets import load_aptamers
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = Path(folder) / "aptamers.csv"
    ...     _ = table.write_text("sequence,affinity\nACGT,1.5\nTTGA,0.25\n")
    ...     load_aptamers(table).affinity
    array([1.5 , 0.25])
    """
    file = Path(path).expanduser()
    rows = read_rows(file)
    header = next(rows, None)
    if header is None:
        raise ValueError(f"{file} is empty; expected a header with the columns {needed()}")
    places = find_columns(file, *header)
    sequences: list[str] = []
    affinity: list[float] = []
    first_line = 0
    for line, fields in rows:
        where = f"{file}, line {line}"
        check_width(where, fields, header[1])
        sequence, value = (fields[place].strip() for place in places)
        sequences.append(check_sequence(where, sequence))
        affinity.append(parse_affinity(where, value))
        first_line = first_line or line
        check_same_length(where, sequences, first_line)
    if not sequences:
        raise ValueError(f"{file} holds a header but no rows below it")
    return AptamerData(np.array(sequences), np.array(affinity))


def read_rows(file: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and fields of every line that is not blank, the header among them."""
    text = read_text(file)
    first = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = "\t" if "\t" in first else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        for fields in reader:
            if any(field.strip() for field in fields):
                yield reader.line_num, fields
    except csv.Error as error:
        raise ValueError(
            f"{file}, line {reader.line_num}: cannot be split into columns ({error}); "
            "check the quotation marks"
        ) from error


def read_text(file: Path) -> str:
    """Text of the file, unpacked if need be."""
    try:
        raw = file.read_bytes()
    except FileNotFoundError as error:
        raise FileNotFoundError(
            f"no file {file}. The aptamer microarray is not distributed with unshuffle: take it "
            f"from the paper ({REFERENCE}) or its authors and save it as CSV or TSV with the "
            f"columns {needed()}"
        ) from error
    if raw.startswith(b"\x1f\x8b"):
        try:
            raw = gzip.decompress(raw)
        except (OSError, EOFError, zlib.error) as error:
            raise ValueError(f"{file} is a damaged gzip file ({error}); copy it again") from error
    raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = len(raw[: error.start + 1].splitlines())
        raise ValueError(
            f"{file}, line {line}: byte 0x{raw[error.start]:02x} is not UTF-8 text; "
            "save the table as UTF-8"
        ) from error


def find_columns(file: Path, line: int, header: list[str]) -> tuple[int, ...]:
    """Places of the needed columns."""
    where = f"{file}, line {line}"
    names = [name.strip().lower() for name in header]
    found = ", ".join(repr(name.strip()) for name in header)
    for name in names:
        if name and names.count(name) > 1:
            raise ValueError(
                f"{where}: the header names {name!r} more than once (in either case); "
                f"found {found}; rename or remove one"
            )
    missing = [name for name in COLUMNS if name not in names]
    if missing:
        raise ValueError(
            f"{where}: the header lacks {' and '.join(map(repr, missing))}; found {found}, "
            f"need {needed()}, separated by commas or tabs"
        )
    return tuple(names.index(name) for name in COLUMNS)


def check_width(where: str, fields: list[str], header: list[str]) -> None:
    """As many fields as the header has."""
    if len(fields) != len(header):
        raise ValueError(
            f"{where}: found {len(fields)} fields, but the header has {len(header)} columns"
        )


def check_sequence(where: str, sequence: str) -> str:
    """Sequence in upper case, known letters only."""
    if not sequence:
        raise ValueError(f"{where}: the sequence is empty; remove the line")
    for position, letter in enumerate(sequence):
        if letter not in LETTERS and letter not in LETTERS.lower():
            raise ValueError(
                f"{where}: the sequence holds {letter!r} at position {position} (counted from 0); "
                f"only {', '.join(LETTERS)} are allowed"
            )
    return sequence.upper()


def parse_affinity(where: str, text: str) -> float:
    """Affinity as a finite number."""
    try:
        # Python reads 1_5 as 15, which nobody means in a table.
        value = float(text.replace("_", "?"))
    except ValueError as error:
        raise ValueError(f"{where}: the affinity {text!r} is not a number") from error
    if not math.isfinite(value):
        raise ValueError(f"{where}: the affinity {text!r} is not finite; remove the line")
    return value


def check_same_length(where: str, sequences: list[str], first_line: int) -> None:
    """Last sequence as long as the first."""
    if len(sequences[-1]) != len(sequences[0]):
        raise ValueError(
            f"{where}: the sequence has {len(sequences[-1])} letters, but the one in line "
            f"{first_line} has {len(sequences[0])}; all must be of one length"
        )


def needed() -> str:
    """Names of the columns for messages."""
    return " and ".join(map(repr, COLUMNS))
