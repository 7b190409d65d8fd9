"""How far a fit is from the truth, where the truth is known."""

from typing import Any

import numpy as np

from ..kernels.types import FloatArray
from .given import finite_vector, unit_of


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
    a, b = a / unit_of(a), b / unit_of(b)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths > 0 else 0.0


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


def _length(vector: FloatArray) -> float:
    unit = unit_of(vector)
    return float(np.linalg.norm(vector / unit)) * unit


def _two_vectors(coef: Any, true_coef: Any) -> tuple[FloatArray, FloatArray]:
    a, b = finite_vector(coef, "coef"), finite_vector(true_coef, "true_coef")
    if len(a) != len(b):
        raise ValueError(f"coef has {len(a)} entries but true_coef has {len(b)}")
    return a, b
