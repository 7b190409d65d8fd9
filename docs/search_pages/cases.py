"""Two cases that the page on limits describes: a single feature, and housing data."""

import numpy as np
from sklearn.linear_model import LinearRegression

from unshuffle.datasets import ShuffledData, load_boston
from unshuffle.datasets.simulated import cut_by_rank, shuffle_inside

from .sets import FEW_CANDIDATES, N_ROWS, N_SETS, facts, fit, percent


def sign_rows(noises):
    """One feature: how often sorting beats reverse sorting where the slope is positive."""
    rows = []
    rng = np.random.default_rng(0)
    for name, draw in (("normal", rng.normal), ("exponential", rng.exponential)):
        for noise in noises:
            x = draw(size=(1_000, N_ROWS))
            y = np.sort(x + noise * rng.normal(size=x.shape), axis=1)
            y -= y.mean(axis=1, keepdims=True)
            x = np.sort(x, axis=1)
            up, down = (x * y).sum(axis=1), -(x[:, ::-1] * y).sum(axis=1)
            slope = up / ((x - x.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            rows.append(
                {
                    "feature": name, "noise": noise, "right sign": percent(np.mean(up > down)),
                    "slope when sorted": round(float(slope.mean()), 2),
                }
            )  # fmt: skip
    return rows


def boston_rows():
    """LSTAT in four zones of MEDV: test errors, and what the default estimator says."""
    boston = load_boston()
    X, y = boston.without("LSTAT"), boston.column("LSTAT")
    y = (y - y.min()) / np.ptp(y)
    found = [try_split(boston, X, y, seed) for seed in range(N_SETS)]
    errors = [split["errors"] for split in found]
    p_values = [split["p"] for split in found]
    return facts(
        [
            *((name, round(float(np.mean([e[name] for e in errors])), 3)) for name in errors[0]),
            ("cautious, of 5", sum(split["cautious"] for split in found)),
            ("null_pvalue_, lowest to highest", f"{min(p_values):.2f} to {max(p_values):.2f}"),
        ]
    )


def try_split(boston, X, y, seed):
    """Test errors of one split: labels as given, default estimator, best match, known order."""
    rows = np.random.RandomState(seed).permutation(len(y))
    train, test = rows[len(y) // 5 :], rows[: len(y) // 5]
    zones = cut_by_rank(boston.column("MEDV")[train], 4)
    labels = y[train][shuffle_inside(np.random.RandomState(seed), zones)]
    data = ShuffledData(X[train], labels, zones, np.zeros(0), 0.0, np.zeros(0), y[train])
    model = fit(data, seed, n_candidates=FEW_CANDIDATES)
    models = {
        "OLS, labels as given": LinearRegression().fit(X[train], labels),
        "ShuffledRegressor": model,
        "the same, search='population'":
            fit(data, seed, n_candidates=FEW_CANDIDATES, search="population"),
        "OLS, known order": LinearRegression().fit(X[train], y[train]),
    }  # fmt: skip
    errors = {name: rmse(m.predict(X[test]), y[test]) for name, m in models.items()}
    errors["mean label"] = rmse(labels.mean(), y[test])
    return {"errors": errors, "cautious": model.temper_ > 1.0, "p": model.null_pvalue_}


def rmse(predicted, y):
    """Root mean squared error."""
    return float(np.sqrt(np.mean((predicted - y) ** 2)))
