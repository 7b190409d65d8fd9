"""`make bench-search`: the global search and the default estimator, beside what users have."""

import multiprocessing
import queue
import time
import warnings
from functools import partial
from itertools import pairwise

import numpy as np
from sklearn.linear_model import HuberRegressor, LinearRegression

from unshuffle import (
    HardEMRegressor,
    MixtureRegressor,
    ShuffledRegressor,
    StochasticEMRegressor,
    warm_up,
)
from unshuffle.data.problem import make_problem
from unshuffle.data.threads import Workers
from unshuffle.datasets import make_shuffled_regression
from unshuffle.families.least_squares import LeastSquares
from unshuffle.metrics import coefficient_error
from unshuffle.search.landscape import Landscape

from . import real_sets
from .partial import SWAPS
from .run import show

OURS = "unshuffle"
PATIENCE = 60  # seconds for the older package


def timed(fit):
    """What `fit` returns, and the seconds it took."""
    begin = time.perf_counter()
    found = fit()
    return found, time.perf_counter() - begin


def door(seed, **settings):
    """The default estimator with two threads."""
    return ShuffledRegressor(random_state=seed, n_jobs=2, **settings)


def four_groups(n_sets=20):
    """Four groups by one feature, n = 506, d = 13, noise .5."""
    errors, seconds = {}, {}
    for seed in range(n_sets):
        data = make_shuffled_regression(506, 13, noise=0.5, shuffle="groups", n_groups=4,
                                        random_state=seed)  # fmt: skip
        for name, fit in _peers(data, seed).items():
            model, took = timed(fit)
            errors.setdefault(name, []).append(coefficient_error(model.coef_, data.coef))
            seconds.setdefault(name, []).append(took)
    rows = [_error_row(name, errors[name], seconds[name], np.mean(errors[OURS])) for name in errors]
    return [*rows, _older_package()]


def _peers(data, seed):
    X, y, groups = data.X, data.y, data.groups
    published = StochasticEMRegressor(variant="published", n_jobs=2, random_state=seed)
    return {
        OURS: lambda: door(seed).fit(X, y, groups=groups),
        "OLS": lambda: LinearRegression().fit(X, y),
        "Huber": lambda: HuberRegressor(max_iter=1000).fit(X, y),
        "hard EM, n starts": lambda: HardEMRegressor(n_jobs=2, random_state=seed).fit(
            X, y, groups=groups
        ),
        "published stochastic EM": lambda: published.fit(X, y, groups=groups),
        "known order": lambda: LinearRegression().fit(X, data.y_ordered),
    }


def _error_row(name, errors, seconds, ours):
    return {"method": name, "sets": len(errors), "mean error": round(np.mean(errors), 3),
            "largest error": round(max(errors), 3), "error / ours": round(np.mean(errors) / ours, 2),
            "mean s": round(np.mean(seconds), 2), "longest s": round(max(seconds), 2)}  # fmt: skip


def _older_package():
    """`shuffled_stats` on the first set, in a process of its own that is ended after a minute."""
    name = "shuffled_stats (1 set)"
    context = multiprocessing.get_context("spawn")
    answers = context.Queue()
    process = context.Process(target=_run_older_package, args=(answers,))
    process.start()
    try:
        error, took = answers.get(timeout=PATIENCE)
    except queue.Empty:
        return {"method": name, "sets": 0, "mean s": f"stopped after {PATIENCE}"}
    finally:
        process.terminate()
        process.join()
    return {"method": name, "sets": 1, "mean error": round(error, 3), "mean s": round(took, 2)}


def _run_older_package(answers):
    import shuffled_stats

    data = make_shuffled_regression(506, 13, noise=0.5, shuffle="groups", n_groups=4,
                                    random_state=0)  # fmt: skip
    np.random.seed(0)  # noqa: NPY002 - it draws from the global generator
    coef, took = timed(lambda: shuffled_stats.linregress(data.X, data.y, groups=data.groups))
    answers.put((coefficient_error(np.ravel(coef), data.coef), took))


FULLY = (  # d, n, noise, how many of ten sets, seconds each
    (2, 100, 0.1, 10, None),
    (5, 500, 0.1, 10, 15),
    (8, 200, 0.1, 9, 30),
    (8, 500, 0.03, 8, 120),
    (10, 200, 0.1, 6, 180),
)


def fully_shuffled(n_sets=10):
    """Solved: relative error below .1, or a match no worse than that of the true coefficients."""
    rows = []
    for d, n, noise, target, limit in FULLY:
        near, as_good, solved, took, ols = 0, 0, 0, [], []
        for seed in range(n_sets):
            data = make_shuffled_regression(n, d, noise=noise, random_state=seed)
            model, seconds = timed(lambda data=data, seed=seed: door(seed).fit(data.X, data.y))
            length = np.linalg.norm(data.coef)
            close = coefficient_error(model.coef_, data.coef) < 0.1 * length
            match = model.solution_objectives_[0] <= from_the_truth(data) * (1 + 1e-9)
            near, as_good, solved = near + close, as_good + match, solved + (close or match)
            took.append(seconds)
            ols.append(coefficient_error(LinearRegression().fit(data.X, data.y).coef_, data.coef)
                       < 0.1 * length)  # fmt: skip
        rows.append({"d": d, "n": n, "noise": noise, "solved": f"{solved} of {n_sets}",
                     "target": target, "error < .1": near, "match as good as from the truth": as_good,
                     "OLS error < .1": sum(ols), "mean s": round(np.mean(took), 2),
                     "longest s": round(max(took), 2), "allowed s": limit or ""})  # fmt: skip
    return rows


def from_the_truth(data):
    """Matched sum of squares that plain hard EM reaches from the true coefficients."""
    problem = make_problem(data.X, data.y, data.groups, np.zeros(len(data.y), dtype=bool))
    landscape = Landscape(problem, LeastSquares(problem.X, fit_intercept=True), Workers(1))
    theta = landscape.theta_of(problem.arrange(data.X @ data.coef))[None]
    return landscape.total - landscape.descend(theta, 1000)[0]


def two_features(n_sets=5):
    """n = 100, d = 2, noise .3: coefficients of length 2, and drawn ones, often below the noise."""
    rows = []
    for name, coef in (("coefficients (1.2, 1.6)", (1.2, 1.6)), ("standard normal", None)):
        found, hard, truth, lengths = [], [], [], []
        for seed in range(n_sets):
            data = make_shuffled_regression(100, 2, noise=0.3, coef=coef, random_state=seed)
            model = door(seed).fit(data.X, data.y)
            found.append(coefficient_error(model.coef_, data.coef))
            hard.append(coefficient_error(model.solutions_[0], data.coef))
            truth.append(model.solution_objectives_[0] <= from_the_truth(data) * (1 + 1e-9))
            lengths.append(np.linalg.norm(data.coef))
        rows.append({"coefficients": name, "mean length": round(np.mean(lengths), 2),
                     "mean error": round(np.mean(found), 3), "of the best match": round(np.mean(hard), 3),
                     "proved optimal and no worse than from the truth": sum(truth)})  # fmt: skip
    return rows


def real_data(n_splits=20):
    """Mean test error as a ratio to OLS on the labels as given."""
    targets = {"Boston LSTAT, 3 zones of MEDV": 0.98, "Boston LSTAT, 4 zones of MEDV": 0.98,
               "Microarray, 3 bins": 0.97, "Microarray, 4 bins": 0.985}  # fmt: skip
    rows = []
    for name, load in real_sets.SETS.items():
        table = []
        for split, (X, y, groups, ordered, X_test, y_test) in enumerate(
            real_sets.splits(*load(), n_splits)
        ):
            models = {
                "OLS": LinearRegression().fit(X, y),
                OURS: door(split).fit(X, y, groups=groups),
                "published": StochasticEMRegressor(variant="published", random_state=split).fit(
                    X, y, groups=groups
                ),
                "known order": LinearRegression().fit(X, ordered),
            }
            table.append({k: real_sets.rmse(m, X_test, y_test) for k, m in models.items()})
        mean = {k: np.mean([row[k] for row in table]) for k in table[0]}
        ratio = {f"{k} / OLS": round(mean[k] / mean["OLS"], 3) for k in mean if k != "OLS"}
        rows.append({"set": name, "OLS RMSE": round(mean["OLS"], 4), **ratio,
                     "target": targets.get(name, 1.02)})  # fmt: skip
    return rows


def mostly_right(n_sets=20):
    """All defaults beside the settings that are best for random swaps (n = 200, d = 20, noise 1)."""
    rows = []
    for n_swaps in SWAPS:
        table, said = [], []
        for seed in range(n_sets):
            data = make_shuffled_regression(
                200, 20, noise=1.0, shuffle="swaps", n_swaps=n_swaps, random_state=seed
            )
            front = door(seed).fit(data.X, data.y)
            said.append(front.pairing_ == "mostly-right")
            assumed = StochasticEMRegressor(mismatch_rate="estimate", random_state=seed)
            models = {OURS: front, "assumed": assumed.fit(data.X, data.y),
                      "mixture": MixtureRegressor().fit(data.X, data.y),
                      "OLS": LinearRegression().fit(data.X, data.y)}  # fmt: skip
            table.append({k: coefficient_error(m.coef_, data.coef) for k, m in models.items()})
        mean = {k: np.mean([row[k] for row in table]) for k in table[0]}
        best = min(mean["assumed"], mean["mixture"])
        rows.append({"swaps": n_swaps, **{k: round(v, 3) for k, v in mean.items()},
                     "ours / best": round(mean[OURS] / best, 3),
                     "taken for mostly right": f"{sum(said)} of {n_sets}"})  # fmt: skip
    return rows


def speed(rounds=5):
    """Hard EM steps a second on one core, beside NumPy's sort and products for as many steps."""
    rows = []
    for n, d, n_groups in ((506, 13, 4), (506, 13, 1), (200, 8, 1), (20_000, 13, 1)):
        data = make_shuffled_regression(n, d, noise=0.5, shuffle="groups", n_groups=n_groups,
                                        random_state=0)  # fmt: skip
        problem = make_problem(data.X, data.y, data.groups, np.zeros(n, dtype=bool))
        landscape = Landscape(problem, LeastSquares(problem.X, fit_intercept=True), Workers(1))
        n_starts = max(4, 400_000 // n)
        best = {"momentum": np.inf, "plain": np.inf, "numpy": np.inf}
        for _ in range(rounds):
            for name, momentum in (("momentum", 1.5), ("plain", 0.0)):
                thetas = np.random.default_rng(0).normal(size=(n_starts, d))
                landscape.n_steps = 0
                _, took = timed(partial(landscape.descend, thetas, 100, momentum=momentum))
                best[name] = min(best[name], took / landscape.n_steps)
            best["numpy"] = min(best["numpy"], _numpy_step(landscape))
        rows.append({"set": f"n={n}, d={d}, {n_groups} group(s)",
                     **{f"{k} steps/s": round(1 / v) for k, v in best.items()},
                     "ours / NumPy time": round(best["momentum"] / best["numpy"], 2),
                     "plain / NumPy time": round(best["plain"] / best["numpy"], 2)})  # fmt: skip
    return rows


def _numpy_step(landscape, steps=300):
    basis, starts = landscape.labels.basis, landscape.labels.starts
    transposed, theta = np.ascontiguousarray(basis.T), np.ones(landscape.rank)
    begin = time.perf_counter()
    for _ in range(steps):
        mu = transposed @ theta
        for first, last in pairwise(starts):
            np.argsort(mu[first:last])
        basis @ mu
    return (time.perf_counter() - begin) / steps


SECTIONS = {
    "Hard EM steps on one core, best of five rounds": speed,
    "Four groups by a feature, n=506, d=13, noise .5": four_groups,
    "Fully shuffled, ten sets each": fully_shuffled,
    "Two features, n=100, noise .3, five sets": two_features,
    "Real data, 20 splits: test error as a ratio to OLS on the labels as given": real_data,
    "Mostly right, 20 sets each: the default estimator with all defaults": mostly_right,
}

if __name__ == "__main__":
    warnings.simplefilter("ignore")
    warm_up()
    for title, section in SECTIONS.items():
        print(f"\n{title}", flush=True)
        show(section())
