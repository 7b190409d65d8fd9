"""Features that look like identifiers: numbers that count the rows, or names of single rows."""

import re
from collections.abc import Iterator, Sequence

import numpy as np

from ...kernels.types import FloatArray
from .design import DesignColumn
from .table import ColumnTable

FEWEST_ROWS = 10  # below, whole numbers may all differ by coincidence
LAST_YEAR = 2200
# Words at the end of a name that identifiers have: id, patient_id, patientId, sample-no.
NAMED = re.compile(
    r"(?:^|[\W_])(?:id|ids|idx|uid|uuid|guid|identifier|index|key|no|nr|row)$", re.IGNORECASE
)
CAMEL = re.compile(r"[a-z\d](?:Id|ID|Key|Index|No|Nr)$")


def find_identifiers(
    table: ColumnTable, columns: Sequence[DesignColumn]
) -> Iterator[tuple[str, str]]:
    """Each feature that looks like an identifier, and why."""
    for column in columns:
        if column.kmers is not None or table.n_rows < FEWEST_ROWS:
            continue
        values = table.columns[column.name]
        reason = (
            _why_numbers(column.name, values) if column.levels is None
            else _why_names(len(column.levels), table.n_rows)
        )  # fmt: skip
        if reason:
            yield column.name, reason


def is_named_like_one(name: str) -> bool:
    """Whether a name ends as those of identifiers do.

    Examples
    --------
    >>> from unshuffle.io.tables.identifiers import is_named_like_one
    >>> [name for name in ("patient_id", "sampleNo", "humid", "monkey") if is_named_like_one(name)]
    ['patient_id', 'sampleNo']
    """
    return bool(NAMED.search(name) or CAMEL.search(name))


def _why_numbers(name: str, values: FloatArray) -> str:
    if values[0] != np.floor(values[0]) or not np.array_equal(values, np.floor(values)):
        return ""
    ordered = np.unique(values)
    if len(ordered) < len(values):
        return ""
    # Years and other scales are in sequence as well, but do not start where counting does, nor are
    # they as large as running numbers of accounts or samples.
    starts_like_one = ordered[0] in (0.0, 1.0) or ordered[0] > LAST_YEAR
    if ordered[-1] - ordered[0] == len(values) - 1 and starts_like_one:
        return f"it counts the rows, from {ordered[0]:.0f} to {ordered[-1]:.0f}"
    if is_named_like_one(name):
        return "it holds another whole number in every row"
    return ""


def _why_names(n_levels: int, n_rows: int) -> str:
    if 2 * n_levels > n_rows:
        return f"it holds {n_levels} different names in {n_rows} rows"
    return ""
