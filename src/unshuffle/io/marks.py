"""Recognise a file that this package wrote, from its first bytes."""

import csv
import io
from collections.abc import Callable
from pathlib import Path

HEAD = 1 << 16  # bytes; headers of tables with long names fit


def starts_with(mark: bytes) -> Callable[[Path], bool]:
    """A test whether a file starts with these bytes."""
    return lambda path: _head(path, len(mark)) == mark


def is_page_by(generator: str) -> Callable[[Path], bool]:
    """A test whether a page names this program as its maker."""
    mark = f'<meta name="generator" content="{generator}">'.encode()
    return lambda path: mark in _head(path, 1024)


def header_of(path: Path) -> list[str]:
    """Names of the columns of a CSV file; empty where there is no first line."""
    head = _head(path, HEAD).decode(errors="replace")  # may end inside a character
    return next(csv.reader(io.StringIO(head, newline="")), []) if "\n" in head else []


def _head(path: Path, size: int) -> bytes:
    with path.open("rb") as file:
        return file.read(size)
