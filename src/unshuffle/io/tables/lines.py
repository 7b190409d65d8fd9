"""Bytes to lines of text: decompressed, decoded, counted and checked."""

import io
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from ...exceptions import TableError
from ..compression import compression_of, decompress
from ..opening import open_regular
from ..settings import READ, ReadSettings

NEWLINE = b"\n"
MARKS = {
    b"\xff\xfe": "UTF-16",
    b"\xfe\xff": "UTF-16",
    b"PK\x03\x04": "a spreadsheet or a zip archive",
    b"PAR1": "Parquet",
    b"\xd0\xcf\x11\xe0": "an old Excel workbook",
    b"\xfd7zXZ": "compressed with xz",
    b"%PDF": "a PDF",
}
BYTE_ORDER_MARK = b"\xef\xbb\xbf"


@dataclass
class Meter:
    """How many blocks the lines of the present rows came from; whoever takes the rows resets it."""

    blocks: int = 0


def read_lines(
    path: Path, settings: ReadSettings = READ, meter: Meter | None = None
) -> Iterator[str]:
    """Yield the lines of a text file, ends included.

    Memory stays near one block. Bytes that are not UTF-8, NUL bytes, endless lines and damaged or
    exploding compressed files raise a `TableError` that names the line. `meter` counts the blocks;
    a row that goes on through more than twice as many as are worked on at once is refused, so that
    no quote collects a whole file.
    """
    number, rest = 1, b""
    for k, block in enumerate(_blocks(path, settings)):
        if k == 0:
            _check_start(path, block)
        if meter is not None:
            meter.blocks += 1
            if meter.blocks > 2 * settings.blocks_at_once:
                most = settings.blocks_at_once * settings.text_block
                problem = f"is inside a row of more than {most:,} characters; is a quote left open?"
                raise TableError(path, problem, place=f"line {number}")
        if b"\0" in block:
            number += rest.count(b"\n") + block.count(b"\n", 0, block.find(b"\0"))
            raise TableError(
                path,
                "holds a NUL byte; the file is damaged or not plain text",
                place=f"line {number}",
            )
        rest += block if k else block.removeprefix(BYTE_ORDER_MARK)
        end = rest.rfind(b"\n") + 1
        whole, rest = rest[:end], rest[end:]
        if len(rest) > settings.longest_line:
            number += whole.count(b"\n")
            raise TableError(
                path,
                f"is longer than {settings.longest_line:,} characters; is this a table with line "
                "ends?",
                place=f"line {number}",
            )
        if whole:
            yield from io.StringIO(_decode(path, whole, number), newline="\n")
            number += whole.count(b"\n")
    if rest:
        yield _decode(path, rest, number)


def _check_start(path: Path, block: bytes) -> None:
    """Refuse a file that is not text, and name its kind."""
    for mark, kind in MARKS.items():
        if block.startswith(mark):
            raise TableError(
                path, f"is {kind}, not plain text; save it as CSV in UTF-8, or as Parquet"
            )


def _blocks(path: Path, settings: ReadSettings) -> Iterator[bytes]:
    """Decompress where the file starts like a compressed one, whatever its name says."""
    with open_regular(path) as raw:
        kind = compression_of(path, raw.peek(4))
        if kind is None:
            while block := raw.read(settings.text_block):
                yield block
        else:
            size = os.fstat(raw.fileno()).st_size
            yield from decompress(raw, path, size, kind, settings)


def _decode(path: Path, content: bytes, number: int) -> str:
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise TableError(
            path,
            f"byte 0x{content[error.start]:02X} is not UTF-8 (a file saved as Latin-1 or Windows "
            f"text?); convert it: iconv -f WINDOWS-1252 -t UTF-8 {path.name} > new.csv",
            place=f"line {number + content.count(NEWLINE, 0, error.start)}",
        ) from error
