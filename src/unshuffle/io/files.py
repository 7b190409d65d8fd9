"""Writing files and folders in one step: a kill leaves the old one or the new one whole."""

import ctypes
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .opening import not_regular
from .settings import READ

EXCHANGE = 2  # RENAME_EXCHANGE of renameat2 on Linux, RENAME_SWAP of renamex_np on a Mac
HERE = -100  # AT_FDCWD: paths are relative to the working directory
OLD = ".old"


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a path to write to; what is written there replaces `path` in one step.

    Where the block fails nothing is left behind, and `path` is as it was.
    """
    path = _writable(path)
    handle, name = tempfile.mkstemp(prefix=_prefix(path), dir=path.parent)
    os.close(handle)
    part = Path(name)
    try:
        yield part
        part.chmod(_mode(0o666))
        _sync(part)
        part.replace(path)
    finally:
        part.unlink(missing_ok=True)
    _sync(path.parent)


def write_atomically(path: Path, content: bytes) -> None:
    """Write a whole file in one step."""
    with replacing(path) as part:
        part.write_bytes(content)


@contextmanager
def replacing_folder(
    folder: Path, ours: frozenset[str], stale_seconds: float = READ.stale_seconds
) -> Iterator[Path]:
    """Give an empty folder to fill; it replaces `folder` in one step.

    `ours` are the names that an earlier run may have left in `folder`: a folder that holds
    anything else is never replaced.
    """
    folder = _writable(folder)
    _recover(folder, stale_seconds)
    check_ours(folder, ours)
    part = Path(tempfile.mkdtemp(prefix=_prefix(folder), dir=folder.parent))
    try:
        yield part
        part.chmod(_mode(0o777))
        for file in part.iterdir():
            _sync(file)
        _sync(part)
        _replace(part, folder)
    finally:
        shutil.rmtree(part, ignore_errors=True)  # after an exchange this is the old folder
    _sync(folder.parent)


def check_ours(folder: Path, ours: frozenset[str]) -> None:
    """Refuse to replace a file, or a folder with anything in it that we did not write."""
    if not os.path.lexists(folder):
        return
    if not folder.is_dir() or folder.is_symlink():
        raise NotADirectoryError(20, "is not a folder; choose another name", str(folder))
    foreign = sorted(entry.name for entry in folder.iterdir() if entry.name not in ours)
    if foreign:
        raise FileExistsError(
            17, f"holds {foreign[0]!r}, which would be lost; choose a new or empty folder",
            str(folder),
        )  # fmt: skip


def _writable(path: Path) -> Path:
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not os.access(path, os.W_OK):
        raise PermissionError(13, "cannot be written to", str(path))
    if path.exists() and not path.is_file() and not path.is_dir():
        raise not_regular(path)  # a file in its place would end a device or a pipe
    return path


def _replace(part: Path, folder: Path) -> None:
    if not folder.exists():
        part.rename(folder)
        return
    if _exchange(part, folder):
        return
    # Only where the file system cannot exchange: between the two steps the old folder has
    # another name.
    aside = part.with_name(part.name + OLD)
    folder.rename(aside)
    part.rename(folder)
    shutil.rmtree(aside)


def _exchange(one: Path, other: Path) -> bool:
    """Swap two names in one step; False where the system or the file system cannot."""
    first, second = os.fsencode(one), os.fsencode(other)
    try:
        library = ctypes.CDLL(None, use_errno=True)
        if sys.platform == "darwin":
            return bool(library.renamex_np(first, second, EXCHANGE) == 0)
        return bool(library.renameat2(HERE, first, HERE, second, EXCHANGE) == 0)
    except (AttributeError, OSError, TypeError):
        return False


def _recover(folder: Path, stale_seconds: float) -> None:
    """Put back a folder that a killed process had moved aside, and remove old temporary folders."""
    left = [p for p in folder.parent.iterdir() if p.name.startswith(_prefix(folder))]
    aside = [path for path in left if path.name.endswith(OLD)]
    if aside and not folder.exists():
        aside[0].rename(folder)
    long_ago = time.time() - stale_seconds
    for path in left:
        if path.exists() and path.stat().st_mtime < long_ago:
            shutil.rmtree(path, ignore_errors=True)


def _prefix(path: Path) -> str:
    return f".{path.name}.part-"


def _mode(wanted: int) -> int:
    """Temporary files are private; the final ones follow the user's mask."""
    mask = os.umask(0)
    os.umask(mask)
    return wanted & ~mask


def _sync(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
