"""Intervals of families: how often they cover the truth, by the way in which they are found.

    python -m benchmarks.family_intervals [--sets 40] [--only linked posterior groups]

"linked": 1,000 rows, a fifth mismatched, the rate estimated; standard errors beside the profile of
the likelihood. "posterior": the same with posterior draws, 500 of each chain. "groups": counts in
lost order inside 100 groups of ten, of which some groups have more than others for no reason that
the features know; standard errors from the information and from the sandwich of groups.
"""

import argparse
import time
import warnings

import numpy as np

from benchmarks.families import TRUTH, estimator, linked
from unshuffle import ShuffledRegressor


def covered(intervals, truth):
    low, high = intervals[-len(truth) :].T
    return (low < truth) & (truth < high)


def run_linked(n_sets, names, methods):
    for name in names:
        inside = {method: [] for method in methods}
        seconds = dict.fromkeys(methods, 0.0)
        for seed in range(n_sets):
            model = estimator(name, pairing="mostly-right").fit(*linked(name, seed))
            for method in methods:
                options = {"n_draws": 500, "random_state": 0} if method == "posterior" else {}
                started = time.perf_counter()
                found = model.conf_int(method=method, **options)
                seconds[method] += time.perf_counter() - started
                inside[method].append(covered(found, TRUTH[name]))
        for method in methods:
            share = np.mean(inside[method], axis=0)
            print(
                f"  {name:10} {method:12} covered {share} of {n_sets}  "
                f"{seconds[method] / n_sets:.2f} s",
                flush=True,
            )


def wild_groups(seed, wild, n_groups=100, size=10):
    """Counts shuffled inside groups, each group with a factor of its own."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = 0.8**0.5 * rng.normal(size=(n_groups * size, 2))
    X += 0.2**0.5 * rng.normal(size=(n_groups, 2))[groups]
    eta = X @ TRUTH["poisson"] + wild * rng.normal(size=n_groups)[groups]
    y = rng.poisson(np.exp(eta)).astype(float)
    return X, y[np.lexsort([rng.random(len(groups)), groups])], groups


def run_groups(n_sets):
    for wild in (0.0, 0.5):
        inside = {"information": [], "sandwich": []}
        for seed in range(n_sets):
            X, y, groups = wild_groups(seed, wild)
            model = ShuffledRegressor(family="poisson", pairing="lost", random_state=0)
            model.fit(X, y, groups=groups)
            for method, found in inside.items():
                found.append(covered(model.conf_int(method=method), TRUTH["poisson"]))
        shares = {method: np.mean(found, axis=0) for method, found in inside.items()}
        print(f"  counts in groups, spread of groups {wild}: {shares} of {n_sets}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--only", nargs="*", default=["linked", "posterior", "groups"])
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if "linked" in options.only:
        run_linked(options.sets, list(TRUTH), ("information", "profile"))
    if "posterior" in options.only:
        run_linked(options.sets, ["bernoulli", "poisson", "gamma"], ("posterior",))
    if "groups" in options.only:
        run_groups(options.sets)


if __name__ == "__main__":
    main()
