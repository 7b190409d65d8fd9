"""From what a user passes to labels and predictions arranged by group."""

import math
from typing import Any

import numpy as np

from ..data.groups import encode_groups
from ..data.numbers import as_floats
from ..data.problem import Problem, make_problem
from ..kernels.types import FloatArray


def finite_vector(values: Any, name: str) -> FloatArray:
    """Finite real numbers in one dimension."""
    vector: FloatArray = as_floats(values, name).ravel()
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} holds NaN or infinity; drop these values first")
    return vector


def unit_of(vector: FloatArray) -> float:
    """A power of two near the largest entry: in units of it squares neither under- nor overflow."""
    largest = float(np.abs(vector).max(initial=0.0))
    return math.ldexp(1.0, min(math.frexp(largest)[1], 1000)) if largest else 1.0


def given_problem(y: Any, predicted: Any, groups: Any) -> tuple[Problem, FloatArray]:
    """Labels whose order inside groups is lost, and the arranged predictions."""
    labels, fitted = finite_vector(y, "y"), finite_vector(predicted, "predicted")
    if len(labels) != len(fitted):
        raise ValueError(f"y has {len(labels)} labels but there are {len(fitted)} predictions")
    if not len(labels):
        raise ValueError("y is empty; give at least one label")
    codes = encode_groups(groups, len(labels))
    known = np.zeros(len(labels), dtype=bool)
    problem = make_problem(fitted[:, None], labels, codes, known)
    return problem, problem.arrange(fitted)
