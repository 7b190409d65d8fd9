"""Writing files and folders in one step: a kill leaves the old one or the new one whole.

Whether something may be replaced is decided elsewhere, in `outputs`.
"""

import ctypes
import hashlib
import os
import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from .opening import not_regular
from .parts import InUseError, locked, part_file, part_folder, remove_abandoned

EXCHANGE = 2  # RENAME_EXCHANGE of renameat2 on Linux, RENAME_SWAP of renamex_np on a Mac
HERE = -100  # AT_FDCWD: paths are relative to the working directory
ASIDE = ".unshuffle-old-"


def allow() -> None:
    """Replace whatever is there."""


@contextmanager
def replacing(path: Path, check: Callable[[], None] = allow) -> Iterator[Path]:
    """Give a path to write to; what is written there replaces `path` in one step.

    Where the block or `check`, which is called last, fails, nothing is left behind, and `path` is
    as it was.
    """
    path = _prepare(path)
    with part_file(path.parent) as part:
        yield part
        part.chmod(_mode(0o666))
        _sync(part)
        check()
        part.replace(path)
    _sync(path.parent)


def write_atomically(path: Path, content: bytes, check: Callable[[], None] = allow) -> None:
    """Write a whole file in one step."""
    with replacing(path, check) as part:
        part.write_bytes(content)


@contextmanager
def replacing_folder(folder: Path, check: Callable[[], None] = allow) -> Iterator[Path]:
    """Give an empty folder to fill with files; it replaces `folder` in one step.

    Where the block or `check`, which is called last, fails, `folder` is as it was.
    """
    folder = _prepare(folder)
    recover(folder)
    with part_folder(folder.parent) as part:
        yield part
        part.chmod(_mode(0o777))
        for file in part.iterdir():
            _sync(file)
        _sync(part)
        check()
        _replace(part, folder)  # after an exchange the part is the old folder
    _sync(folder.parent)


def recover(folder: Path) -> None:
    """Put back a folder that a killed process had moved aside, or remove it if it was replaced."""
    aside = _aside(folder)
    with suppress(InUseError, FileNotFoundError), locked(aside):
        if os.path.lexists(folder):
            shutil.rmtree(aside, ignore_errors=True)
        else:
            aside.rename(folder)


def _prepare(path: Path) -> Path:
    path = path.absolute()
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.is_dir() and not os.access(path, os.W_OK):
        raise PermissionError(13, "cannot be written to", str(path))
    if path.exists() and not path.is_file() and not path.is_dir():
        raise not_regular(path)  # a file in its place would end a device or a pipe
    remove_abandoned(path.parent)
    return path


def _replace(part: Path, folder: Path) -> None:
    if not folder.exists():
        part.rename(folder)
        return
    if _exchange(part, folder):
        return
    # Only where the file system cannot exchange: between the two steps the old folder has
    # another name. It is locked, so that no other process puts it back.
    with locked(folder):
        aside = _aside(folder)
        folder.rename(aside)
        part.rename(folder)
        shutil.rmtree(aside)


def _aside(folder: Path) -> Path:
    """Where a folder stands while it is replaced; a function of its name alone."""
    return folder.with_name(ASIDE + hashlib.sha256(os.fsencode(folder.name)).hexdigest()[:16])


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
