"""Reader for the aptamer microarray of Knight et al. (2009), which users bring themselves."""

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from ..exceptions import TableError
from ..io.tables.text import TextFile
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
    TableError
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
    if not file.is_file():
        raise FileNotFoundError(
            f"no file {file}. The aptamer microarray is not distributed with unshuffle: take it "
            f"from the paper ({REFERENCE}) or its authors and save it as CSV or TSV with the "
            f"columns {' and '.join(map(repr, COLUMNS))}"
        )
    source = TextFile(file)
    sequence, affinity = (find_column(file, source.names, name) for name in COLUMNS)
    table = source.read([sequence, affinity], text={sequence}, numbers={affinity})
    sequences = [str(value).strip().upper() for value in table.columns[sequence]]
    for row, letters in enumerate(sequences):
        wrong = next((k for k, letter in enumerate(letters) if letter not in LETTERS), None)
        problem = ""
        if wrong is not None:
            problem = (
                f"the sequence holds {letters[wrong]!r} at position {wrong} (counted from 0); "
                f"only {', '.join(LETTERS)} are allowed"
            )
        elif len(letters) != len(sequences[0]):
            problem = (
                f"the sequence has {len(letters)} letters, but the first one has "
                f"{len(sequences[0])}; all must be of one length"
            )
        if problem:
            raise TableError(file, problem, place=table.place(row))
    return AptamerData(np.array(sequences), table.numbers(affinity))


def find_column(file: Path, names: list[str], wanted: str) -> str:
    """The column with this name, in either case."""
    found = [name for name in names if name.lower() == wanted]
    if len(found) != 1:
        listed = ", ".join(map(repr, names))
        raise TableError(
            file,
            f"the header must name one column {wanted!r} (in either case); found {listed}",
            place="line 1",
        )
    return found[0]
