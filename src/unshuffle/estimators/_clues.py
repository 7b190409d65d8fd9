"""Clues of who is mismatched: from what a user gives to a fit, and to `match_model_`."""

import warnings
from typing import Any

from ..data.clues import Clues, independent_columns
from ..data.problem import Problem
from ..exceptions import RankWarning, UnshuffleWarning
from ..inference.match_model import MatchModel
from ..io.clues import clue_matrix


def check_clues(match_features: Any, problem: Problem, largest_rate: float | None) -> Clues | None:
    """Clues beside the arranged rows of a problem; None where none were given."""
    if match_features is None:
        if largest_rate is not None:
            raise ValueError(
                f"mismatch_rate_max={largest_rate!r} bounds the match model, but fit got no "
                "match_features; give clues, or leave the bound out"
            )
        return None
    if problem.n_movable == 0:
        raise ValueError(
            "match_features says which labels may be another row's, but every label is known to be "
            "its row's own; leave match_features out"
        )
    values, names = clue_matrix(match_features, problem.n_rows)
    kept = independent_columns(values)
    dropped = tuple(name for j, name in enumerate(names) if j not in kept)
    if not kept:
        raise ValueError(
            f"match_features: {_listed(dropped)} is the same for all rows and can explain "
            "nothing; leave match_features out"
        )
    arranged = problem.arrange(values[:, kept])
    return Clues(arranged, tuple(names[j] for j in kept), dropped, largest_rate)


def warn_of_match_model(model: MatchModel, level: int) -> None:
    """Name the clues that were left out, and those whose coefficients the data do not show."""
    if model.dropped:
        warnings.warn(
            f"match_features: {_listed(model.dropped)} left out, being constant or a linear "
            "combination of the columns before; drop columns to get rid of this warning",
            RankWarning,
            stacklevel=level,
        )
    if model.held:
        warnings.warn(
            f"match_features: only a weak ridge keeps the coefficient of {_listed(model.held)} "
            "finite; either clues predict mismatches perfectly, or there are hardly any: read the "
            "sign of these coefficients, not their size",
            UnshuffleWarning,
            stacklevel=level,
        )


def _listed(names: tuple[str, ...], most: int = 5) -> str:
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(map(repr, names[:most])) + more
