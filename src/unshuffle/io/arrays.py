"""Archives of plain arrays: nothing is unpickled, and sizes are checked before memory is taken."""

import io
import math
import os
import struct
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .opening import open_regular
from .settings import READ

DAMAGE = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, struct.error)


class ArrayFileError(ValueError):
    """An archive that does not hold what it must; the caller names the file."""


class Entry(NamedTuple):
    """What an array must be; None stands for any length."""

    dtype: str
    shape: tuple[int | None, ...]

    def fits(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> bool:
        """Whether an array is as it must be."""
        same = len(shape) == len(self.shape) and all(
            found >= 0 and wanted in (None, found)
            for wanted, found in zip(self.shape, shape, strict=True)
        )
        return same and dtype == np.dtype(self.dtype)

    def most_bytes(self, size: int) -> int:
        """The most that the array can take in a file of `size` bytes."""
        if None in self.shape:
            return size
        known = math.prod(n for n in self.shape if n is not None)
        return min(np.dtype(self.dtype).itemsize * known + READ.model_entry, size)


def read_arrays(
    path: Path, expected: Mapping[str, Entry], *, others: bool = False
) -> dict[str, NDArray[Any]]:
    """Read the arrays of an uncompressed npz file.

    Parameters
    ----------
    path : Path
    expected : mapping of names to Entry
    others : bool
        Whether the file may hold more than what is read.
    """
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            size = os.fstat(file.fileno()).st_size
            _check_entries(archive.infolist(), size)
            found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            missing = expected.keys() - found.keys()
            if len(found) != len(archive.infolist()) or missing or (
                not others and found.keys() != expected.keys()
            ):  # fmt: skip
                raise ArrayFileError(f"holds {sorted(found)[:6]}, expected {sorted(expected)}")
            return {
                name: _read(size, archive, found[name], name, entry)
                for name, entry in expected.items()
            }
    except DAMAGE as error:
        raise ArrayFileError(f"is damaged ({error})") from error


def _check_entries(entries: list[zipfile.ZipInfo], size: int) -> None:
    """Refuse arrays that could become larger than the file that holds them."""
    if len(entries) > READ.npz_entries:
        raise ArrayFileError(f"holds {len(entries):,} arrays; at most {READ.npz_entries} are read")
    for info in entries:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise ArrayFileError(f"{info.filename!r} is compressed, which we never do")
    declared = sum(info.file_size for info in entries)
    if declared > size:
        raise ArrayFileError(f"declares {declared:,} bytes of arrays, but has {size:,}")


def _read(
    size: int, archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str, entry: Entry
) -> NDArray[Any]:
    if info.file_size > entry.most_bytes(size):
        raise ArrayFileError(
            f"{name!r} declares {info.file_size:,} bytes; too many for shape {entry.shape}"
        )
    content = archive.read(info)
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else (
            np.lib.format.read_array_header_2_0)  # fmt: skip
        shape, fortran, dtype = read(stream)
    except ValueError as error:
        raise ArrayFileError(f"{name!r} is damaged ({error})") from error
    if not entry.fits(dtype, shape):
        raise ArrayFileError(
            f"{name!r} has shape {shape} of {dtype}, expected {entry.shape} of "
            f"{np.dtype(entry.dtype)}"
        )
    left = content[stream.tell() :]
    if len(left) != dtype.itemsize * math.prod(shape):
        raise ArrayFileError(f"{name!r} is cut short")
    array = np.frombuffer(left, dtype).reshape(shape, order="F" if fortran else "C")
    return array.copy(order="C")  # compiled code has no version for arrays that are read-only
