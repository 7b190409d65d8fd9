"""The file of a checkpoint: what stands in it, and every check before a fit continues from it."""

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..io.arrays import ArrayFileError, Entry, read_arrays
from ..io.outputs import FileKind
from ..io.settings import READ, ReadSettings
from ..kernels.types import FloatArray

SCHEMA = 3
KIND = "unshuffle checkpoint"
MARK = {"kind": Entry(f"<U{len(KIND)}", ())}
VERSION = {"schema": Entry("<i8", ())}
FIELDS = {
    "fingerprint": Entry("<U64", ()),
    "seed": Entry("<i8", ()),
    "coef": Entry("<f8", (None,)),
    "numbers": Entry("<f8", (4,)),
    "coef_path": Entry("<f8", (None, None)),
    "number_path": Entry("<f8", (None, 4)),
}
DIGEST = {"digest": Entry("<U64", ())}
# Of `numbers` and of each row of `number_path`; the last one is the rate of mismatches of the
# state, and the acceptance rate of a step. Either may be unknown, which is nan.
INTERCEPT, NOISE, OBJECTIVE, SHARE = range(4)


class CheckpointFields(NamedTuple):
    """What a checkpoint holds: the fit it belongs to, a state, and the steps before it.

    Attributes
    ----------
    fingerprint : str
        Of the data and the settings.
    seed : int
    coef : array of shape (d,)
    numbers : array of shape (4,)
        Intercept, noise, objective and rate of mismatches of the state.
    coef_path : array of shape (k, d)
    number_path : array of shape (k, 4)
        Intercept, noise, objective and acceptance rate of each step.
    """

    fingerprint: str
    seed: int
    coef: FloatArray
    numbers: FloatArray
    coef_path: FloatArray
    number_path: FloatArray


def write_fields(path: Path, fields: CheckpointFields) -> None:
    """Write a checkpoint with the digest of its fields."""
    arrays: dict[str, NDArray[Any]] = {
        "kind": np.array(KIND),
        "schema": np.array(SCHEMA, "<i8"),
        **{name: np.asarray(value, FIELDS[name].dtype) for name, value in fields._asdict().items()},
    }
    arrays["digest"] = np.array(digest(arrays))
    with path.open("wb") as file:
        np.savez(file, allow_pickle=False, **arrays)


def read_fields(path: Path, settings: ReadSettings = READ) -> CheckpointFields:
    """Read a checkpoint; refuses what is none, of another version, or altered."""
    try:
        if path.stat().st_size > settings.checkpoint:
            raise ArrayFileError(f"has more than {settings.checkpoint:,} bytes")
        if not is_checkpoint(path):
            raise ArrayFileError("has the mark of something else")
        schema = int(read_arrays(path, VERSION, others=True)["schema"])
        if schema != SCHEMA:
            raise ValueError(
                f"{path} has schema {schema}, this version reads schema {SCHEMA}; finish the fit "
                "with the version that started it, or start anew"
            )
        arrays = read_arrays(path, {**MARK, **VERSION, **FIELDS, **DIGEST})
        check_values(arrays)
    except (OSError, ArrayFileError) as error:
        raise ValueError(
            f"{path} is no checkpoint, or it is cut short or altered ({error}); give another file, "
            "or remove it to start anew"
        ) from error
    words, numbers = str(arrays["fingerprint"]), [arrays[name] for name in list(FIELDS)[2:]]
    return CheckpointFields(words, int(arrays["seed"]), *numbers)


def is_checkpoint(path: Path) -> bool:
    """Whether a file carries the mark of a checkpoint, of whatever version."""
    found = read_arrays(path, MARK, others=True)
    return str(found["kind"]) == KIND


CHECKPOINT = FileKind("a checkpoint", is_checkpoint)


def digest(arrays: dict[str, NDArray[Any]]) -> str:
    """A digest over names, types, shapes and numbers of all fields."""
    total = hashlib.sha256()
    for name in (*MARK, *VERSION, *FIELDS):
        array = np.ascontiguousarray(arrays[name])
        total.update(f"{name} {array.dtype.str} {arrays[name].shape} ".encode())
        total.update(array.tobytes())
    return total.hexdigest()


def check_values(arrays: dict[str, NDArray[Any]]) -> None:
    """Refuse fields that do not belong together, and numbers that no fit can have."""
    if str(arrays["digest"]) != digest(arrays):
        raise ArrayFileError("the digest is that of other fields")
    n_steps, size = arrays["coef_path"].shape
    if (n_steps, size) != (len(arrays["number_path"]), len(arrays["coef"])):
        raise ArrayFileError("the steps and the state have other shapes")
    if int(arrays["seed"]) < 0:
        raise ArrayFileError("the seed is negative")
    numbers = np.vstack([arrays["numbers"], arrays["number_path"]])
    known = (arrays["coef"], arrays["coef_path"], numbers[:, :SHARE])
    if not all(np.isfinite(array).all() for array in known):
        raise ArrayFileError("a number is not finite")
    if (numbers[:, NOISE] <= 0.0).any() or (numbers[:, OBJECTIVE] < 0.0).any():
        raise ArrayFileError("the noise is not positive")
    shares = numbers[:, SHARE]
    if not (np.isnan(shares) | ((shares >= 0.0) & (shares <= 1.0))).all():
        raise ArrayFileError("a rate is not between 0 and 1")
