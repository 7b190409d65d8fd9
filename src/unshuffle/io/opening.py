"""Open files to read: regular ones alone, and no more bytes than a limit."""

import errno
import io
import os
import stat
from pathlib import Path

NOT_REGULAR = "is not a regular file (a pipe or a device?); name a file"


def open_regular(path: Path) -> io.BufferedReader:
    """Open a regular file to read bytes.

    A pipe, a device or a socket has no size that memory could follow, and opening one may wait
    for ever; all are refused with an OSError that names the path.
    """
    # Without O_NONBLOCK the opening of a pipe waits for somebody to write into it.
    flags = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
    try:
        handle = os.open(path, flags | getattr(os, "O_CLOEXEC", 0))
    except OSError as error:
        if error.errno != errno.ENXIO:  # what opening a socket gives
            raise
        raise not_regular(path) from error
    mode = os.fstat(handle).st_mode
    if not stat.S_ISREG(mode):
        os.close(handle)
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, "is a folder; name a file", str(path))
        raise not_regular(path)
    return io.BufferedReader(io.FileIO(handle, "rb"))


def read_at_most(path: Path, most: int) -> bytes:
    """The content of a regular file; one byte more than `most` where it has more than that."""
    with open_regular(path) as file:
        # Not by its declared size: a file may grow, and some systems declare none.
        return file.read(most + 1)


def not_regular(path: Path) -> OSError:
    """The error for a path that is neither a regular file nor a folder."""
    return OSError(errno.EINVAL, NOT_REGULAR, str(path))
