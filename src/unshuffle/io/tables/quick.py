"""Large plain text files through pyarrow, where it gives exactly what the strict reader gives.

A file is plain where it is ASCII without quotes, NUL bytes and lone carriage returns. What
pyarrow cannot read is left to the strict reader, which names the problem and its place. pyarrow
accepts fewer cells as numbers than the strict reader does, apart from nan and infinity, which are
looked for; so nothing is read here that the strict reader would refuse.
"""

from collections.abc import Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from ..opening import open_regular
from ..settings import READ, ReadSettings
from .cells import MISSING, MISSING_NUMBER, NUMBER, Kind

if TYPE_CHECKING:
    import pyarrow as pa

# What a number may start with; categories that do are left to the strict reader.
NUMERIC = tuple("+-.0123456789")
NOT_FINITE = frozenset({"inf", "infinity", "nan"})
QuickKind = Literal["number", "text", "category"]


def guess_kinds(kinds: Mapping[str, Kind], row: Mapping[str, str]) -> dict[str, QuickKind]:
    """Guess from the first row whether a column holds numbers; a wrong guess costs time only."""
    guess: dict[str, QuickKind] = {}
    for name, kind in kinds.items():
        if kind == "either":
            guess[name] = "number" if NUMBER.fullmatch(row[name]) else "category"
        else:
            guess[name] = kind
    return guess


def read_quickly(
    path: Path,
    separator: str,
    names: Sequence[str],
    kinds: Mapping[str, QuickKind],
    settings: ReadSettings = READ,
) -> dict[str, NDArray[Any]] | None:
    """Columns by name, or None where the strict reader is needed.

    Parameters
    ----------
    path : Path
    separator : str
    names : sequence of str
        The header.
    kinds : dict
        Columns to read: "number", "text", or "category" for text that is no number.
    """
    if path.stat().st_size < settings.fast_from or len(names) > settings.fast_columns:
        return None
    if find_spec("pyarrow") is None:
        return None
    if not _is_plain(path, settings.fast_block):
        return None
    import pyarrow as pa
    import pyarrow.csv as reader

    types = {
        name: pa.float64() if kind == "number" else pa.string() for name, kind in kinds.items()
    }
    chunks: dict[str, list[NDArray[Any]]] = {name: [] for name in kinds}
    try:
        with (
            open_regular(path) as file,
            reader.open_csv(
                file,  # not by its name, which may be no UTF-8
                reader.ReadOptions(
                    use_threads=False,
                    block_size=settings.fast_block,
                    column_names=list(names),
                    skip_rows=1,
                ),
                reader.ParseOptions(
                    delimiter=separator,
                    quote_char=False,
                    double_quote=False,
                    ignore_empty_lines=False,
                ),
                reader.ConvertOptions(
                    column_types=types, include_columns=list(kinds), null_values=[]
                ),
            ) as batches,
        ):
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


def _is_plain(path: Path, size: int) -> bool:
    with open_regular(path) as file:
        while block := file.read(size):
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
