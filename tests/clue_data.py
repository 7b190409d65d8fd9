"""Linked rows whose mismatches depend on clues."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit


class Linked(NamedTuple):
    """Features, labels as linked, clues, and the truth about them."""

    X: np.ndarray
    y: np.ndarray
    clues: np.ndarray
    coef: np.ndarray
    match_coef: np.ndarray
    right: np.ndarray


def make_linked(
    seed: int, n: int = 300, *, noise: float = 0.5, slopes: tuple[float, ...] = (1.5, -1.5)
) -> Linked:
    """Labels of mismatched rows are exchanged among them; about a quarter are mismatched."""
    rng = np.random.default_rng(seed)
    coef, match_coef = np.array([1.0, -1.0, 0.5]), np.array([1.8, *slopes])
    X, clues = rng.normal(size=(n, 3)), rng.normal(size=(n, len(slopes)))
    y = 1.0 + X @ coef + noise * rng.normal(size=n)
    away = rng.random(n) > expit(match_coef[0] + clues @ match_coef[1:])
    rows = np.flatnonzero(away)
    perm = np.arange(n)
    perm[rows] = rng.permutation(rows)
    return Linked(X, y[perm], clues, coef, match_coef, perm == np.arange(n))
