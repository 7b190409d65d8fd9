"""Slow, plain, obviously right: what the library is checked against."""

from itertools import pairwise, permutations, product

import numpy as np


def group_permutations(starts, n):
    """All permutations that move indices inside the blocks of `starts` only."""
    blocks = [list(permutations(range(a, b))) for a, b in pairwise(starts)]
    pinned = tuple(range(starts[-1], n))
    for choice in product(*blocks):
        yield np.array([i for block in choice for i in block] + list(pinned), dtype=np.int64)


def enumerated_posterior(mu, y, scale, starts):
    """Permutations and their posterior probabilities, by brute force."""
    perms = list(group_permutations(starts, len(y)))
    log_weight = np.array([-np.sum((y[p] - mu) ** 2) / (2 * scale**2) for p in perms])
    weight = np.exp(log_weight - log_weight.max())
    return perms, weight / weight.sum()


def enumerated_mean(mu, y, scale, starts):
    """Posterior mean of the labels beside each row."""
    perms, probability = enumerated_posterior(mu, y, scale, starts)
    return sum(p * y[perm] for p, perm in zip(probability, perms, strict=True))


def best_matched_ss(mu, y, starts):
    """Lowest sum of squares over all permutations inside blocks."""
    return min(np.sum((y[p] - mu) ** 2) for p in group_permutations(starts, len(y)))


def dense_ols(X, y, fit_intercept):
    """Minimum-norm least squares through numpy's own solver."""
    if not fit_intercept:
        return np.linalg.lstsq(X, y, rcond=None)[0], 0.0
    centre = X.mean(axis=0)
    coef = np.linalg.lstsq(X - centre, y - y.mean(), rcond=None)[0]
    return coef, y.mean() - centre @ coef
