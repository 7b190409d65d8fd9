"""The files of a stored model, and how they are recognised."""

import zipfile
from pathlib import Path

from ...io.marks import starts_with
from ...io.opening import open_regular
from ...io.outputs import FileKind, FolderKind

FORMAT = "unshuffle model"
ARRAYS = frozenset({"coef.npy", "intercept.npy", "covariance.npy"})
SOMETIMES = frozenset({"as_given.npy", "baseline.npy"})


def has_arrays(path: Path) -> bool:
    """Whether a file is an archive of the arrays of a model, and of nothing else."""
    try:
        with open_regular(path) as file, zipfile.ZipFile(file) as archive:
            found = archive.namelist()
    except (zipfile.BadZipFile, NotImplementedError):
        return False
    return ARRAYS <= set(found) <= ARRAYS | SOMETIMES


FILES = {
    "model.json": FileKind("a model", starts_with(f'{{\n "format": "{FORMAT}",'.encode())),
    "model.npz": FileKind("a model", has_arrays),
}
MODEL = FolderKind("a model", FILES)
