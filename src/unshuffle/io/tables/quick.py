"""Large plain text files through pyarrow, where that is sure to give what the strict reader gives.

A file is plain where it is ASCII without quotes, NUL bytes and lone carriage returns. Whatever
pyarrow stumbles over is left to the strict reader, which then says what is wrong and where. pyarrow
takes fewer things for a number than the strict reader does, apart from nan and infinity, which are
looked for; so nothing passes here that would not pass there.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from .cells import MISSING, MISSING_NUMBER, NUMBER, Kind

if TYPE_CHECKING:
    import pyarrow as pa

WORTH_IT = 4 << 20  # bytes; below, loading pyarrow takes longer than reading
BLOCK = 4 << 20
# What a number may begin with; categories that do are left to the strict reader.
NUMERIC = tuple("+-.0123456789")
NOT_FINITE = frozenset({"inf", "infinity", "nan"})
QuickKind = Literal["number", "text", "category"]


def settle(kinds: Mapping[str, Kind], row: Mapping[str, str]) -> dict[str, QuickKind]:
    """Take columns that may be either for what the first row says; a wrong guess costs time."""
    guess: dict[str, QuickKind] = {}
    for name, kind in kinds.items():
        if kind == "either":
            guess[name] = "number" if NUMBER.fullmatch(row[name]) else "category"
        else:
            guess[name] = kind
    return guess


def read_quickly(
    path: Path, separator: str, names: Sequence[str], kinds: Mapping[str, QuickKind]
) -> dict[str, NDArray[Any]] | None:
    """Columns by name, or None where the strict reader has to look.

    Parameters
    ----------
    path : Path
    separator : str
    names : sequence of str
        The header.
    kinds : dict
        Columns to read: "number", "text", or "category" for text that is no number.
    """
    if path.stat().st_size < WORTH_IT or find_spec("pyarrow") is None or not _is_plain(path):
        return None
    import pyarrow as pa
    import pyarrow.csv as reader

    types = {
        name: pa.float64() if kind == "number" else pa.string() for name, kind in kinds.items()
    }
    chunks: dict[str, list[NDArray[Any]]] = {name: [] for name in kinds}
    try:
        with reader.open_csv(
            path,
            reader.ReadOptions(
                use_threads=False, block_size=BLOCK, column_names=list(names), skip_rows=1
            ),
            reader.ParseOptions(
                delimiter=separator, quote_char=False, double_quote=False, ignore_empty_lines=False
            ),
            reader.ConvertOptions(column_types=types, include_columns=list(kinds), null_values=[]),
        ) as batches:
            for batch in batches:
                for name, kind in kinds.items():
                    column = batch.column(batch.schema.get_field_index(name))
                    values = _numbers(column) if kind == "number" else _names(column, kind)
                    if values is None:
                        return None
                    chunks[name].append(values)
    except pa.ArrowException:
        return None
    return {name: np.concatenate(chunks.pop(name)) for name in kinds}


def _is_plain(path: Path) -> bool:
    with path.open("rb") as file:
        while block := file.read(BLOCK):
            odd = b'"' in block or b"\0" in block or not block.isascii()
            if odd or block.count(b"\r") != block.count(b"\r\n"):
                return False
    return True


def _numbers(column: "pa.Array") -> NDArray[Any] | None:
    values = column.to_numpy(zero_copy_only=False)
    return values if column.null_count == 0 and np.isfinite(values).all() else None


def _names(column: "pa.Array", kind: QuickKind) -> NDArray[Any] | None:
    """Names, each kept once; None where one is missing or may be a number."""
    coded = column.dictionary_encode()
    names = [name.strip() for name in coded.dictionary.to_pylist()]
    if not MISSING.isdisjoint(names) or column.null_count:
        return None
    if kind == "category" and any(_may_be_number(name) for name in names):
        return None
    kept: NDArray[Any] = np.array(names, dtype=object)
    return np.asarray(kept[coded.indices.to_numpy()])


def _may_be_number(name: str) -> bool:
    return name.startswith(NUMERIC) or name in MISSING_NUMBER or name.casefold() in NOT_FINITE
