"""`make bench-inference`: do intervals cover, does the verdict tell, what do they cost?"""

import sys
import time
import warnings
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np

from unshuffle import ShuffledRegressor, StochasticEMRegressor, warm_up
from unshuffle.datasets import make_shuffled_regression
from unshuffle.fits import lost_order, table_fits
from unshuffle.metrics import coefficient_error
from unshuffle.search import lost

from . import real_sets
from .run import show
from .verdict_check import grid

FIRST_SEED = 10_000  # not used when thresholds were set


def coverage(n_sets=1000):
    """Share of 95 % intervals that cover, intercept left out."""
    rows = []
    for name, make, settings in (
        ("n=500, d=5, noise .5, 20 % mismatched", linked, {"mismatch_rate": "estimate"}),
        ("40 groups of 15, d=4, noise .5", small_groups, {}),
    ):
        inside, left = [], []
        for seed in range(FIRST_SEED, FIRST_SEED + n_sets):
            data = make(seed)
            model = StochasticEMRegressor(max_iter=200, random_state=seed, **settings)
            low, high = model.fit(data.X, data.y, groups=data.groups).conf_int()[1:].T
            inside.append((low <= data.coef) & (data.coef <= high))
            left.append(model.information_kept_)
        error = np.std(np.mean(inside, axis=1)) / np.sqrt(n_sets)
        rows.append({"set": name, "sets": n_sets, "coverage": round(float(np.mean(inside)), 4),
                     "Monte Carlo error": round(float(error), 4),
                     "information not positive": int(np.sum(np.array(left) <= 0))})  # fmt: skip
    return rows


def linked(seed):
    """20 % of the labels permuted."""
    return make_shuffled_regression(
        500, 5, noise=0.5, shuffle="fraction", fraction=0.2, random_state=seed
    )


def small_groups(seed):
    """Order lost inside 40 random groups of 15."""
    return make_shuffled_regression(
        600, 4, noise=0.5, shuffle="groups", n_groups=40, group_by="random", random_state=seed
    )


def verdicts(n_sets=100):
    """How often each verdict is given, on seeds not used before."""
    rows = []
    for name, make, pairing, target in (
        # One lost order in five has a p-value below .2. Labels in order that depend weakly on X look
        # the same, so the answer there is least squares as given, with "caution", not "reject".
        ("fully shuffled, n=500, d=30, noise 1", hopeless, "auto", "trust <= 1 %, reject >= 95 %"),
        ("the same, said to be shuffled", hopeless, "lost", "trust <= 1 %, reject >= 95 %"),
        ("4 groups, n=506, d=13, noise .5", four_groups, "auto", "reject <= 5 %"),
        ("20 % mismatched, n=500, d=5, noise .5", linked, "auto", "trust >= 90 %"),
        ("labels unrelated to X, n=300, d=5, 3 groups", unrelated, "auto", "trust <= 2 %"),
    ):
        levels, wrong = [], 0
        for seed in range(FIRST_SEED, FIRST_SEED + n_sets):
            data = make(seed)
            model = ShuffledRegressor(pairing=pairing, n_jobs=2, random_state=seed)
            levels.append(model.fit(data.X, data.y, groups=data.groups).verdict_.level)
            error = coefficient_error(model.coef_, data.coef)
            wrong += levels[-1] == "trust" and error > 0.5 * np.linalg.norm(data.coef)
        rows.append(
            {"set": name, **_shares(levels), "trusted and far off": wrong, "target": target}
        )
    levels = []
    for split, (X, y, groups, *_) in enumerate(
        real_sets.splits(*real_sets.housing("LSTAT", "MEDV", 4), n_sets)
    ):
        model = ShuffledRegressor(n_jobs=2, random_state=split).fit(X, y, groups=groups)
        levels.append(model.verdict_.level)
    rows.append({"set": "Boston, 4 zones", **_shares(levels), "target": "never trust"})
    return rows


def _shares(levels):
    return {
        level: f"{levels.count(level)} of {len(levels)}" for level in ("trust", "caution", "reject")
    }


def hopeless(seed):
    """Nothing recovers these."""
    return make_shuffled_regression(500, 30, noise=1.0, random_state=seed)


def four_groups(seed):
    """Recovered by a global search."""
    return make_shuffled_regression(
        506, 13, noise=0.5, shuffle="groups", n_groups=4, random_state=seed
    )


def unrelated(seed):
    """Labels that have nothing to do with the features."""
    return make_shuffled_regression(
        300, 5, noise=1.0, coef=np.zeros(5), shuffle="groups", n_groups=3, group_by="random",
        random_state=seed,
    )  # fmt: skip


def cost(rounds=3):
    """Seconds that standard errors add to a fit."""
    rows = []
    for name, make, settings in (
        ("20 % mismatched, n=500", linked, {"mismatch_rate": "estimate"}),
        ("40 groups of 15", small_groups, {}),
    ):
        data, best = make(0), {}
        model = StochasticEMRegressor(max_iter=200, random_state=0, **settings)
        plain = type("Plain", (StochasticEMRegressor,), {"_follows_model": False})
        without = plain(max_iter=200, random_state=0, **settings)
        for _ in range(rounds):
            for label, contender in (("with", model), ("without", without)):
                begin = time.perf_counter()
                contender.fit(data.X, data.y, groups=data.groups)
                took = time.perf_counter() - begin
                best[label] = min(best.get(label, np.inf), took)
        rows.append({"fit": name, **{f"{k} s": round(v, 3) for k, v in best.items()},
                     "ratio": round(best["with"] / best["without"], 2)})  # fmt: skip
    return rows


def verdict_cost(n_sets=5):
    """Seconds spent on the verdict alone, beside the rest of the fit."""
    rows = []
    for name, make in (
        ("4 groups, n=506, d=13", four_groups),
        ("fully shuffled, n=500, d=30", hopeless),
        ("40 groups of 15", small_groups),
        ("20 % mismatched, n=500", linked),
    ):
        total = spent = 0.0
        for seed in range(n_sets):
            data, clock = make(seed), Clock()
            with ExitStack() as patches:
                for module, function in VERDICT_PARTS:
                    timed = clock.around(getattr(module, function))
                    patches.enter_context(patch.object(module, function, timed))
                begin = time.perf_counter()
                ShuffledRegressor(n_jobs=2, random_state=seed).fit(
                    data.X, data.y, groups=data.groups
                )
                total += time.perf_counter() - begin
            spent += clock.spent
        rows.append({"fit": name, "fit s": round((total - spent) / n_sets, 2),
                     "verdict s": round(spent / n_sets, 2),
                     "ratio": round(spent / (total - spent), 2)})  # fmt: skip
    return rows


# What a fit would not need if it gave no verdict.
VERDICT_PARTS = (
    (lost, "compare_with_unrelated"),
    (lost_order, "refit"),
    (table_fits.TableFits, "with_sensitivity"),
)


class Clock:
    """Adds up the time spent in the functions it is wound around."""

    def __init__(self):
        self.spent = 0.0

    def around(self, function):
        def timed(*args, **kwargs):
            begin = time.perf_counter()
            try:
                return function(*args, **kwargs)
            finally:
                self.spent += time.perf_counter() - begin

        return timed


SECTIONS = {
    "What standard errors cost": cost,
    "What the verdict costs": verdict_cost,
    "Coverage of 95 % intervals": coverage,
    "Verdicts on fresh seeds": verdicts,
    "Are trusted fits sound? (error below twice the 95 % radius with known order)": grid,
}
COSTS = (cost, verdict_cost)

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    smaller = {"n_sets": int(sys.argv[1])} if len(sys.argv) > 1 else {}
    for title, section in SECTIONS.items():
        print(f"\n{title}", flush=True)
        show(section(**({} if section in COSTS else smaller)))
