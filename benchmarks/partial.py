"""`make bench-partial`: pairings that are mostly right, beside what users already have.

With ``--json`` only the table of swaps is made and kept in docs/results; README takes it from there.
"""

import sys
import time
import warnings

import numpy as np
from docs.tables import wants_json, write_result
from sklearn.linear_model import (
    HuberRegressor,
    LinearRegression,
    RANSACRegressor,
    TheilSenRegressor,
)

from unshuffle import MixtureRegressor, StochasticEMRegressor, warm_up
from unshuffle.datasets import make_shuffled_regression
from unshuffle.metrics import coefficient_error

from .run import show

OURS = "unshuffle"
SWAPS = (0, 5, 20, 40, 60, 80, 100, 150)
TARGETS = (0.37, 0.38, 0.42, 0.52, 0.62, 0.75, 1.1, 2.9)


def methods(seed):
    """Every method that takes the labels as given."""
    return {
        OURS: StochasticEMRegressor(mismatch_rate="estimate", random_state=seed),
        "MixtureRegressor": MixtureRegressor(),
        "OLS": LinearRegression(),
        "Huber": HuberRegressor(max_iter=1000),
        "RANSAC": RANSACRegressor(random_state=seed),
        "Theil-Sen": TheilSenRegressor(max_subpopulation=1000, random_state=seed),
    }


def errors_of(data, seed):
    """Coefficient error of every method, and of OLS with known order."""
    found = {"known order": LinearRegression().fit(data.X, data.y_ordered)}
    for name, model in methods(seed).items():
        fitted = model.fit(data.X, data.y)
        found[name] = fitted.estimator_ if name == "RANSAC" else fitted
    return {name: coefficient_error(m.coef_, data.coef) for name, m in found.items()}, found[OURS]


N_SETS = 20


def swaps(n_sets=N_SETS):
    """n = 200, d = 20, noise 1, random swaps."""
    rows = []
    for n_swaps, target in zip(SWAPS, TARGETS, strict=True):
        table = []
        for seed in range(n_sets):
            data = make_shuffled_regression(
                200, 20, noise=1.0, shuffle="swaps", n_swaps=n_swaps, random_state=seed
            )
            table.append(errors_of(data, seed)[0])
        mean = {name: float(np.mean([row[name] for row in table])) for name in table[0]}
        peers = min(v for k, v in mean.items() if k not in {OURS, "known order"})
        rows.append({"swaps": n_swaps, "target": target, **_rounded(mean, 3),
                     "ours / best peer": round(mean[OURS] / peers, 2)})  # fmt: skip
    return rows


def linked(n_sets=20):
    """n = 1000, d = 5, noise .5, 30 % of the labels permuted."""
    table, rates, truth = [], [], []
    for seed in range(n_sets):
        data = make_shuffled_regression(
            1000, 5, noise=0.5, shuffle="fraction", fraction=0.3, random_state=seed
        )
        errors, ours = errors_of(data, seed)
        table.append(errors)
        rates.append(ours.mismatch_rate_)
        truth.append(np.mean(data.permutation != np.arange(1000)))
    mean = {name: float(np.mean([row[name] for row in table])) for name in table[0]}
    ratios = {name: value / mean["known order"] for name, value in mean.items()}
    miss = np.abs(np.array(rates) - np.array(truth))
    return [{"error / known order": "", **_rounded(ratios, 2), "mean rate": round(np.mean(rates), 3),
             "true rate": round(np.mean(truth), 3), "largest miss": round(miss.max(), 3)}]  # fmt: skip


def flags(n_sets=100):
    """n = 500, d = 5, noise .3, 20 % mismatched: are flagged rows wrong, are probabilities right?"""
    probability, right = [], []
    for seed in range(n_sets):
        data = make_shuffled_regression(
            500, 5, noise=0.3, shuffle="fraction", fraction=0.2, random_state=seed
        )
        model = StochasticEMRegressor(mismatch_rate="estimate", random_state=seed)
        probability.append(model.fit(data.X, data.y).match_proba_)
        right.append(data.permutation == np.arange(500))
    p, ok = np.concatenate(probability), np.concatenate(right)
    rows = [{"bin": "flagged (< .5)", "rows": int((p < 0.5).sum()),
             "truly mismatched": round(float(np.mean(~ok[p < 0.5])), 3)}]  # fmt: skip
    for k in range(10):
        inside = (p >= k / 10) & ((p < (k + 1) / 10) | (k == 9))
        if inside.any():
            rows.append({"bin": f"{k / 10:.1f}-{(k + 1) / 10:.1f}", "rows": int(inside.sum()),
                         "predicted": round(float(p[inside].mean()), 3),
                         "observed": round(float(ok[inside].mean()), 3),
                         "difference": round(float(ok[inside].mean() - p[inside].mean()), 3)})  # fmt: skip
    return rows


def no_harm(n_sets=20):
    """No mismatch at all: error against OLS, and the estimated rate."""
    rows = []
    for n, d, noise in ((200, 20, 1.0), (1000, 5, 0.5)):
        ours, ols, rates = [], [], []
        for seed in range(n_sets):
            data = make_shuffled_regression(
                n, d, noise=noise, shuffle="fraction", fraction=0.0, random_state=seed
            )
            model = StochasticEMRegressor(mismatch_rate="estimate", random_state=seed)
            ours.append(coefficient_error(model.fit(data.X, data.y).coef_, data.coef))
            ols.append(coefficient_error(LinearRegression().fit(data.X, data.y).coef_, data.coef))
            rates.append(model.mismatch_rate_)
        rows.append({"set": f"n={n}, d={d}, noise {noise}",
                     "error / OLS": round(np.mean(ours) / np.mean(ols), 4),
                     "largest rate": round(max(rates), 4)})  # fmt: skip
    return rows


def speed():
    """Warm fits, best of three."""
    warm_up()
    rows = []
    for n, d in ((20_000, 10), (100_000, 10)):
        data = make_shuffled_regression(
            n, d, noise=0.5, shuffle="fraction", fraction=0.2, random_state=0
        )
        model = StochasticEMRegressor(mismatch_rate="estimate", n_jobs=-1, random_state=0)
        rows.append({"set": f"n={n}, d={d}, 20 % mismatched",
                     "mixture s": round(min(_seconds(MixtureRegressor(), data) for _ in range(3)), 2),
                     "unshuffle s": round(min(_seconds(model, data) for _ in range(3)), 2),
                     "estimated rate": round(model.mismatch_rate_, 3)})  # fmt: skip
    return rows


def _seconds(model, data):
    begin = time.perf_counter()
    model.fit(data.X, data.y)
    return time.perf_counter() - begin


def _rounded(values, digits):
    return {name: round(value, digits) for name, value in values.items()}


SECTIONS = {
    "Random swaps, n=200, d=20, noise 1: mean coefficient error of 20 sets": swaps,
    "30 % permuted, n=1000, d=5, noise .5: 20 sets": linked,
    "Flags and calibration, n=500, d=5, noise .3, 20 % mismatched: 100 sets": flags,
    "No mismatch at all: 20 sets": no_harm,
    "Speed": speed,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    if wants_json():
        command = "python -m benchmarks.partial --json"
        write_result("partial", command, {"swaps": swaps()}, sets=N_SETS)
        sys.exit()
    for title, section in SECTIONS.items():
        print(f"\n{title}", flush=True)
        show(section())
