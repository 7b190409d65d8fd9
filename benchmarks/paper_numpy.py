"""Stochastic EM in plain NumPy, written as the paper reads: the yardstick for a whole fit.

Every proposed swap evaluates the likelihood of all rows.
"""

import math

import numpy as np


def stochastic_em(X, y, n_iter, rng):
    """Coefficients after `n_iter` iterations of s = n log n steps, burn-in n, gap n / 10."""
    n = len(y)
    steps, burn_in, gap = math.ceil(n * math.log(n)), n, n // 10
    labels = y.copy()
    coef, noise = ols(X, labels)
    for _ in range(n_iter):
        fitted = X @ coef
        perm = np.arange(n)
        current = log_likelihood(labels[perm], fitted, noise)
        total, kept = np.zeros(n), 0
        for step in range(1, steps + 1):
            i, j = rng.integers(n, size=2)
            proposed = perm.copy()
            proposed[i], proposed[j] = perm[j], perm[i]
            new = log_likelihood(labels[proposed], fitted, noise)
            if math.log(rng.random()) < new - current:
                perm, current = proposed, new
            if step > burn_in and (step - burn_in) % gap == 0:
                total += labels[perm]
                kept += 1
        labels = total / kept
        coef, noise = ols(X, labels)
    return coef


def log_likelihood(labels, fitted, noise):
    """Gaussian log likelihood of all rows, up to a constant."""
    return -np.sum((labels - fitted) ** 2) / (2 * noise**2)


def ols(X, labels):
    """Least squares coefficients and noise."""
    coef = np.linalg.lstsq(X, labels, rcond=None)[0]
    residual = labels - X @ coef
    return coef, math.sqrt(residual @ residual / (len(labels) - X.shape[1]))
