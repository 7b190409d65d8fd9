"""From what a user passes to labels and predictions arranged by group."""

from typing import Any

import numpy as np

from ..data.groups import encode_groups
from ..data.problem import Problem, make_problem
from ..kernels.types import FloatArray


def finite_labels(y: Any) -> FloatArray:
    """Labels as numbers, none of them missing."""
    return _finite(y, "y")


def given_problem(y: Any, predicted: Any, groups: Any) -> tuple[Problem, FloatArray]:
    """Labels whose order inside groups is lost, and the arranged predictions."""
    labels, fitted = _finite(y, "y"), _finite(predicted, "predicted")
    if len(labels) != len(fitted):
        raise ValueError(f"y has {len(labels)} labels but there are {len(fitted)} predictions")
    if not len(labels):
        raise ValueError("y has no labels; give at least one")
    codes = encode_groups(groups, len(labels))
    known = np.zeros(len(labels), dtype=bool)
    problem = make_problem(fitted[:, None], labels, codes, known)
    return problem, problem.arrange(fitted)


def _finite(values: Any, name: str) -> FloatArray:
    vector: FloatArray = np.asarray(values, dtype=np.float64).ravel()
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} holds missing or infinite values; leave these rows out")
    return vector
