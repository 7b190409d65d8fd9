"""`python -m benchmarks.robust_errors [SETS]`: coverage of 95 % intervals by kind of standard error.

Labels are lost inside 40 groups of 15 rows, or a quarter of them is exchanged. The noise is the same for all rows, or grows with the
fitted values, or with the distance of the first feature from its mean. Beside "model" and "robust" stands "auto", which chooses by a test.
"""

import sys

import numpy as np

from unshuffle import StochasticEMRegressor, warm_up

from .run import show

N_GROUPS, SIZE = 40, 15
COEF = np.array([1.0, -0.7, 0.5, 0.3])
METHODS = {"model": "information", "robust": "sandwich", "auto": "auto"}


EXCHANGED = 0.25


def draw(kind, seed, lost):
    """One set; the noise has the same mean square in all kinds."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(N_GROUPS * SIZE, len(COEF)))
    signal = X @ COEF
    scale = np.full(len(X), 0.5)
    if kind == "grows with the fit":
        scale = 0.5 * np.exp(0.35 * signal - 0.35**2 * np.sum(COEF**2))
    if kind == "grows with a feature":
        scale = 0.5 * np.abs(X[:, 0])
    y = signal + scale * rng.normal(size=len(X))
    if not lost:
        moved = np.flatnonzero(rng.random(len(X)) < EXCHANGED)
        y[moved] = y[np.roll(moved, 1)]
        return X, y, None
    groups = np.repeat(np.arange(N_GROUPS), SIZE)
    return X, y[np.lexsort((rng.random(len(X)), groups))], groups


def measure(kind, n_sets, lost):
    """One line: coverage by kind of standard error, and how often "auto" took the sandwich."""
    inside, robust = dict.fromkeys(METHODS, 0), 0
    for seed in range(n_sets):
        X, y, groups = draw(kind, seed, lost)
        rate = None if lost else EXCHANGED
        model = StochasticEMRegressor(mismatch_rate=rate, random_state=seed, max_iter=200)
        model.fit(X, y, groups=groups)
        robust += model.covariance_type_ == "robust"
        for name, method in METHODS.items():
            low, high = model.conf_int(method=method)[1:].T
            inside[name] += int(np.sum((low <= COEF) & (high >= COEF)))
    covered = {name: f"{count / (n_sets * len(COEF)):.1%}" for name, count in inside.items()}
    order = "lost" if lost else "mostly right"
    facts = {"order": order, "noise": kind, "sets": n_sets}
    return {**facts, **covered, "auto took robust": robust / n_sets}


def grid(n_sets=200):
    """All kinds of noise."""
    kinds = ("the same", "grows with the fit", "grows with a feature")
    return [measure(kind, n_sets, lost) for lost in (True, False) for kind in kinds]


if __name__ == "__main__":
    warm_up()
    show(grid(int(sys.argv[1]) if len(sys.argv) > 1 else 200))
