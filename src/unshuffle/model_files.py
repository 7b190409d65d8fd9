"""Fitted models as files: JSON for words, npz for numbers, no code in either."""

import io
import json
import math
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from . import __version__
from .exceptions import ModelFileError
from .files import replacing_folder
from .inference.intervals import Estimates
from .inference.verdict import ORDER, Reason, Verdict
from .problem import FloatArray
from .summary import Summary
from .tables import Column

FORMAT = "unshuffle model"
SCHEMA = 1
NAMES = frozenset({"model.json", "model.npz"})
LARGEST_JSON = 64 << 20
SLACK = 4096  # bytes of a .npy header and of a zip directory entry


@dataclass(frozen=True, eq=False)
class StoredModel:
    """A fitted model without the data it was fitted to.

    Attributes
    ----------
    columns : tuple of Column
        Columns of a table that it predicts from.
    label : str
        Name of what it predicts.
    coef_ : array of shape (n_terms,)
    intercept_ : float
    covariance_ : array of shape (k, k)
        Of intercept (when there is one) and coefficients.
    verdict_ : Verdict or None
    version : str
        Version of the library that made it.
    settings : dict
        What else was said of the fit when it was saved.
    """

    columns: tuple[Column, ...]
    label: str
    coef_: FloatArray
    intercept_: float
    fit_intercept: bool
    covariance_: FloatArray
    freedom: int
    as_given: Estimates | None
    facts: dict[str, str]
    verdict_: Verdict | None
    version: str
    settings: dict[str, Any]

    @property
    def feature_names_in_(self) -> list[str]:
        """Names of the coefficients."""
        return [term for column in self.columns for term in column.terms]

    def predict(self, X: Any) -> FloatArray:
        """Predict the labels of rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_terms)
            Numbers in the order of `feature_names_in_`.

        Returns
        -------
        y : array of shape (n_samples,)
        """
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != len(self.coef_):
            raise ValueError(
                f"X has shape {rows.shape} but the model has {len(self.coef_)} coefficients: "
                f"{', '.join(self.feature_names_in_[:8])}"
            )
        predicted: FloatArray = rows @ self.coef_ + self.intercept_
        return predicted

    def summary(self, level: float = 0.95) -> Summary:
        """Table of coefficients, verdict first."""
        values, names = self.coef_, self.feature_names_in_
        if self.fit_intercept:
            values, names = np.append(self.intercept_, values), ["(intercept)", *names]
        errors = np.sqrt(np.maximum(np.diag(self.covariance_), 0.0))
        ours = Estimates(values, errors, self.freedom)
        return Summary(names, ours, self.as_given, self.facts, self.verdict_, level)


def save_model(
    model: Any,
    folder: str | Path,
    *,
    label: str = "label",
    columns: list[Column] | None = None,
    settings: dict[str, Any] | None = None,
) -> None:
    """Write a fitted model into a folder of its own: ``model.json`` and ``model.npz``.

    The data of the fit are not part of it. The folder appears as a whole, or, if the process is
    killed, not at all; an earlier model in it is replaced.

    Parameters
    ----------
    model : fitted estimator
        With a `summary`: `ShuffledRegressor`, or `StochasticEMRegressor` (variant "exact").
    folder : path
    label : str
        Name of what it predicts.
    columns : list of Column, optional
        How the features were made from the columns of a table.
    settings : dict, optional
        Anything JSON can hold that should be kept with the model.

    Examples
    --------
    >>> import tempfile
    >>> from unshuffle import ShuffledRegressor, load_model, save_model
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(200, 2, noise=0.1, random_state=0)
    >>> model = ShuffledRegressor(random_state=0).fit(data.X, data.y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_model(model, folder)
    ...     again = load_model(folder)
    >>> bool((again.predict(data.X) == model.predict(data.X)).all())
    True
    """
    with replacing_folder(Path(folder), NAMES) as part:
        write_model(model, part, label=label, columns=columns, settings=settings)


def write_model(
    model: Any,
    folder: Path,
    *,
    label: str = "label",
    columns: list[Column] | None = None,
    settings: dict[str, Any] | None = None,
) -> None:
    """Write the two files into a folder that exists."""
    check_is_fitted(model)
    summary: Summary = model.summary()
    if columns is None:
        columns = [Column(name) for name in summary.names[int(model.fit_intercept) :]]
    arrays = {
        "coef": model.coef_,
        "intercept": np.array([model.intercept_]),
        "covariance": model.covariance_,
    }
    if summary.as_given is not None:
        arrays["as_given"] = np.stack([summary.as_given.values, summary.as_given.standard_errors])
    words = {
        "format": FORMAT,
        "schema": SCHEMA,
        "version": __version__,
        "label": label,
        "columns": [{"name": c.name, "levels": c.levels} for c in columns],
        "fit_intercept": bool(model.fit_intercept),
        "freedom": int(summary.ours.freedom),
        "facts": summary.facts,
        "verdict": _plain_verdict(summary.verdict),
        "has_as_given": summary.as_given is not None,
        "settings": settings or {},
    }
    with (folder / "model.npz").open("wb") as file:
        np.savez(file, allow_pickle=False, **{k: np.asarray(v, "<f8") for k, v in arrays.items()})
    text = json.dumps(words, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / "model.json").write_text(text, encoding="utf-8")


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
    words = _read_words(path)
    try:
        columns = tuple(_column(entry) for entry in words["columns"])
        size = sum(len(column.terms) for column in columns)
        k = size + bool(words["fit_intercept"])
        shapes = {"coef": (size,), "intercept": (1,), "covariance": (k, k)}
        if words["has_as_given"]:
            shapes["as_given"] = (2, k)
        arrays = _read_arrays(path.with_suffix(".npz"), shapes)
        freedom = int(words["freedom"])
        given = arrays.get("as_given")
        return StoredModel(
            columns=columns,
            label=str(words["label"]),
            coef_=arrays["coef"],
            intercept_=float(arrays["intercept"][0]),
            fit_intercept=bool(words["fit_intercept"]),
            covariance_=arrays["covariance"],
            freedom=freedom,
            as_given=None if given is None else Estimates(given[0], given[1], freedom),
            facts={str(name): str(fact) for name, fact in words["facts"].items()},
            verdict_=_read_verdict(words["verdict"]),
            version=str(words["version"]),
            settings=dict(words["settings"]),
        )
    except (KeyError, TypeError, AttributeError, IndexError, OverflowError) as error:
        raise ModelFileError(
            f"{path}: is not a complete model ({type(error).__name__}: {error}); save it again"
        ) from error


def _read_words(path: Path) -> dict[str, Any]:
    if not path.exists():
        raise ModelFileError(f"{path}: there is no such model; 'unshuffle fit --out' writes one")
    size = path.stat().st_size
    if size > LARGEST_JSON:
        raise ModelFileError(f"{path}: has {size:,} bytes; a model has less than {LARGEST_JSON:,}")
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
        raise ModelFileError(f"{path}: {name!r} is compressed; models are stored plainly")
    if info.file_size > min(8 * math.prod(shape) + SLACK, path.stat().st_size):
        raise ModelFileError(
            f"{path}: {name!r} is said to have {info.file_size:,} bytes; shape {shape} needs "
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
            f"{path}: {name!r} has shape {found} of {dtype}, but model.json asks for {shape} of "
            "float64"
        )
    left = content[stream.tell() :]
    if len(left) != 8 * math.prod(shape):
        raise ModelFileError(f"{path}: {name!r} is cut short")
    array: FloatArray = np.frombuffer(left, "<f8").reshape(shape, order="F" if fortran else "C")
    if name in {"coef", "intercept"} and not np.isfinite(array).all():
        raise ModelFileError(f"{path}: {name!r} holds values that are not finite")
    return array


def _column(entry: dict[str, Any]) -> Column:
    levels = entry["levels"]
    return Column(str(entry["name"]), None if levels is None else tuple(map(str, levels)))


def _plain_verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    reasons = [asdict(reason) for reason in verdict.reasons]
    for reason in reasons:  # JSON knows neither nan nor infinity
        for key in ("value", "threshold"):
            reason[key] = float(reason[key]) if math.isfinite(reason[key]) else None
    return {"level": verdict.level, "reasons": reasons}


def _read_verdict(plain: dict[str, Any] | None) -> Verdict | None:
    if plain is None:
        return None
    for level in [plain["level"], *(reason["level"] for reason in plain["reasons"])]:
        if level not in ORDER:
            raise KeyError(f"unknown level {level!r}")
    reasons = [
        Reason(**{**reason, **{k: _number(reason[k]) for k in ("value", "threshold")}})
        for reason in plain["reasons"]
    ]
    return Verdict(plain["level"], tuple(reasons))


def _number(value: float | None) -> float:
    return float("nan") if value is None else float(value)
