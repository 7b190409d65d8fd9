"""Unfinished files and folders beside their place, each locked while its process lives.

A process that is killed leaves its part behind, but the system drops the lock. So the next process
that writes into the same folder knows which parts belong to nobody, and removes them.
"""

import os
import re
import shutil
import stat
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from .settings import READ

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

PREFIX = ".unshuffle-part-"  # does not depend on the output, whose name may be as long as allowed
NAME = re.compile(re.escape(PREFIX) + "[a-z0-9_]{8}")  # the ending is that of `tempfile`
NO_LOCK = -1  # the handle of a part where the file system has no locks


class InUseError(Exception):
    """Another process holds the lock."""


@contextmanager
def part_file(folder: Path) -> Iterator[Path]:
    """Give an empty file inside `folder`; it is gone after the block, if it is still there."""
    with _part(folder, _make_file) as part:
        try:
            yield part
        finally:
            part.unlink(missing_ok=True)


@contextmanager
def part_folder(folder: Path) -> Iterator[Path]:
    """Give an empty folder inside `folder`; it is gone after the block, if it is still there."""
    with _part(folder, _make_folder) as part:
        try:
            yield part
        finally:
            shutil.rmtree(part, ignore_errors=True)


def remove_abandoned(folder: Path, stale_seconds: float = READ.stale_seconds) -> None:
    """Remove the parts inside `folder` whose process has ended.

    Parts of other users stay. Where the file system has no locks, parts older than
    `stale_seconds` count as abandoned.
    """
    if not folder.is_dir():
        return
    with os.scandir(folder) as entries:
        found = [Path(entry.path) for entry in entries if NAME.fullmatch(entry.name)]
    for part in found:
        try:
            facts = part.lstat()
            if _is_own(facts):
                with locked(part) as lock:
                    if lock != NO_LOCK or facts.st_mtime < time.time() - stale_seconds:
                        _remove(part, facts)
        except (InUseError, FileNotFoundError):
            continue  # its process lives, or another one has removed it


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """Hold the lock of a file or folder; raises `InUseError` where another process holds it."""
    handle = _open_locked(path)
    try:
        yield handle
    finally:
        if handle != NO_LOCK:
            os.close(handle)


@contextmanager
def _part(folder: Path, make: Callable[[Path], Path]) -> Iterator[Path]:
    part, handle = _make_locked(folder, make)
    try:
        yield part
    finally:
        if handle != NO_LOCK:
            os.close(handle)


def _make_locked(folder: Path, make: Callable[[Path], Path]) -> tuple[Path, int]:
    """Make a part and lock it; anew if another process removed it between the two steps."""
    while True:
        part = make(folder)
        try:
            handle = _open_locked(part)
        except (InUseError, FileNotFoundError):
            continue
        if handle == NO_LOCK or _is_at(part, handle):
            return part, handle
        os.close(handle)


def _make_file(folder: Path) -> Path:
    handle, name = tempfile.mkstemp(prefix=PREFIX, dir=folder)
    os.close(handle)
    return Path(name)


def _make_folder(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(prefix=PREFIX, dir=folder))


def _open_locked(path: Path) -> int:
    if fcntl is None:
        return NO_LOCK
    # Some network file systems lock only what is open for writing; a folder cannot be.
    handle = os.open(path, (os.O_RDONLY if path.is_dir() else os.O_RDWR) | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise InUseError(str(path)) from None
    except OSError:  # no locks here
        os.close(handle)
        return NO_LOCK
    return handle


def _is_at(path: Path, handle: int) -> bool:
    """Whether a path still is what was opened."""
    try:
        return os.path.samestat(path.lstat(), os.fstat(handle))
    except FileNotFoundError:
        return False


def _is_own(facts: os.stat_result) -> bool:
    mine = not hasattr(os, "getuid") or facts.st_uid == os.getuid()
    return mine and (stat.S_ISREG(facts.st_mode) or stat.S_ISDIR(facts.st_mode))


def _remove(part: Path, facts: os.stat_result) -> None:
    if stat.S_ISDIR(facts.st_mode):
        shutil.rmtree(part, ignore_errors=True)
    else:
        part.unlink(missing_ok=True)
