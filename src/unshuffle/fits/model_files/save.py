"""A fitted model to two files: JSON for text, npz for numbers, no code in either."""

import json
import math
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ... import __version__
from ...inference.verdict import Verdict
from ...io.outputs import Output
from ...io.tables import DesignColumn
from .baseline import ARRAY, array_of
from .kinds import FORMAT, MODEL
from .match_model import plain_match_model
from .stored import FAMILY_SCHEMA, PLAIN_SCHEMA, SCHEMA

if TYPE_CHECKING:
    from ...show.summary import Summary


def save_model(
    model: Any,
    folder: str | Path,
    *,
    label: str = "label",
    columns: list[DesignColumn] | None = None,
    settings: dict[str, Any] | None = None,
    baseline: bool = True,
) -> None:
    """Write a fitted model into a folder of its own: ``model.json`` and ``model.npz``.

    The data of the fit are not part of it, except for the event times of Cox's model, at which its
    baseline hazard jumps. The folder appears as a whole, or, if the process is
    killed, not at all. An earlier model in it is replaced; a folder with anything else in it is
    refused.

    Parameters
    ----------
    model : fitted estimator
        With a `summary`: `ShuffledRegressor`, `StochasticEMRegressor` (variant "exact"),
        `ShuffledClassifier` or `ShuffledCoxRegressor`.
    folder : path
    label : str
        Name of what it predicts.
    columns : list of DesignColumn, optional
        How the features were made from the columns of a table.
    settings : dict, optional
        Anything JSON can hold that should be kept with the model.
    baseline : bool, default=True
        Whether the baseline hazard of Cox's model is kept, for survival functions of new rows.
        Without it no time of an event is in the files.

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
    with Output(Path(folder), MODEL).replacing() as part:
        write_model(model, part, label=label, columns=columns, settings=settings, baseline=baseline)


def write_model(
    model: Any,
    folder: Path,
    *,
    label: str = "label",
    columns: list[DesignColumn] | None = None,
    settings: dict[str, Any] | None = None,
    baseline: bool = True,
) -> None:
    """Write the two files into a folder that exists."""
    summary: Summary = model.summary()
    family = str(getattr(model, "family_", "normal"))
    if columns is None:
        columns = getattr(model, "design_columns_", None)
    if columns is None:
        columns = [DesignColumn(name) for name in summary.names[int(model.fit_intercept) :]]
    plain = family == "normal" and not any(column.kmers for column in columns)
    arrays = {
        "coef": model.coef_,
        "intercept": np.array([model.intercept_]),
        "covariance": model.covariance_,
    }
    if summary.as_given is not None:
        arrays["as_given"] = np.stack([summary.as_given.values, summary.as_given.standard_errors])
    hazard = array_of(model) if baseline else None
    if hazard is not None:
        arrays[ARRAY] = hazard
    words = {
        "format": FORMAT,
        "schema": SCHEMA if hazard is not None else PLAIN_SCHEMA if plain else FAMILY_SCHEMA,
        "version": __version__,
        "label": label,
        "columns": [_plain_column(column) for column in columns],
        "fit_intercept": bool(model.fit_intercept),
        "freedom": int(summary.ours.freedom),
        "freedom_as_given": None if summary.as_given is None else int(summary.as_given.freedom),
        "covariance_type": str(getattr(model, "covariance_type_", "model")),
        "facts": summary.facts,
        "verdict": _plain_verdict(summary.verdict),
        "has_as_given": summary.as_given is not None,
        "settings": settings or {},
    }
    if family != "normal":
        words["family"] = family
        words["classes"] = getattr(model, "classes_", np.empty(0)).tolist()
    if hazard is not None:
        words["n_event_times"] = hazard.shape[1]
    if summary.match_model is not None:
        words["match_model"] = plain_match_model(summary.match_model)
    with (folder / "model.npz").open("wb") as file:
        np.savez(file, allow_pickle=False, **{k: np.asarray(v, "<f8") for k, v in arrays.items()})
    text = json.dumps(words, indent=1, ensure_ascii=False, allow_nan=False)
    (folder / "model.json").write_text(text, encoding="utf-8")


def _plain_column(column: DesignColumn) -> dict[str, Any]:
    plain: dict[str, Any] = {"name": column.name, "levels": column.levels}
    return plain if column.kmers is None else plain | {"kmers": list(column.kmers)}


def _plain_verdict(verdict: Verdict | None) -> dict[str, Any] | None:
    if verdict is None:
        return None
    reasons = [asdict(reason) for reason in verdict.reasons]
    for reason in reasons:  # JSON knows neither nan nor infinity
        for key in ("value", "threshold"):
            value = float(reason[key])
            reason[key] = value if math.isfinite(value) else str(value)
    return {"level": verdict.level, "reasons": reasons}
