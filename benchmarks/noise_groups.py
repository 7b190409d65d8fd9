"""Laws of the noise where the order is lost inside groups, on simulated sets and real tables.

`python -m benchmarks.noise_groups [--sets 100]` prints the error of the coefficients with normal
noise, Student's t and a mixture of normals beside least squares with the order known and as given,
the share of 95 % intervals that hold the truth, and how often each law is preferred. With `--real`
the same is done for real tables (see `benchmarks.real`), against least squares with the order known.
"""

import argparse
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
from sklearn.linear_model import LinearRegression
from threadpoolctl import threadpool_limits

from unshuffle import ShuffledRegressor

from .noise import draw
from .real_cases import RANDOM, SORTED, grouped
from .real_fits import accuracy, reference
from .real_tables import read_tables
from .run import show

LAWS = ("normal", "t", "mixture")
CHECK = "agreement with normal noise"
N_ROWS, N_FEATURES, SIZE, R2 = 600, 3, 8, 0.7


def simulated(seed, law):
    """Features, labels as given and in order, groups and slopes."""
    rng = np.random.default_rng([seed, 17])
    X, slopes = rng.normal(size=(N_ROWS, N_FEATURES)), rng.normal(size=N_FEATURES)
    slopes /= np.linalg.norm(slopes)
    y = X @ slopes + (1.0 / R2 - 1.0) ** 0.5 * draw(law, rng, N_ROWS)
    groups = np.arange(N_ROWS) // SIZE
    return X, y[np.lexsort((rng.random(N_ROWS), groups))], y, groups, slopes


def fit(X, y, groups, noise):
    """One fit, without the warnings that its verdict repeats."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = ShuffledRegressor(noise=noise, pairing="lost", random_state=0)
        return model.fit(X, y, groups=groups)


def agreement(model):
    """p-value of the check, nan without it."""
    return next((r.value for r in model.verdict_.reasons if r.check == CHECK), float("nan"))


def measure_simulated(seed, law):
    """Errors and coverage of one set."""
    X, given, y, groups, slopes = simulated(seed, law)
    found = {
        "known order": np.linalg.norm(LinearRegression().fit(X, y).coef_ - slopes),
        "OLS as given": np.linalg.norm(LinearRegression().fit(X, given).coef_ - slopes),
    }
    for noise in LAWS:
        model = fit(X, given, groups, noise)
        low, high = model.conf_int()[1:].T
        found[noise] = np.linalg.norm(model.coef_ - slopes)
        found[f"covered, {noise}"] = np.mean((low < slopes) & (slopes < high))
        if noise != "normal":
            found[f"{noise} preferred"] = getattr(model, "noise_gain_", -1.0) > 0.0
            found[f"{noise} agrees"] = agreement(model) >= 0.2
    return {name: float(value) for name, value in found.items()}


def measure_real(table):
    """Errors of one table in two kinds of groups, and the verdicts."""
    rows = []
    for kind in (RANDOM, SORTED):
        case = grouped(table, kind)
        ref = reference(case.X, case.ordered)
        for noise in LAWS:
            try:
                model = fit(case.X, case.given, case.groups, noise)
            except ValueError as refused:
                rows.append({"groups": kind, "noise": noise, "refused": str(refused)})
                continue
            about = {"groups": kind, "noise": noise, "level": model.verdict_.level}
            others = {r.level for r in model.verdict_.reasons if r.check != CHECK}
            rows.append(about | accuracy(model.coef_, ref) | {"else trusted": others == {"trust"}})
    return rows


def real_lines(rows):
    """Trusted fits of each law, with and without the check of agreement."""
    for kind in (RANDOM, SORTED):
        for noise in LAWS:
            fits = [r for r in rows if r["groups"] == kind and r["noise"] == noise]
            fits = [r for r in fits if "refused" not in r]
            trusted = [r for r in fits if r["level"] == "trust"]
            without = [r for r in fits if r["else trusted"]]
            yield {
                "groups": kind, "noise": noise, "tables": len(fits), "trusted": len(trusted),
                "sound": round(float(np.mean([r["sound"] for r in trusted])), 3),
                "mean error": round(float(np.mean([r["error"] for r in trusted])), 3),
                "trusted without the check": len(without),
                "sound without it": round(float(np.mean([r["sound"] for r in without])), 3),
            }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", type=int, default=100)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--real", action="store_true", help="real tables instead of simulated sets")
    parser.add_argument("--every", type=int, default=1, help="take one in so many real tables")
    options = parser.parse_args()
    with ProcessPoolExecutor(options.jobs, initializer=partial(threadpool_limits, 1)) as pool:
        if options.real:
            tables = read_tables()[:: options.every]
            show(list(real_lines([r for rows in pool.map(measure_real, tables) for r in rows])))
            return
        for law in ("normal", "t3", "lognormal"):
            sets = list(pool.map(partial(measure_simulated, law=law), range(options.sets)))
            print(f"\n{law} noise, {options.sets} sets")
            means = {name: round(float(np.mean([s[name] for s in sets])), 3) for name in sets[0]}
            show([{"": name, "mean": value} for name, value in means.items()])


if __name__ == "__main__":
    main()
