"""What pictures ask of a fitted model, and what they say where it has no answer."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...kernels.types import FloatArray, IntArray

LONGEST = 24  # characters of a name


def need(model: Any, name: str, advice: str) -> Any:
    """The fitted attribute `name`, or an error that says what to do."""
    check_is_fitted(model)
    if not hasattr(model, name):
        raise ValueError(
            f"this picture shows {name}, which this fit of {type(model).__name__} does not have; "
            f"{advice}"
        )
    return getattr(model, name)


def feature_names(model: Any) -> list[str]:
    """Names of the features, or x0, x1, ..."""
    names = getattr(model, "feature_names_in_", None)
    return [f"x{j}" for j in range(len(model.coef_))] if names is None else [str(n) for n in names]


def choose(features: Sequence[int] | None, n_features: int) -> IntArray:
    """Numbers of the features to show; all of them where nothing is said."""
    every = np.arange(n_features, dtype=np.int64)
    return every if features is None else every[np.asarray(features, dtype=np.int64)]


def fitted_values(model: Any, X: Any = None) -> FloatArray:
    """What the model expects of its rows: those of the fit, or those of `X`."""
    if X is not None:
        return np.asarray(model.predict(X), dtype=np.float64)
    kept = getattr(model, "_problem", None)
    if kept is None:
        raise ValueError(
            "this model does not hold the data of its fit (files do not keep them); pass X, the "
            "rows it was fitted to"
        )
    fitted: FloatArray = kept.X @ model.coef_ + model.intercept_
    return fitted


def plain(label: object) -> str:
    """Text that matplotlib shows as it stands, and not too long.

    A dollar sign would begin a formula, and a leading underscore would hide a legend entry.
    """
    text = str(label)
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")
