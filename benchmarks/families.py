"""Families: linked labels beside the R package postlink, lost order inside groups, times and speed.

    python -m benchmarks.families [--sets 40] [--coverage 0] [--only linked verdicts groups speed]

postlink's figures are from earlier runs of the R package on data of this kind.
"""

import argparse
import time
import warnings

import numpy as np
from scipy.stats import chi2

from unshuffle import ShuffledClassifier, ShuffledCoxRegressor, ShuffledRegressor
from unshuffle.families.catalogue import FAMILIES

from .verdict_thresholds import SOUND

TRUTH = {
    "bernoulli": np.array([2.0, -1.0]),
    "poisson": np.array([0.8, -0.5]),
    "gamma": np.array([0.8, -0.5]),
    "cox": np.array([1.0, -0.5]),
}
PRECISION = {"gamma": 4.0}
POSTLINK = {
    "bernoulli": "2.08 (.48), -1.02 (.32), rate .19",
    "poisson": ".823 (.048), -.515 (.066), rate .30",
    "gamma": ".791 (.020), -.516 (.040), rate .18",
    "cox": "3.74, -1.97",
}


def estimator(name, **more):
    if name == "bernoulli":
        return ShuffledClassifier(**more)
    if name == "cox":
        return ShuffledCoxRegressor(**more)
    return ShuffledRegressor(family=name, random_state=0, **more)


def labels(name, X, rng):
    eta = X @ TRUTH[name]
    if name != "cox":
        return FAMILIES[name].simulate(eta, PRECISION.get(name, 1.0), rng)
    event_time = rng.exponential(np.exp(-eta))
    # Uniform censoring that a fifth of the rows meets.
    limit = rng.uniform(0.0, 7.5, size=len(X))
    return np.column_stack([event_time <= limit, np.minimum(event_time, limit)])


def linked(name, seed, n=1_000, rate=0.2):
    """Rows with a share of labels exchanged among each other."""
    X, _, given = ordered_and_given(name, seed, n, rate)
    return X, given


def ordered_and_given(name, seed, n, rate):
    """The same, with the labels in their own order too."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 2))
    y = labels(name, X, rng)
    given, moved = y.copy(), rng.choice(n, round(rate * n), replace=False)
    given[moved] = y[rng.permutation(moved)]
    return X, y, given


def grouped(name, seed, n_groups=100, size=10):
    """Labels shuffled inside groups; a fifth of the features' variance lies between groups."""
    rng = np.random.default_rng(seed)
    groups = np.repeat(np.arange(n_groups), size)
    X = 0.8**0.5 * rng.normal(size=(n_groups * size, 2))
    X += 0.2**0.5 * rng.normal(size=(n_groups, 2))[groups]
    y = labels(name, X, rng)
    order = np.lexsort([rng.random(len(groups)), groups])
    return X, y, y[order], groups


def run_linked(n_sets, n_coverage):
    print("n = 1000, 20 % mismatched, no rate given: mean (sd) of the coefficients")
    for name, truth in TRUTH.items():
        found, inside, rates, started = [], [], [], time.perf_counter()
        for seed in range(max(n_sets, n_coverage)):
            model = estimator(name, pairing="mostly-right").fit(*linked(name, seed))
            ends = model.conf_int()[-2:]
            inside.append((ends[:, 0] < truth) & (truth < ends[:, 1]))
            found.append(model.coef_)
            rates.append(model.mismatch_rate_)
        seconds = (time.perf_counter() - started) / len(found)
        first, mean, sd = np.array(found[:n_sets]), *_moments(found[:n_sets])
        assert len(first) == n_sets
        print(
            f"  {name:10} {mean[0]:6.3f} ({sd[0]:.3f}) {mean[1]:6.3f} ({sd[1]:.3f})  rate "
            f"{np.mean(rates[:n_sets]):.3f}  covered {np.mean(inside, axis=0)} of {len(found)}  "
            f"{seconds:.2f} s   postlink {POSTLINK[name]}"
        )


def _moments(found):
    return np.mean(found, axis=0), np.std(found, axis=0, ddof=1)


def run_verdicts(n_sets):
    print(
        "trusted fits, and those of them with an error below twice the 95 % radius of known order"
    )
    for name, truth in TRUTH.items():
        for n in (300, 1_000):
            counts = []
            for rate in (0.0, 0.2, 0.5):
                errors = []
                for seed in range(n_sets):
                    X, y, given = ordered_and_given(name, seed, n, rate)
                    model = estimator(name, pairing="mostly-right").fit(X, given)
                    known = estimator(name, pairing="known").fit(X, y)
                    apart = model.coef_.ravel() - truth
                    squared = apart @ np.linalg.solve(known.covariance()[-2:, -2:], apart)
                    if model.verdict_.level == "trust":
                        errors.append(np.sqrt(squared / chi2.ppf(0.95, 2)))
                sound = sum(error < SOUND for error in errors)
                counts.append(f"{rate:.0%} mismatched {len(errors)} ({sound})")
            print(f"  {name:10} n = {n:5,}: {', '.join(counts)} of {n_sets}")


def run_groups(n_sets):
    print("100 groups of 10, order lost: root mean square error, and verdicts")
    for name in ("bernoulli", "poisson", "gamma"):
        errors = {"lost": [], "known": [], "as given": [], "group means": []}
        verdicts = []
        for seed in range(n_sets):
            X, y, shuffled, groups = grouped(name, seed)
            lost = estimator(name, pairing="lost").fit(X, shuffled, groups=groups)
            verdicts.append(lost.verdict_.level)
            errors["lost"].append(lost.coef_)
            errors["known"].append(estimator(name, pairing="known").fit(X, y).coef_)
            errors["as given"].append(estimator(name, pairing="known").fit(X, shuffled).coef_)
            errors["group means"].append(of_means(name, X, y, groups))
        shown = ", ".join(
            f"{method} {np.sqrt(np.mean((np.array(found) - TRUTH[name]) ** 2)):.3f}"
            for method, found in errors.items()
        )
        counts = {level: verdicts.count(level) for level in ("trust", "caution", "reject")}
        print(f"  {name:10} {shown}; {counts}")
    X, y, shuffled, _ = grouped("poisson", 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        alone = estimator("poisson", pairing="lost").fit(X, shuffled)
    print(f"  poisson, one group of 1000: {alone.verdict_.level}")


def of_means(name, X, y, groups):
    """The usual way: transformed means of labels on means of features."""
    n = np.bincount(groups)
    means = np.column_stack([np.bincount(groups, column) / n for column in X.T])
    label = np.bincount(groups, y) / n
    target = np.log(label + 0.05)
    if name == "bernoulli":
        target = np.log((label + 0.05) / (1.05 - label))
    design = np.column_stack([np.ones(len(n)), means])
    return np.linalg.lstsq(design, target, rcond=None)[0][1:]


def run_speed():
    print("seconds of one fit, 20 % mismatched")
    for name, n in (("cox", 1_000), ("cox", 100_000), ("poisson", 100_000), ("gamma", 100_000)):
        X, y = linked(name, 0, n)
        started = time.perf_counter()
        model = estimator(name, pairing="mostly-right").fit(X, y)
        print(f"  {name:10} n = {n:7,}  {time.perf_counter() - started:6.1f}  {model.coef_}")
    X, y = linked("gamma", 0, 100_000)
    started = time.perf_counter()
    ShuffledRegressor(pairing="mostly-right", random_state=0).fit(X, np.log(y))
    print(f"  normal     n = 100,000  {time.perf_counter() - started:6.1f}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=40)
    parser.add_argument("--coverage", type=int, default=0, help="sets for coverage")
    parser.add_argument("--only", nargs="*", default=["linked", "verdicts", "groups", "speed"])
    options = parser.parse_args()
    if "linked" in options.only:
        run_linked(options.sets, options.coverage)
    if "verdicts" in options.only:
        run_verdicts(options.sets)
    if "groups" in options.only:
        run_groups(min(options.sets, 30))
    if "speed" in options.only:
        run_speed()


if __name__ == "__main__":
    main()
