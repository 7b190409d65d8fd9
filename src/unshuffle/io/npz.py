"""Arrays of an npz file that was written without compression; memory follows the file's size."""

import io
import math
import os
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .opening import open_regular
from .settings import READ, ReadSettings

DAMAGE = (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, struct.error)


def read_npz(path: Path, settings: ReadSettings = READ) -> dict[str, NDArray[Any]]:
    """All arrays by name.

    Raises
    ------
    ValueError
        The file is no such npz: damaged, compressed, with objects, or with arrays that declare
        more than the file holds. The message does not name the file.
    OSError
        The file cannot be opened, or is not a regular one.
    """
    with open_regular(path) as file:
        size = os.fstat(file.fileno()).st_size
        try:
            with zipfile.ZipFile(file) as archive:
                entries = archive.infolist()
                check_entries(entries, size, settings)
                named = {info.filename.removesuffix(".npy"): info for info in entries}
                return {name: parse_npy(archive.read(info), name) for name, info in named.items()}
        except DAMAGE as error:
            raise ValueError(str(error) or type(error).__name__) from error


def check_entries(entries: list[zipfile.ZipInfo], size: int, settings: ReadSettings = READ) -> None:
    """Refuse entries that could become larger than the file that holds them."""
    if len(entries) > settings.npz_entries:
        raise ValueError(
            f"it holds {len(entries):,} arrays; at most {settings.npz_entries} are read"
        )
    for info in entries:
        if info.compress_type != zipfile.ZIP_STORED or info.file_size != info.compress_size:
            raise ValueError(f"{info.filename!r} is compressed; such files are written without")
    if len({info.filename for info in entries}) < len(entries):
        raise ValueError("two of its arrays have one name")
    declared = sum(info.file_size for info in entries)
    if declared > size:
        raise ValueError(f"its arrays declare {declared:,} bytes, but the file has {size:,}")


def parse_npy(content: bytes, name: str) -> NDArray[Any]:
    """One array of numbers or text; it must hold as many bytes as its shape needs."""
    stream = io.BytesIO(content)
    one = np.lib.format.read_magic(stream) == (1, 0)
    read = np.lib.format.read_array_header_1_0 if one else np.lib.format.read_array_header_2_0
    shape, fortran, dtype = read(stream)
    if dtype.hasobject:
        raise ValueError(f"{name!r} holds objects, which may be code; they are not read")
    start = stream.tell()
    if dtype.itemsize == 0 or dtype.itemsize * math.prod(shape) != len(content) - start:
        raise ValueError(
            f"{name!r} declares shape {shape} of {dtype}, but holds {len(content) - start:,} bytes"
        )
    array: NDArray[Any] = np.frombuffer(content, dtype, offset=start)
    return array.reshape(shape, order="F" if fortran else "C").copy()  # of its own, writable
