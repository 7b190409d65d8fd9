"""The parts of a workbook: files of XML in a zip archive, opened within limits."""

import os
import posixpath
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from xml.parsers import expat

from ...exceptions import TableError
from ..amounts import amount
from ..opening import open_regular
from ..settings import READ, ReadSettings

BLOCK = 1 << 16
PLAIN = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)  # others may take any memory
DAMAGE = (
    zipfile.BadZipFile, zlib.error, struct.error, EOFError, NotImplementedError, RuntimeError,
)  # fmt: skip
OLD = b"\xd0\xcf\x11\xe0"  # what workbooks started with before 2007, and with a password
CURE = "save it as CSV in UTF-8"


class Part:
    """What one part of a workbook holds; gets the elements of its XML one after the other."""

    def start(self, name: str, values: Mapping[str, str]) -> None:
        """An element starts; names are without the prefix of the root."""

    def text(self, text: str) -> None:
        """Text inside the element that started last."""

    def end(self, name: str) -> None:
        """An element ends."""


class Archive:
    """A zip archive whose parts are read as streams.

    A part is never unpacked as a whole, and never to more than its directory declares. That is
    limited by the size of the file; so are the tags of all parts together, because each takes time.

    Parameters
    ----------
    path : Path
    archive : zipfile.ZipFile
    size : int
        Bytes of the file.
    settings : ReadSettings
    """

    def __init__(
        self, path: Path, archive: zipfile.ZipFile, size: int, settings: ReadSettings = READ
    ) -> None:
        self.path, self.settings = path, settings
        self._archive, self._size = archive, size
        further = max(size - settings.small_file, 0)
        self._most_bytes = settings.small_text + settings.text_per_byte * further
        self._most_tags = settings.workbook_tags + further
        self._bytes = self._tags = 0
        entries = archive.infolist()
        if len(entries) > settings.workbook_parts:
            raise TableError(
                path, f"holds {len(entries):,} files; a workbook of {settings.workbook_parts:,} at "
                f"most is read; {CURE}"
            )  # fmt: skip
        self._parts = {_plain(entry.filename): entry for entry in entries}

    def __contains__(self, name: str) -> bool:
        return _plain(name) in self._parts

    def read(self, name: str, part: Part) -> None:
        """Read a whole part."""
        for _ in self.stream(name, part):
            pass

    def stream(self, name: str, part: Part) -> Iterator[None]:
        """Read a part; gives control back after every block, so that the caller may stop."""
        with self._open(name) as file:
            reader = _Reader(self, name, part)
            while block := file.read(BLOCK):
                reader.feed(block)
                yield
            reader.feed(b"", last=True)
            yield

    def count(self, block: bytes) -> None:
        """Count the tags in a block; one that ends itself is two."""
        self._tags += block.count(b"<") + block.count(b"/>")
        if self._tags > self._most_tags:
            raise TableError(
                self.path,
                f"holds more than {self._most_tags:,} tags, the most for a file of "
                f"{amount(self._size)}; {CURE}",
            )

    @contextmanager
    def _open(self, name: str) -> Iterator[Any]:
        entry = self._parts.get(_plain(name))
        if entry is None:
            raise TableError(self.path, f"is no workbook: it has no {name!r}; {CURE}")
        if entry.compress_type not in PLAIN:
            raise TableError(self.path, f"its {name!r} is compressed in a way that is not read")
        self._bytes += entry.file_size
        if self._bytes > self._most_bytes:
            raise TableError(
                self.path,
                f"grows from {amount(self._size)} to more than {amount(self._most_bytes)} when "
                f"unpacked, the most for a file of its size; if it is a table, {CURE}",
            )
        with self._archive.open(entry) as file:
            yield file


class _Reader:
    """Feeds XML to a part, without declarations of entities and without endless tokens."""

    def __init__(self, archive: Archive, name: str, part: Part) -> None:
        self._archive, self._name, self._part = archive, name, part
        self._fed = 0
        parser: Any = expat.ParserCreate()
        parser.buffer_text = True
        parser.StartElementHandler = self._first
        parser.CharacterDataHandler = part.text
        parser.StartDoctypeDeclHandler = self._refuse_doctype
        self._parser = parser

    def feed(self, block: bytes, last: bool = False) -> None:
        """Parse some bytes."""
        archive = self._archive
        archive.count(block)
        try:
            self._parser.Parse(block, last)
        except expat.ExpatError as error:
            raise TableError(
                archive.path, f"its {self._name!r} is damaged ({error}); {CURE}"
            ) from error
        self._fed += len(block)
        if self._fed - self._parser.CurrentByteIndex > archive.settings.longest_line:
            raise TableError(
                archive.path,
                f"its {self._name!r} holds a tag of more than "
                f"{archive.settings.longest_line:,} bytes; {CURE}",
            )

    def _first(self, name: str, values: dict[str, str]) -> None:
        """Most workbooks have no prefixes, and names can be handed on as they are."""
        part, parser = self._part, self._parser
        parser.StartElementHandler, parser.EndElementHandler = part.start, part.end
        prefix = name.rpartition(":")[0]
        if prefix:
            prefix += ":"
            parser.StartElementHandler = lambda name, values: part.start(
                name.removeprefix(prefix), values
            )
            parser.EndElementHandler = lambda name: part.end(name.removeprefix(prefix))
        parser.StartElementHandler(name, values)

    def _refuse_doctype(self, *declared: object) -> None:
        raise TableError(
            self._archive.path, f"its {self._name!r} declares a document type, which no workbook "
            f"does; {CURE}"
        )  # fmt: skip


@contextmanager
def open_archive(path: Path, settings: ReadSettings = READ) -> Iterator[Archive]:
    """Open a workbook; whatever is wrong with its archive is one error that names the file."""
    try:
        with open_regular(path) as file:
            if file.peek(len(OLD)).startswith(OLD):
                raise TableError(path, f"is an old Excel workbook, or has a password; {CURE}")
            with zipfile.ZipFile(file) as archive:
                yield Archive(path, archive, os.fstat(file.fileno()).st_size, settings)
    except DAMAGE as error:
        what = "has a password" if "password" in str(error) else f"is no workbook ({error})"
        raise TableError(path, f"{what}; {CURE}") from error


def resolve(target: str, folder: str) -> str:
    """The name of a part that another one in `folder` points to."""
    return _plain(target if target.startswith("/") else posixpath.join(folder, target))


def _plain(name: str) -> str:
    return posixpath.normpath(name.replace("\\", "/")).lstrip("/")
