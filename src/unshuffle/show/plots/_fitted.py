"""What pictures read from a fitted model, and what they say where it is missing."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from ...io.frames import feature_names
from ...io.visible import visible
from ...kernels.types import IntArray
from ..markup import shorten
from ..settings import SHOW


def check_fitted(model: Any) -> None:
    """Raise scikit-learn's `NotFittedError` unless the model has fitted attributes."""
    if any(name.endswith("_") and not name.startswith("__") for name in vars(model)):
        return
    from sklearn.exceptions import NotFittedError

    raise NotFittedError(f"this {type(model).__name__} is not fitted yet; call fit first")


def need(model: Any, name: str, advice: str) -> Any:
    """The fitted attribute `name`, or an error that says what to do."""
    check_fitted(model)
    if not hasattr(model, name):
        raise ValueError(
            f"this picture shows {name}, which this fit of {type(model).__name__} does not have; "
            f"{advice}"
        )
    return getattr(model, name)


def names_of(model: Any) -> list[str]:
    """Names of the features, or x0, x1, ..."""
    return feature_names(getattr(model, "feature_names_in_", None), len(model.coef_))


def choose(features: Sequence[int] | None, n_features: int) -> IntArray:
    """Numbers of the features to show; all of them by default."""
    every = np.arange(n_features, dtype=np.int64)
    return every if features is None else every[np.asarray(features, dtype=np.int64)]


def plain(label: object) -> str:
    """Text that matplotlib shows unchanged, and not too long.

    A dollar sign would start a formula, and a leading underscore would hide a legend entry.
    """
    text = shorten(visible(str(label)), SHOW.longest_tick)
    return ("\u200b" if text.startswith("_") else "") + text.replace("$", r"\$")
