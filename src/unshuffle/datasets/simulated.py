"""Linear regression data with a known shuffle."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from ..kernels.types import FloatArray, IntArray

SHUFFLES = ("full", "swaps", "fraction", "groups")
GROUPINGS = ("feature", "label", "random")


@dataclass(frozen=True, eq=False)
class ShuffledData:
    """A shuffled data set and the truth behind it.

    Attributes
    ----------
    X : array of shape (n_samples, n_features)
    y : array of shape (n_samples,)
        Shuffled labels.
    groups : array of shape (n_samples,)
        Labels moved only inside groups; all zero where there is one group.
    coef : array of shape (n_features,)
        True coefficients.
    intercept : float
        True intercept.
    permutation : array of shape (n_samples,)
        ``y[permutation]`` stands in the right order.
    y_ordered : array of shape (n_samples,)
        The labels in the right order.
    """

    X: FloatArray
    y: FloatArray
    groups: IntArray
    coef: FloatArray
    intercept: float
    permutation: IntArray
    y_ordered: FloatArray


def make_shuffled_regression(
    n_samples: int = 200,
    n_features: int = 5,
    *,
    noise: float = 1.0,
    shuffle: str = "full",
    n_swaps: int = 10,
    fraction: float = 0.1,
    n_groups: int = 4,
    group_by: str = "feature",
    coef: Any = None,
    intercept: float = 0.0,
    random_state: Any = None,
) -> ShuffledData:
    r"""Simulate :math:`y = b + Xw + \varepsilon` and shuffle the labels.

    Features and (unless given) coefficients are standard normal.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    noise : float, default=1.0
        Standard deviation of the noise.
    shuffle : {"full", "swaps", "fraction", "groups"}, default="full"
        "full" permutes all labels; "swaps" makes `n_swaps` exchanges of two random labels one
        after the other; "fraction" permutes a random `fraction` of the labels among themselves;
        "groups" permutes labels inside groups.
    n_swaps : int, default=10
        For "swaps".
    fraction : float, default=0.1
        For "fraction", in [0, 1].
    n_groups : int, default=4
        For "groups".
    group_by : {"feature", "label", "random"}, default="feature"
        Groups of like size: by the first feature, by the label (like the bins of a cytometer),
        or at random.
    coef : array-like of shape (n_features,), optional
        True coefficients.
    intercept : float, default=0.0
        True intercept.
    random_state : int, RandomState or None, default=None
        Seed.

    Returns
    -------
    data : ShuffledData

    Examples
    --------
    >>> from unshuffle.datasets import make_shuffled_regression
    >>> data = make_shuffled_regression(100, 2, shuffle="swaps", n_swaps=5, random_state=0)
    >>> bool((data.y[data.permutation] == data.y_ordered).all())
    True
    """
    _check("shuffle", shuffle, SHUFFLES)
    _check("group_by", group_by, GROUPINGS)
    if n_samples < 1 or n_features < 1:
        raise ValueError(f"need at least one row and one feature, got {n_samples} × {n_features}")
    if noise < 0:
        raise ValueError(f"noise is a standard deviation and cannot be negative, got {noise}")
    if not 0 <= fraction <= 1:
        raise ValueError(f"fraction must lie between 0 and 1, got {fraction}")
    if not 1 <= n_groups <= n_samples:
        raise ValueError(f"n_groups must lie between 1 and n_samples={n_samples}, got {n_groups}")
    rng = check_random_state(random_state)
    X = rng.normal(size=(n_samples, n_features))
    true_coef = rng.normal(size=n_features) if coef is None else np.asarray(coef, dtype=float)
    if true_coef.shape != (n_features,):
        raise ValueError(f"coef has shape {true_coef.shape}, expected ({n_features},)")
    y = intercept + X @ true_coef + noise * rng.normal(size=n_samples)
    groups = np.zeros(n_samples, dtype=np.int64)
    if shuffle == "groups":
        key = {"feature": X[:, 0], "label": y, "random": rng.uniform(size=n_samples)}[group_by]
        groups = cut_by_rank(key, n_groups)
    source = _shuffle(rng, n_samples, shuffle, n_swaps, fraction, groups)
    return ShuffledData(X, y[source], groups, true_coef, intercept, np.argsort(source), y)


def cut_by_rank(key: NDArray[Any], n_groups: int) -> IntArray:
    """Cut rows into `n_groups` groups of like size by the rank of `key`."""
    rank = np.argsort(np.argsort(key, kind="stable"), kind="stable")
    return np.asarray(rank * n_groups // len(key), dtype=np.int64)


def shuffle_inside(rng: np.random.RandomState, groups: NDArray[Any]) -> IntArray:
    """Indices of the labels after a random permutation inside each group."""
    source = np.arange(len(groups))
    by_group = np.argsort(groups, kind="stable")
    sorted_groups = groups[by_group]
    edges = np.flatnonzero(sorted_groups[1:] != sorted_groups[:-1]) + 1
    for rows in np.split(by_group, edges):
        source[rows] = rng.permutation(rows)
    return source


def _shuffle(
    rng: np.random.RandomState, n: int, shuffle: str, n_swaps: int, fraction: float,
    groups: IntArray,
) -> IntArray:  # fmt: skip
    if shuffle in {"full", "groups"}:
        return shuffle_inside(rng, groups)
    source = np.arange(n)
    if shuffle == "fraction":
        rows = rng.choice(n, size=round(fraction * n), replace=False)
        source[rows] = rng.permutation(rows)
        return source
    for _ in range(n_swaps):
        i, j = rng.choice(n, size=2, replace=False)
        source[[i, j]] = source[[j, i]]
    return source


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} must be one of {', '.join(allowed)}; got {value!r}")
