"""Stochastic and Hard EM of other families, and their intervals where a family is wrong.

    python -m benchmarks.family_em [--sets 30] [--only groups intervals partners]

Data are those of `benchmarks.families`: 100 groups of 10 whose order is lost, and 1,000 linked rows
of which a fifth is mismatched.
"""

import argparse
import time

import numpy as np

from unshuffle import (
    HardEMRegressor,
    ShuffledCoxRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
)
from unshuffle.families.catalogue import FAMILIES

from .families import TRUTH, grouped, linked

SLOPES = np.array([0.8, -0.5])
TRUTH = TRUTH | {"negative-binomial": SLOPES}


def grouped_labels(name, seed):
    """Labels shuffled inside groups; negative binomial ones of dispersion 0.5 too."""
    if name != "negative-binomial":
        return grouped(name, seed)
    X, _, _, groups = grouped("poisson", seed)
    rng = np.random.default_rng(10_000 + seed)
    y = FAMILIES[name].simulate(X @ SLOPES, 2.0, rng)
    return X, y, y[np.lexsort([rng.random(len(groups)), groups])], groups


def run_groups(n_sets):
    print(f"100 groups of 10, order lost, {n_sets} sets: mean (sd) of both coefficients, rmse")
    methods = {
        "known order": lambda name: ShuffledRegressor(family=name, pairing="known"),
        "as given": lambda name: ShuffledRegressor(family=name, pairing="known"),
        "stochastic": lambda name: StochasticEMRegressor(family=name, random_state=0),
        "hard": lambda name: HardEMRegressor(family=name, n_init=20, random_state=0),
    }
    for name in ("poisson", "gamma", "negative-binomial"):
        for method, make in methods.items():
            found, inside, levels, started = [], [], [], time.perf_counter()
            for seed in range(n_sets):
                X, y, shuffled, groups = grouped_labels(name, seed)
                model = make(name).fit(X, y if method == "known order" else shuffled, groups=groups)
                found.append(model.coef_)
                if method == "stochastic":
                    ends = model.conf_int()[1:]
                    inside.append((ends[:, 0] < TRUTH[name]) & (TRUTH[name] < ends[:, 1]))
                    levels.append(model.verdict_.level)
            mean, sd = np.mean(found, axis=0), np.std(found, axis=0, ddof=1)
            rmse = float(np.sqrt(np.mean((np.array(found) - TRUTH[name]) ** 2)))
            more = ""
            if inside:
                counts = {level: levels.count(level) for level in ("trust", "caution", "reject")}
                more = f"  covered {np.mean(inside):.3f}  {counts}"
            print(
                f"  {name:18} {method:12} {mean[0]:6.3f} ({sd[0]:.3f}) {mean[1]:6.3f} "
                f"({sd[1]:.3f})  rmse {rmse:.3f}  "
                f"{(time.perf_counter() - started) / n_sets:.2f} s{more}"
            )


def run_intervals(n_sets):
    print(f"counts that vary more than Poisson's, a fifth mismatched, {n_sets} sets: coverage")
    covered = {method: [] for method in ("information", "sandwich", "bootstrap")}
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(500, 2))
        y = FAMILIES["negative-binomial"].simulate(0.5 + X @ SLOPES, 4.0, rng)
        y[:100] = y[:100][rng.permutation(100)]
        model = ShuffledRegressor(family="poisson", pairing="mostly-right", mismatch_rate=0.2)
        model.fit(X, y)
        for method, inside in covered.items():
            more = {"n_boot": 60, "random_state": seed} if method == "bootstrap" else {}
            ends = model.conf_int(method=method, **more)[1:]
            inside.append((ends[:, 0] < SLOPES) & (ends[:, 1] > SLOPES))
    print("  " + ", ".join(f"{method} {np.mean(inside):.3f}" for method, inside in covered.items()))
    print(f"times, a fifth mismatched, {n_sets} sets: coverage")
    both = {"information": [], "sandwich": []}
    for seed in range(n_sets):
        model = ShuffledCoxRegressor(pairing="mostly-right").fit(*linked("cox", seed))
        for method, inside in both.items():
            ends = model.conf_int(method=method)
            inside.append((ends[:, 0] < TRUTH["cox"]) & (TRUTH["cox"] < ends[:, 1]))
    print("  " + ", ".join(f"{method} {np.mean(inside):.3f}" for method, inside in both.items()))


def run_partners(n_sets):
    print("own label of a suspect among its first three partners, 300 rows, a fifth mismatched")
    for precision in (100.0, 1_000.0, 10_000.0):
        right, sure = [], []
        for seed in range(n_sets):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(300, 2))
            y = FAMILIES["gamma"].simulate(X @ SLOPES, precision, rng)
            order = np.arange(300)
            order[:60] = np.roll(np.arange(60), 1)
            holder = np.argsort(order)
            table = ShuffledRegressor(family="gamma", pairing="mostly-right", random_state=0)
            table = table.fit(X, y[order]).suspects()
            table = table[table["row"] < 60]
            partners = table[["partner_1", "partner_2", "partner_3"]].to_numpy()
            right += list((partners == holder[table["row"]][:, None]).any(axis=1))
            sure += list(table[[f"partner_{k}_proba" for k in (1, 2, 3)]].to_numpy().sum(axis=1))
        print(
            f"  gamma, shape {precision:8.0f}: {np.mean(right):.3f} of {len(right)}, "
            f"{np.mean(sure):.3f} by its probabilities"
        )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=30)
    parser.add_argument("--only", nargs="*", default=["groups", "intervals", "partners"])
    options = parser.parse_args()
    runs = {"groups": run_groups, "intervals": run_intervals, "partners": run_partners}
    for name in options.only:
        runs[name](options.sets)


if __name__ == "__main__":
    main()
