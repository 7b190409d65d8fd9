"""Two files to a model; nothing in them is run, and sizes are checked before memory is taken."""

import io
import json
import math
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...exceptions import ModelFileError
from ...inference.verdict import ORDER, Reason, Verdict
from ...io.settings import READ
from ...io.tables import DesignColumn
from ...kernels.types import FloatArray
from .stored import FORMAT, SCHEMA, StoredModel


def load_model(path: str | Path) -> StoredModel:
    """Read a model that `save_model` or ``unshuffle fit --out`` wrote.

    Nothing in the files is run. Sizes and shapes are checked before memory is taken.

    Parameters
    ----------
    path : path
        The folder, or the ``model.json`` in it.

    Returns
    -------
    model : StoredModel
        Predicts, and has `summary` and `verdict_`.
    """
    path = Path(path)
    path = path / "model.json" if path.is_dir() else path
    words = _read_json(path)
    try:
        columns = tuple(_column(entry) for entry in words["columns"])
        size = sum(len(column.terms) for column in columns)
        k = size + bool(words["fit_intercept"])
        shapes = {"coef": (size,), "intercept": (1,), "covariance": (k, k)}
        if words["has_as_given"]:
            shapes["as_given"] = (2, k)
        arrays = _read_arrays(path.with_suffix(".npz"), shapes)
        return StoredModel(
            columns=columns,
            label=str(words["label"]),
            coef_=arrays["coef"],
            intercept_=float(arrays["intercept"][0]),
            fit_intercept=bool(words["fit_intercept"]),
            covariance_=arrays["covariance"],
            freedom=int(words["freedom"]),
            # Files of earlier versions hold one number for both, and the model's covariance.
            freedom_as_given=int(words.get("freedom_as_given") or words["freedom"]),
            covariance_type_=_kind(words.get("covariance_type", "model")),
            as_given=arrays.get("as_given"),
            facts={str(name): str(fact) for name, fact in words["facts"].items()},
            verdict_=_read_verdict(words["verdict"]),
            version=str(words["version"]),
            settings=dict(words["settings"]),
        )
    except ModelFileError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, ValueError) as error:
        raise ModelFileError(
            f"{path}: is not a complete model ({type(error).__name__}: {error}); save it again"
        ) from error


def _read_json(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ModelFileError(f"{path}: there is no such model; save_model writes one")
    size = path.stat().st_size
    if size > READ.model_json:
        raise ModelFileError(f"{path}: has {size:,} bytes; at most {READ.model_json:,} are allowed")
    try:
        words = json.loads(path.read_bytes().decode("utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ModelFileError(f"{path}: is not JSON ({error})") from error
    if not isinstance(words, dict) or words.get("format") != FORMAT:
        raise ModelFileError(f"{path}: is JSON, but not a model of unshuffle")
    schema = words.get("schema")
    if not isinstance(schema, int) or schema < 1:
        raise ModelFileError(f"{path}: has no schema version; got {schema!r}")
    if schema > SCHEMA:
        raise ModelFileError(
            f"{path}: was written with schema {schema} (unshuffle {words.get('version')}); this is "
            f"unshuffle {__version__}, which reads up to schema {SCHEMA}: "
            f'pip install "unshuffle>={words.get("version")}"'
        )
    return words


def _read_arrays(path: Path, shapes: dict[str, tuple[int, ...]]) -> dict[str, FloatArray]:
    """Only plain float64 arrays of the expected shapes, stored without compression."""
    if not path.exists():
        raise ModelFileError(f"{path}: is missing; a model is a model.json and a model.npz")
    arrays = {}
    try:
        with zipfile.ZipFile(path) as archive:
            found = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            if len(found) != len(archive.infolist()) or found.keys() != shapes.keys():
                raise ModelFileError(
                    f"{path}: holds {sorted(found)[:6]}, expected {sorted(shapes)}"
                )
            for name, shape in shapes.items():
                _check_entry(path, name, found[name], shape)
                arrays[name] = _read_array(path, name, archive.read(found[name]), shape)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError) as error:
        raise ModelFileError(f"{path}: is damaged ({error}); save the model again") from error
    return arrays


def _check_entry(path: Path, name: str, info: zipfile.ZipInfo, shape: tuple[int, ...]) -> None:
    stored = info.compress_type == zipfile.ZIP_STORED
    if not stored or info.file_size != info.compress_size:
        raise ModelFileError(f"{path}: {name!r} is compressed; models are not")
    if info.file_size > min(8 * math.prod(shape) + READ.model_entry, path.stat().st_size):
        raise ModelFileError(
            f"{path}: {name!r} declares {info.file_size:,} bytes; shape {shape} needs "
            f"{8 * math.prod(shape):,}"
        )


def _read_array(path: Path, name: str, content: bytes, shape: tuple[int, ...]) -> FloatArray:
    stream = io.BytesIO(content)
    try:
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0 if version == (1, 0) else (
            np.lib.format.read_array_header_2_0)  # fmt: skip
        found, fortran, dtype = read(stream)
    except ValueError as error:
        raise ModelFileError(f"{path}: {name!r} is damaged ({error})") from error
    if found != shape or dtype != np.dtype("<f8"):
        raise ModelFileError(
            f"{path}: {name!r} has shape {found} of {dtype}, but model.json declares {shape} of "
            "float64"
        )
    left = content[stream.tell() :]
    if len(left) != 8 * math.prod(shape):
        raise ModelFileError(f"{path}: {name!r} is cut short")
    array: FloatArray = np.frombuffer(left, "<f8").reshape(shape, order="F" if fortran else "C")
    if name in {"coef", "intercept"} and not np.isfinite(array).all():
        raise ModelFileError(f"{path}: {name!r} holds values that are not finite")
    return array


def _kind(word: Any) -> str:
    if word not in {"model", "robust"}:
        raise ValueError(f"covariance_type is 'model' or 'robust', got {word!r}")
    return str(word)


def _column(entry: dict[str, Any]) -> DesignColumn:
    levels = entry["levels"]
    return DesignColumn(str(entry["name"]), None if levels is None else tuple(map(str, levels)))


def _read_verdict(plain: dict[str, Any] | None) -> Verdict | None:
    if plain is None:
        return None
    for level in [plain["level"], *(reason["level"] for reason in plain["reasons"])]:
        if level not in ORDER:
            raise KeyError(f"unknown level {level!r}")
    reasons = [
        Reason(**{**reason, **{k: float(reason[k]) for k in ("value", "threshold")}})
        for reason in plain["reasons"]
    ]
    return Verdict(plain["level"], tuple(reasons))
