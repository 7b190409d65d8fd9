"""What the description and the pages of a Parquet file would take, counted before they do."""

import os
import struct
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple

from ...exceptions import TableError
from ..amounts import amount
from ..opening import open_regular
from ..settings import READ, ReadSettings
from ..tables.limits import Budget
from .thrift import LIST, Walk

if TYPE_CHECKING:
    import pyarrow.parquet as pq

MARK = b"PAR1"
TAIL = 8  # the length of the description, and the mark
# Lists of the description: columns, groups of rows, columns in each of them, remarks.
COLUMNS = (2,)
LISTS = (COLUMNS, (4,), (4, 1), (5,))
# Fields of the header of a page: its sizes, and its number of values in either version.
PLAIN_SIZE, STORED_SIZE, VALUES, VALUES_2 = (2,), (3,), (5, 1), (8, 1)
PAGE_HEADER = 1024  # bytes read at a time; most headers have fewer than a hundred
BYTES_TYPES = ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
# Encodings of text in which no row refers to another one; pyarrow reads them as codes.
PLAIN = frozenset({"PLAIN", "PLAIN_DICTIONARY", "RLE_DICTIONARY", "RLE", "BIT_PACKED"})


class PageSizes(NamedTuple):
    """The pages of one column in one group of rows.

    Attributes
    ----------
    largest : int
        Bytes of the largest page, decompressed.
    dictionary : int
        Bytes of the dictionary, decompressed.
    mean : int
        Bytes of one value.
    """

    largest: int
    dictionary: int
    mean: int


def check_description(path: Path, settings: ReadSettings = READ) -> None:
    """Refuse a file whose description would take far more memory than the file has bytes."""
    _check_description(path, path.stat().st_mtime_ns, settings)


@lru_cache  # files are opened several times: for names, sizes and rows
def _check_description(path: Path, changed: int, settings: ReadSettings) -> None:
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        file.seek(max(size - TAIL, 0))
        tail = file.read(TAIL)
        if len(tail) < TAIL or tail[4:] != MARK:
            return  # pyarrow says what is wrong
        length = struct.unpack("<I", tail[:4])[0]
        if length <= settings.parquet_plain or length + TAIL > size:
            return
        file.seek(size - TAIL - length)
        content = file.read(length)
    further = max(length - settings.parquet_small, 0) // settings.parquet_column
    counted, most = 0, settings.parquet_columns + further

    def count(where: tuple[int, ...], kind: int, value: int) -> None:
        nonlocal counted
        counted += value if kind == LIST and where in LISTS else 0
        if counted > most or (where == COLUMNS and value > settings.parquet_columns):
            raise _too_many(path, most, length)

    walk = Walk(content, count)
    try:
        walk.struct()
    except TableError:
        raise
    except (IndexError, ValueError) as error:
        raise _damaged(path, f"its description holds {error}") from error
    if walk.entries > 10 * most:  # small ones, such as the encodings of a column
        raise _too_many(path, 10 * most, length)


def _too_many(path: Path, most: int, length: int) -> TableError:
    return TableError(
        path,
        f"describes more than {most:,} columns, groups of rows and remarks in {length:,} bytes; "
        "the file is damaged, or write it with larger groups of rows",
    )


def check_pages(
    file: "pq.ParquetFile",
    path: Path,
    columns: Sequence[str],
    budget: Budget,
    coded: Collection[str] = (),
) -> int:
    """Refuse pages that take more than half of the budget when they are decompressed.

    Returns
    -------
    longest : int
        Bytes that a text has in the mean, or could have in each row of a batch where few bytes
        make long texts: where rows refer to a dictionary, if the column is not among those that
        are read as `coded`, or share their beginnings with the rows above.
    """
    metadata, longest, wanted = file.metadata, 0, set(columns)
    with open_regular(path) as raw:
        for k in range(metadata.num_row_groups):
            group, total = metadata.row_group(k), 0
            for j in range(group.num_columns):
                chunk = group.column(j)
                name = _top(chunk.path_in_schema, wanted)
                if name is None:
                    continue
                pages, is_text = _pages(raw, path, chunk), chunk.physical_type in BYTES_TYPES
                # A text is in memory twice: in its page, and as what is made of it.
                total += (pages.largest + pages.dictionary) * (2 if is_text else 1)
                if total > budget.allowed // 2:
                    raise TableError(
                        path,
                        f"its pages take {amount(total)} when decompressed, but those of a file "
                        f"of {amount(budget.size)} may take at most {amount(budget.allowed // 2)}; "
                        f"{budget.way}",
                        column=name,
                    )
                longest = max(longest, pages.mean if is_text else 0)
                if is_text and name not in coded:
                    shared = 0 if is_plain(chunk) else pages.largest
                    longest = max(longest, pages.dictionary, shared)
    return longest


def is_plain(chunk: Any) -> bool:
    """Whether a column can be read as codes."""
    return PLAIN.issuperset(chunk.encodings)


def _top(where: str, wanted: set[str]) -> str | None:
    """The column that a path inside the schema belongs to; names may hold points."""
    if where in wanted:
        return where
    parts = where.split(".")
    starts = (".".join(parts[:n]) for n in range(1, len(parts)))
    return next((start for start in starts if start in wanted), None)


def _pages(raw: BinaryIO, path: Path, chunk: Any) -> PageSizes:
    """Sizes of the pages that pyarrow will read: until it has the values that are declared."""
    start, dictionary, largest = chunk.data_page_offset, 0, 0
    if chunk.has_dictionary_page and 0 < chunk.dictionary_page_offset < start:
        start = chunk.dictionary_page_offset
    end, values, total = start + chunk.total_compressed_size, 0, 0
    while start < end and values < chunk.num_values:
        page = _page(raw, path, start)
        values += page.values
        if page.values:
            largest, total = max(largest, page.plain), total + page.plain
        else:
            dictionary = max(dictionary, page.plain)
        start = page.end
    return PageSizes(largest, dictionary, total // max(values, 1))


class _Page(NamedTuple):
    """Bytes when decompressed, values (none in a dictionary), and where the next page starts."""

    plain: int
    values: int
    end: int


def _page(raw: BinaryIO, path: Path, start: int) -> _Page:
    found = {PLAIN_SIZE: -1, STORED_SIZE: -1, VALUES: 0, VALUES_2: 0}

    def note(where: tuple[int, ...], kind: int, value: int) -> None:
        if where in found:
            found[where] = value

    length = PAGE_HEADER
    while True:
        raw.seek(start)
        content = raw.read(length)
        walk = Walk(content, note)
        try:
            walk.struct()
            break
        except IndexError as error:
            if len(content) < length:
                raise _damaged(path, "a page is cut short") from error
            length *= 32
        except ValueError as error:
            raise _damaged(path, f"the header of a page holds {error}") from error
    if min(found.values()) < 0:
        raise _damaged(path, "the header of a page declares no size, or less than nothing")
    end = start + walk.place + found[STORED_SIZE]
    return _Page(found[PLAIN_SIZE], found[VALUES] + found[VALUES_2], end)


def _damaged(path: Path, problem: str) -> TableError:
    return TableError(path, f"cannot be read as Parquet: {problem}; the file is damaged")
