"""Errors of the paper's algorithms on grouped sets and on Boston, beside OLS and known order."""

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

from unshuffle import (
    HardEMRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
    UnidentifiableWarning,
)
from unshuffle.datasets import load_boston, make_shuffled_regression
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside
from unshuffle.metrics import coefficient_error

N_SETS = 10


def run():
    """One row per setting; mean over sets, lower is better."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        warnings.simplefilter("ignore", UnidentifiableWarning)
        return [
            _synthetic("fully shuffled, n=500, d=30, noise 1", 500, 30, 1.0, shuffle="full"),
            _synthetic("4 groups by a feature, n=506, d=13, noise .5", 506, 13, 0.5, n_groups=4),
            _synthetic("40 random groups, n=506, d=13, noise .5", 506, 13, 0.5, n_groups=40,
                       group_by="random"),
            _boston(3),
            _boston(4),
        ]  # fmt: skip


def fit_all(X, y, groups, ordered, seed):
    """Every method on one set."""
    common = {"random_state": seed}
    em = {
        "hard EM": HardEMRegressor(**common),
        "published": StochasticEMRegressor(variant="published", **common),
        "exact": StochasticEMRegressor(**common),
        "ShuffledRegressor": ShuffledRegressor(n_jobs=2, **common),
    }
    return {
        "OLS shuffled": LinearRegression().fit(X, y),
        **{name: model.fit(X, y, groups=groups) for name, model in em.items()},
        "known order": LinearRegression().fit(X, ordered),
    }


def _synthetic(title, n, d, noise, shuffle="groups", **more):
    table = []
    for seed in range(N_SETS):
        data = make_shuffled_regression(
            n, d, noise=noise, shuffle=shuffle, random_state=seed, **more
        )
        models = fit_all(data.X, data.y, data.groups, data.y_ordered, seed)
        errors = {name: coefficient_error(m.coef_, data.coef) for name, m in models.items()}
        table.append({"zero vector": float(np.linalg.norm(data.coef)), **errors})
    return {"set": title, "measure": "coefficient error", **_means(table)}


def _boston(n_zones):
    boston = load_boston()
    y = boston.column("LSTAT")
    y = (y - y.min()) / np.ptp(y)
    X, table = boston.without("LSTAT"), []
    for seed in range(N_SETS):
        rows = np.random.RandomState(seed).permutation(len(y))
        train, test = rows[len(y) // 5 :], rows[: len(y) // 5]
        zones = cut_by_rank(boston.column("MEDV")[train], n_zones)
        labels = y[train][shuffle_inside(np.random.RandomState(seed), zones)]
        models = fit_all(X[train], labels, zones, y[train], seed)
        table.append(
            {
                k: float(np.sqrt(np.mean((m.predict(X[test]) - y[test]) ** 2)))
                for k, m in models.items()
            }
        )
    return {"set": f"Boston, {n_zones} zones", "measure": "test RMSE", **_means(table)}


def _means(table):
    return {name: round(float(np.mean([row[name] for row in table])), 3) for name in table[0]}
