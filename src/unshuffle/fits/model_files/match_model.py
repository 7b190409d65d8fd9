"""The match model in a stored model: JSON of names and numbers, none of them per row."""

import math
from typing import Any

import numpy as np

from ...inference.match_model import MatchModel


def plain_match_model(model: MatchModel) -> dict[str, Any]:
    """What JSON can hold of it; null stands for what is not a number."""
    return {
        "names": list(model.names),
        "coef": [_plain(value) for value in model.coef],
        "covariance": [[_plain(value) for value in row] for row in model.covariance],
        "mismatch_rate": _plain(model.mismatch_rate),
        "at_bound": bool(model.at_bound),
        "held": list(model.held),
        "dropped": list(model.dropped),
    }


def read_match_model(words: dict[str, Any] | None) -> MatchModel | None:
    """The model again; files of fits without clues have none."""
    if words is None:
        return None
    names = tuple(map(str, words["names"]))
    coef, k = _numbers(words["coef"]), len(names)
    covariance = np.array([_numbers(row) for row in words["covariance"]])
    if coef.shape != (k,) or covariance.shape != (k, k) or not np.isfinite(coef).all():
        raise ValueError(f"the match model has {k} names, but not as many finite coefficients")
    return MatchModel(
        names=names,
        coef=coef,
        covariance=covariance,
        mismatch_rate=float(words["mismatch_rate"]),
        at_bound=bool(words["at_bound"]),
        held=tuple(map(str, words["held"])),
        dropped=tuple(map(str, words["dropped"])),
    )


def _plain(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _numbers(values: list[Any]) -> Any:
    return np.array([math.nan if value is None else float(value) for value in values])
