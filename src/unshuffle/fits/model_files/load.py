"""Two files to a model; nothing in them is run, and sizes are checked before memory is taken."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from ... import __version__
from ...exceptions import ModelFileError
from ...families.catalogue import FAMILIES
from ...inference.verdict import ORDER, Reason, Verdict
from ...io.arrays import ArrayFileError, Entry, read_arrays
from ...io.opening import read_at_most
from ...io.settings import READ
from ...io.tables import DesignColumn
from ...io.tables.kmers import Kmers
from ...kernels.types import FloatArray
from .baseline import ARRAY, read_baseline
from .kinds import FORMAT
from .match_model import read_match_model
from .stored import SCHEMA, StoredModel


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
    path, arrays_path = model_files(Path(path))
    words = _read_json(path)
    try:
        columns = tuple(_column(entry) for entry in words["columns"])
        size = _count_terms(path, columns)
        k = size + bool(words["fit_intercept"])
        shapes = {"coef": (size,), "intercept": (1,), "covariance": (k, k)}
        if words["has_as_given"]:
            shapes["as_given"] = (2, k)
        if words.get("n_event_times") is not None:
            shapes[ARRAY] = (2, int(words["n_event_times"]))
        arrays = _read_arrays(arrays_path, shapes)
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
            family=_family(words.get("family", "normal")),
            classes=_classes(words),
            match_model_=read_match_model(words.get("match_model")),
            baseline=read_baseline(arrays.get(ARRAY)),
        )
    except ModelFileError:
        raise
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError, ValueError) as error:
        raise ModelFileError(
            f"{path}: is not a complete model ({type(error).__name__}: {error}); save it again"
        ) from error


def model_files(path: Path) -> tuple[Path, Path]:
    """The two files of a model, from its folder or its ``model.json``."""
    path = path / "model.json" if path.is_dir() else path
    return path, path.with_suffix(".npz")


def _read_json(path: Path) -> dict[str, Any]:
    try:
        content = read_at_most(path, READ.model_json)
    except FileNotFoundError as error:
        raise ModelFileError(
            f"{path}: there is no such model; save_model or unshuffle fit --out writes one"
        ) from error
    except OSError as error:
        raise ModelFileError(f"{path}: {error.strerror}") from error
    if len(content) > READ.model_json:
        raise ModelFileError(
            f"{path}: has more than {READ.model_json:,} bytes, the most that a model may have; "
            "its settings may hold data that belong into a file of their own"
        )
    try:
        words = json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
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
    try:
        arrays = read_arrays(path, {name: Entry("<f8", shape) for name, shape in shapes.items()})
    except FileNotFoundError as error:
        raise ModelFileError(
            f"{path}: is missing; a model is a model.json and a model.npz"
        ) from error
    except OSError as error:
        raise ModelFileError(f"{path}: {error.strerror}") from error
    except ArrayFileError as error:
        raise ModelFileError(f"{path}: {error}; save the model again") from error
    for name in ("coef", "intercept"):
        if not np.isfinite(arrays[name]).all():
            raise ModelFileError(f"{path}: {name!r} holds values that are not finite")
    return arrays


def _kind(word: Any) -> str:
    if word not in {"model", "robust"}:
        raise ValueError(f"covariance_type is 'model' or 'robust', got {word!r}")
    return str(word)


def _family(word: Any) -> str:
    if word not in {*FAMILIES, "cox"}:
        raise ValueError(f"unknown family {word!r}")
    return str(word)


def _classes(words: dict[str, Any]) -> tuple[Any, ...]:
    classes = tuple(words.get("classes", ()))
    needed = 2 if words.get("family") == "bernoulli" else 0
    if len(classes) != needed or any(not isinstance(c, str | int | float) for c in classes):
        raise ValueError(f"classes must be {needed} names or numbers, got {len(classes)}")
    return classes


def _column(entry: dict[str, Any]) -> DesignColumn:
    levels = entry["levels"]
    levels = None if levels is None else tuple(map(str, levels))
    return DesignColumn(str(entry["name"]), levels, _kmers(entry.get("kmers")))


def _kmers(entry: list[Any] | None) -> Kmers | None:
    if entry is None:
        return None
    low, high, alphabet = entry
    kmers = Kmers(low, high, alphabet)
    kmers.check()
    return kmers


def _count_terms(path: Path, columns: tuple[DesignColumn, ...]) -> int:
    """How many coefficients the columns need; their names must stay short enough to be made."""
    n_terms = sum(column.n_terms for column in columns)
    letters = sum(
        (len(column.name) + (column.kmers.high if column.kmers else 0)) * column.n_terms
        for column in columns
    )
    if letters > READ.model_json:
        raise ModelFileError(
            f"{path}: the names of its {n_terms:,} coefficients have {letters:,} letters; at most "
            f"{READ.model_json:,} are allowed"
        )
    return n_terms


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
