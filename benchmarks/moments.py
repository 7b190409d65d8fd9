"""`python -m benchmarks.moments [SETS] [brfss.csv.gz]`: `MomentRegressor` on noise of any law.

2,000 rows, 10 to 40 % of the labels exchanged, in one group or inside groups of 20; the rate known,
or audited with 200 links. Printed are the mean of |error| / standard error (0.80 where standard
errors are right), the error relative to the length of the coefficients, that of least squares as
given, and the coverage of 95 % intervals. With a file of the R package postlink's survey `brfss`,
its regression with the mismatch rate of each block (`m.rate`, blocks are months) is printed too.
"""

import sys
from pathlib import Path

import numpy as np
from docs.tables import wants_json, write_result
from sklearn.linear_model import LinearRegression

from unshuffle import Audit, MomentRegressor

from .run import show

N, AUDITED, SIZE = 2000, 200, 20
COEF = np.array([1.0, -0.5, 0.25])
FEATURES = ["Height", "Physhlth", "Menthlth", "Exerany"]


def noise(kind, X, rng):
    """Noise of standard deviation one, or near it."""
    if kind == "skewed":
        return rng.exponential(size=len(X)) - 1.0
    if kind == "t3":
        return rng.standard_t(3, size=len(X)) / 3**0.5
    return rng.normal(size=len(X)) * (0.3 + np.abs(X[:, 0]))


def draw(kind, rate, grouped, seed):
    """Features, labels of which a share was exchanged, groups, and which rows are mismatched."""
    rng = np.random.default_rng(seed)
    groups = np.arange(N) // SIZE if grouped else np.zeros(N, dtype=int)
    X = rng.normal(size=(N, 3)) + grouped * rng.normal(size=(groups.max() + 1, 3))[groups]
    y = 2.0 + X @ COEF + noise(kind, X, rng)
    chosen, perm = rng.permutation(N) < rate * N, np.arange(N)
    for group in range(groups.max() + 1):
        rows = np.flatnonzero(chosen & (groups == group))
        perm[rows] = rng.permutation(rows)
    return X, y[perm], groups, perm != np.arange(N), rng


def measure(kind, rate, grouped, audited, method, n_sets):
    """One line of the table."""
    inside, ratio, errors, given = [], [], [], []
    for seed in range(n_sets):
        X, y, groups, wrong, rng = draw(kind, rate, grouped, seed)
        checked = rng.choice(N, AUDITED, replace=False)
        known = Audit(AUDITED, int(wrong[checked].sum())) if audited else wrong.mean()
        model = MomentRegressor(method=method, mismatch_rate=known).fit(X, y, groups=groups)
        low, high = model.conf_int()[1:].T
        inside.append((low < COEF) & (high > COEF))
        ratio.append(np.abs(model.coef_ - COEF) / model.stderr()[1:])
        errors.append(np.linalg.norm(model.coef_ - COEF) / np.linalg.norm(COEF))
        ols = LinearRegression().fit(X, y).coef_
        given.append(np.linalg.norm(ols - COEF) / np.linalg.norm(COEF))
    return {
        "noise": kind, "mismatched": rate, "groups": "of 20" if grouped else "one",
        "rate": f"audit of {AUDITED}" if audited else "known", "method": method,
        "|error| / se": round(np.mean(ratio), 2), "relative error": round(np.mean(errors), 3),
        "as given": round(np.mean(given), 3), "coverage": round(np.mean(inside), 3),
    }  # fmt: skip


def shown(lines):
    """What the guide shows: a quarter mismatched, in one group."""
    names = ("noise", "rate", "relative error", "as given", "coverage")
    return [
        {name: line[name] for name in names}
        for line in lines
        if line["mismatched"] == 0.25 and line["groups"] == "one"
    ]


def survey(path):
    """Weight on height and health: least squares, and with the mismatch rates of the blocks."""
    import pandas as pd

    table = pd.read_csv(path).dropna()
    table["Height"] = table["Height"] // 100 * 12 + table["Height"] % 100  # feet and inches
    rates = table.groupby("imonth")["m.rate"].first().to_dict()
    lines = [
        {"method": "OLS", **coefficients(LinearRegression().fit(table[FEATURES], table["Weight"]))}
    ]
    for method in ("lahiri-larsen", "chambers", "ratio"):
        model = MomentRegressor(method=method, mismatch_rate=rates)
        model.fit(table[FEATURES], table["Weight"], groups=table["imonth"])
        lines.append({"method": method, **coefficients(model, model.stderr()[1:])})
    show(lines)


def coefficients(model, errors=None):
    """Cells of one line."""
    shown = [f"{value:.2f}" for value in model.coef_]
    if errors is not None:
        shown = [f"{value} ({error:.2f})" for value, error in zip(shown, errors, strict=True)]
    return dict(zip(FEATURES, shown, strict=True))


def main():
    keep = wants_json()
    numbers = [int(word) for word in sys.argv[1:] if word.isdecimal()]
    files = [word for word in sys.argv[1:] if not word.isdecimal()]
    n_sets = numbers[0] if numbers else 500
    lines = [
        measure(kind, rate, False, audited, "lahiri-larsen", n_sets)
        for kind in ("skewed", "t3", "unequal")
        for rate in (0.1, 0.25, 0.4)
        for audited in (False, True)
    ]
    lines += [
        measure("skewed", 0.25, True, audited, method, n_sets)
        for method in ("lahiri-larsen", "chambers", "ratio")
        for audited in (False, True)
    ]
    show(lines)
    if keep:
        command = f"python -m benchmarks.moments {n_sets} --json"
        write_result("moments", command, {"coverage": shown(lines)}, sets=n_sets)
    for file in files:
        survey(Path(file))


if __name__ == "__main__":
    main()
