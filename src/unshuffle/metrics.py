"""How far a fit is from the truth, where the truth is known."""

import math
from typing import Any

import numpy as np

from .alignment.hard import most_likely_permutation
from .data.groups import encode_groups
from .data.numbers import as_floats
from .data.problem import make_problem
from .kernels.types import FloatArray


def coefficient_error(coef: Any, true_coef: Any) -> float:
    r"""Euclidean distance :math:`\|\hat w - w_0\|`.

    Parameters
    ----------
    coef, true_coef : array-like of shape (n_features,)

    Returns
    -------
    error : float
        For comparison: the zero vector scores :math:`\|w_0\|`.

    Examples
    --------
    >>> from unshuffle.metrics import coefficient_error
    >>> coefficient_error([3.0, 0.0], [0.0, 4.0])
    5.0
    """
    a, b = _two_vectors(coef, true_coef)
    return _length(a - b)


def coefficient_cosine(coef: Any, true_coef: Any) -> float:
    r"""Cosine of the angle between estimate and truth, :math:`\hat w^\top w_0 / \|\hat w\|\|w_0\|`.

    Unlike the error it cannot be improved by shrinking the estimate.

    Parameters
    ----------
    coef, true_coef : array-like of shape (n_features,)

    Returns
    -------
    cosine : float
        1 for the right direction, 0 for an unrelated one or a zero vector.

    Examples
    --------
    >>> from unshuffle.metrics import coefficient_cosine
    >>> coefficient_cosine([0.1, 0.0], [5.0, 0.0])
    1.0
    """
    a, b = _two_vectors(coef, true_coef)
    a, b = a / _unit(a), b / _unit(b)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths > 0 else 0.0


def matched_mse(y: Any, predicted: Any, groups: Any = None) -> float:
    r"""Mean squared error after the best matching inside groups.

    .. math:: \min_\pi \frac1n \sum_i (y_{\pi(i)} - \hat\mu_i)^2

    Needs no true order. It is optimistic: the best matching also fits the noise.

    Parameters
    ----------
    y : array-like of shape (n_samples,)
        Labels, in any order inside each group.
    predicted : array-like of shape (n_samples,)
        Predictions for the rows.
    groups : array-like of shape (n_samples,), optional
        Labels are matched inside groups only.

    Returns
    -------
    mse : float

    Examples
    --------
    >>> from unshuffle.metrics import matched_mse
    >>> matched_mse([3.0, 1.0, 2.0], [1.0, 2.0, 3.5])
    0.08333333333333333
    """
    labels, mu = _vector(y, "y"), _vector(predicted, "predicted")
    if len(labels) != len(mu):
        raise ValueError(f"y has {len(labels)} labels but there are {len(mu)} predictions")
    if not len(labels):
        raise ValueError("y is empty; give at least one label")
    codes = encode_groups(groups, len(labels))
    problem = make_problem(mu[:, None], labels, codes, np.zeros(len(labels), dtype=bool))
    fitted = problem.arrange(mu)
    residual = problem.y[most_likely_permutation(problem, fitted)] - fitted
    unit = _unit(residual)
    residual = residual / unit
    mse = float(residual @ residual) / len(labels) * unit * unit
    if not math.isfinite(mse):
        raise ValueError("the squares of the errors are too large for a number; use another unit")
    return mse


def permutation_accuracy(permutation: Any, true_permutation: Any) -> float:
    """Share of rows that were given their own label.

    Parameters
    ----------
    permutation, true_permutation : array-like of int of shape (n_samples,)
        Index of the label that each row holds.

    Returns
    -------
    accuracy : float

    Examples
    --------
    >>> from unshuffle.metrics import permutation_accuracy
    >>> permutation_accuracy([0, 1, 3, 2], [0, 1, 2, 3])
    0.5
    """
    a, b = np.asarray(permutation), np.asarray(true_permutation)
    if a.shape != b.shape or a.ndim != 1 or not len(a):
        raise ValueError(
            f"permutations of shapes {a.shape} and {b.shape} cannot be compared; give two vectors "
            "of the same length"
        )
    return float(np.mean(a == b))


def _vector(values: Any, name: str) -> FloatArray:
    """Finite real numbers in one dimension."""
    vector: FloatArray = as_floats(values, name).ravel()
    if not np.isfinite(vector).all():
        raise ValueError(f"{name} holds NaN or infinity; drop these values first")
    return vector


def _unit(vector: FloatArray) -> float:
    """A power of two near the largest entry: in units of it squares neither under- nor overflow."""
    largest = float(np.abs(vector).max(initial=0.0))
    return math.ldexp(1.0, min(math.frexp(largest)[1], 1000)) if largest else 1.0


def _length(vector: FloatArray) -> float:
    unit = _unit(vector)
    return float(np.linalg.norm(vector / unit)) * unit


def _two_vectors(coef: Any, true_coef: Any) -> tuple[FloatArray, FloatArray]:
    a, b = _vector(coef, "coef"), _vector(true_coef, "true_coef")
    if len(a) != len(b):
        raise ValueError(f"coef has {len(a)} entries but true_coef has {len(b)}")
    return a, b
