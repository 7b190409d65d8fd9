"""Settings chosen by held-out groups, beside the best that could have been chosen.

`python -m benchmarks.choosing [--only grid settings real few cost] [--sets 20] [--splits 20]`
prints: what a grid search over the pairing picks; how far the setting that `ShuffledRegressorCV`
picks is from the best of all settings; test errors on real tables as multiples of least squares
as given; four large groups beside EM that is started from the truth; and the cost.
"""

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from functools import partial

import numpy as np
import sklearn
from sklearn.linear_model import LinearRegression
from sklearn.model_selection import GridSearchCV, GroupKFold

from unshuffle import ShuffledRegressor, ShuffledRegressorCV, StochasticEMRegressor
from unshuffle.datasets import make_shuffled_regression
from unshuffle.datasets.simulated import shuffle_inside

from .real_sets import SETS, rmse, splits
from .run import show

SHAPES = ((500, 5, 50), (240, 3, 60), (500, 10, 25), (300, 4, 12), (400, 8, 40))
NOISES = (0.2, 0.5, 1.0, 2.0)


def grouped(seed, n, d, n_groups, noise):
    """Labels shuffled inside random groups of equal size."""
    return make_shuffled_regression(
        n, d, noise=noise, shuffle="groups", n_groups=n_groups, random_state=seed
    )


def picked(seed):
    """The pairing that a grid search picks where the order is lost inside groups."""
    rng = np.random.default_rng(seed)
    X, groups = rng.normal(size=(300, 2)), np.repeat(np.arange(30), 10)
    ordered = X @ [2.0, -1.0] + 0.9 * rng.normal(size=300)
    y = ordered[shuffle_inside(rng, groups)]
    grid = {"pairing": ["known", "lost"]}
    with sklearn.config_context(enable_metadata_routing=True):
        search = GridSearchCV(ShuffledRegressor(random_state=0), grid, cv=GroupKFold(5))
        search.fit(X, y, groups=groups)
    return search.best_params_["pairing"]


def against_best(case):
    """Errors of the setting chosen over those of the best: of coefficients, and of predictions."""
    seed, (n, d, n_groups), noise = case
    warnings.simplefilter("ignore")
    data = grouped(seed, n, d, n_groups, noise)
    model = ShuffledRegressorCV(random_state=0).fit(data.X, data.y, groups=data.groups)
    tried = model.cv_results_
    errors = []
    for start, temper, ridge in zip(tried["start"], tried["temper"], tried["ridge"], strict=True):
        fit = ShuffledRegressor(
            pairing="lost",
            search="population" if start == "match" else "none",
            temper=float(temper),
            ridge=float(ridge),
            random_state=0,
        ).fit(data.X, data.y, groups=data.groups)
        errors.append(np.linalg.norm(fit.coef_ - data.coef))
    errors = np.array(errors)
    ours = np.linalg.norm(model.coef_ - data.coef)
    predicted = np.sqrt(noise**2 + errors**2)  # of a fresh row: features have unit variance
    return ours / errors.min(), np.sqrt(noise**2 + ours**2) / predicted.min()


def against_given(name, n_splits):
    """Test errors on a real table as multiples of least squares as given."""
    warnings.simplefilter("ignore")
    found = []
    for X, y, groups, ordered, X_test, y_test in splits(*SETS[name](), n_splits):
        as_given = rmse(LinearRegression().fit(X, y), X_test, y_test)
        ours = ShuffledRegressor(random_state=0).fit(X, y, groups=groups)
        known = LinearRegression().fit(X, ordered)
        found.append([rmse(model, X_test, y_test) / as_given for model in (ours, known)])
    return np.array(found)


def four_groups(seed):
    """Errors with four large groups: ours, and EM started from the truth."""
    warnings.simplefilter("ignore")
    data = grouped(seed, 506, 13, 4, 0.5)
    given = (data.X, data.y)
    ours = ShuffledRegressor(random_state=0).fit(*given, groups=data.groups)
    told = StochasticEMRegressor(  # until it has come to rest, some way from the truth
        init=data.coef, max_iter=400, tol=1e-9, random_state=0
    ).fit(*given, groups=data.groups)
    size = np.linalg.norm(data.coef)
    return [np.linalg.norm(model.coef_ - data.coef) / size for model in (ours, told)]


def print_settings(ratios):
    """How often the setting chosen is as good as the best."""
    named = zip(("coefficients", "predictions"), ratios.T, strict=True)
    show(
        [
            {
                "error of": what,
                "sets": len(r),
                "within 5 % of the best": f"{np.mean(r <= 1.05):.3f}",
                "mean ratio": f"{r.mean():.3f}",
                "largest": f"{r.max():.3f}",
            }
            for what, r in named
        ]
    )
    print()


def print_real(found):
    """Test errors on real tables."""
    show(
        [
            {
                "test error, x least squares as given": name,
                "mean": f"{r[:, 0].mean():.3f}",
                "largest": f"{r[:, 0].max():.3f}",
                "known order": f"{r[:, 1].mean():.3f}",
            }
            for name, r in zip(SETS, found, strict=True)
        ]
    )
    print()


def main():
    parts = ["grid", "settings", "real", "few", "cost"]
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--sets", type=int, default=20)
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    with ProcessPoolExecutor(args.jobs) as pool:
        if "grid" in args.only:
            lost = sum(pairing == "lost" for pairing in pool.map(picked, range(args.sets)))
            print(f"grid search over the pairing picks 'lost' in {lost} of {args.sets} sets\n")
        if "settings" in args.only:
            n_seeds = -(-5 * args.sets // (len(SHAPES) * len(NOISES)))
            cases = [
                (s, shape, noise) for s in range(n_seeds) for shape in SHAPES for noise in NOISES
            ]
            print_settings(np.array(list(pool.map(against_best, cases))))
        if "real" in args.only:
            print_real(pool.map(partial(against_given, n_splits=args.splits), SETS))
        if "few" in args.only:
            ours, told = np.mean(list(pool.map(four_groups, range(args.sets))), axis=0)
            print("four groups, n=506, d=13, noise .5: error", end=" ")
            print(f"{ours:.3f}, EM from the truth {told:.3f}, ratio {ours / told:.2f}\n")
    if "cost" in args.only:
        data = grouped(0, 500, 5, 50, 0.5)
        for _ in range(2):  # the first one compiles
            start = time.perf_counter()
            ShuffledRegressorCV(random_state=0).fit(data.X, data.y, groups=data.groups)
        print(f"5 folds x 8 settings, n=500 in 50 groups: {time.perf_counter() - start:.1f} s")


if __name__ == "__main__":
    main()
