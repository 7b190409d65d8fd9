"""Compressed text, decompressed some bytes at a time: gzip, bzip2 and zstd.

No reader here returns more than it is asked for, or relies on what a file declares. What follows
the end of the compressed text must be compressed text again: bytes that are skipped would be rows
that are lost.
"""

import bz2
import gzip
import io
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from ..exceptions import TableError
from .amounts import amount
from .settings import READ, ReadSettings

# Bytes that are decompressed together. Four bytes of zstd can become 128 kB, so that more of them
# would take memory before anything could be counted.
FEW = 1 << 10
MORE = 1 << 13


class Compression(NamedTuple):
    """A kind of compressed file.

    Attributes
    ----------
    title : str
    ending : str
    mark : bytes
        What such a file starts with.
    tool : str
        The program that decompresses it.
    pieces : callable
        Of an open file; gives decompressed bytes in pieces of any length.
    damage : tuple of exception types
    """

    title: str
    ending: str
    mark: bytes
    tool: str
    pieces: Callable[[IO[bytes], ReadSettings], Iterator[bytes]]
    damage: tuple[type[Exception], ...]


class DamagedError(Exception):
    """A compressed file that ends too early, or goes on where it should have ended."""


def _gzip_pieces(raw: IO[bytes], settings: ReadSettings) -> Iterator[bytes]:
    with gzip.open(raw, "rb") as stream:
        while piece := stream.read(settings.text_block):
            yield piece


def _bzip2_pieces(raw: IO[bytes], settings: ReadSettings) -> Iterator[bytes]:
    """One stream after another, as `pbzip2` writes them."""
    block, found = raw.read(MORE), bz2.BZ2Decompressor()
    while block or not found.needs_input:
        yield found.decompress(block, settings.text_block)
        block = b""
        if found.eof:
            block = found.unused_data or raw.read(MORE)
            if not block:
                return
            found = bz2.BZ2Decompressor()
        elif found.needs_input:
            block = raw.read(MORE)
    raise DamagedError("it ends before the end of its data")


def _zstd_pieces(raw: IO[bytes], settings: ReadSettings) -> Iterator[bytes]:
    """One frame after another, as `pzstd` writes them."""
    import zstandard

    opener = zstandard.ZstdDecompressor(max_window_size=settings.zstd_window)
    found, started = opener.decompressobj(), False
    while block := raw.read(FEW):
        while block:
            yield found.decompress(block)
            started, block = True, b""
            if found.eof:
                block, found, started = found.unused_data, opener.decompressobj(), False
    if started:
        raise DamagedError("it ends before the end of its data")


def _zstd_damage() -> tuple[type[Exception], ...]:
    import zstandard

    return (zstandard.ZstdError, DamagedError)


GZIP = Compression(
    "gzip", ".gz", b"\x1f\x8b", "gunzip", _gzip_pieces, (EOFError, gzip.BadGzipFile, zlib.error)
)
BZIP2 = Compression(
    "bzip2", ".bz2", b"BZh", "bunzip2", _bzip2_pieces, (OSError, EOFError, DamagedError)
)
ZSTD = Compression("zstd", ".zst", b"\x28\xb5\x2f\xfd", "unzstd", _zstd_pieces, ())
KINDS = (GZIP, BZIP2, ZSTD)
ENDINGS = frozenset(kind.ending for kind in KINDS)


def compression_of(path: Path, start: bytes) -> Compression | None:
    """How a file is compressed, by its first bytes; its name must not say otherwise."""
    found = next((kind for kind in KINDS if start.startswith(kind.mark)), None)
    named = compression_named(path)
    if named is not None and found is not named:
        raise TableError(path, f"is called {named.ending} but is not compressed with {named.title}")
    return found


def compression_named(path: Path) -> Compression | None:
    """How a file is compressed, by its name."""
    return next((kind for kind in KINDS if path.suffix.lower() == kind.ending), None)


def decompress(
    raw: IO[bytes], path: Path, size: int, kind: Compression, settings: ReadSettings = READ
) -> Iterator[bytes]:
    """The bytes in a compressed file, in blocks; more than its size allows are refused.

    Parameters
    ----------
    raw : file
    path : Path
        Named by errors.
    size : int
        Bytes of the file.
    kind : Compression
    settings : ReadSettings
    """
    most = settings.small_text + settings.text_per_byte * max(size - settings.small_file, 0)
    damage = _zstd_damage() if kind is ZSTD else kind.damage
    done = 0
    try:
        for block in _blocks(kind.pieces(raw, settings), settings.text_block):
            done += len(block)
            if done > most:
                raise TableError(
                    path,
                    f"grows from {amount(size)} to more than {amount(most)} when decompressed, the "
                    "most for a file of its size; if it is a table, decompress it first "
                    f"({kind.tool})",
                )
            yield block
    except damage as error:
        if "too much memory" in str(error):  # of zstd alone
            most_window = amount(settings.zstd_window)
            raise TableError(
                path, f"takes more than {most_window} to decompress; do that first ({kind.tool})"
            ) from error
        raise TableError(
            path, f"the {kind.title} file is damaged or cut short ({error}); fetch it again"
        ) from error


def _blocks(pieces: Iterator[bytes], size: int) -> Iterator[bytes]:
    """Pieces of any length as blocks of one length; the last one is shorter."""
    held = io.BytesIO()
    for piece in pieces:
        held.write(piece)
        while held.tell() >= size:
            content = held.getvalue()
            for start in range(0, len(content) - size + 1, size):
                yield content[start : start + size]
            held = io.BytesIO()
            held.write(content[len(content) - len(content) % size :])
    if held.tell():
        yield held.getvalue()
