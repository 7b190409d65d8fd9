"""`python -m benchmarks.unequal`: fits to rows without labels and labels without rows.

``python -m benchmarks.unequal 50`` uses 50 sets in each line (10 by default), and names of tables
after the number print these alone. The line of 100,000 rows is one set.
"""

import sys
import time
import warnings
from pathlib import Path

import numpy as np

from unshuffle import MixtureRegressor, ShuffledRegressor, warm_up

from .run import show


def relative_error(model, coef):
    """Length of the difference over the length of the coefficients."""
    return float(np.linalg.norm(model.coef_ - coef) / np.linalg.norm(coef))


def one_group(seed, n_rows, n_labels, noise):
    """Fully lost, d=3; rows or labels of the larger table are missing in the other."""
    rng = np.random.default_rng(seed)
    n = max(n_rows, n_labels)
    X, coef = rng.normal(size=(n, 3)), rng.normal(size=3)
    y = rng.permutation(X @ coef + noise * rng.normal(size=n))
    return X[:n_rows], y[:n_labels] if n_labels < n else y, coef


def fully_lost(n_sets):
    """n=100 labels of which some of the rows are missing, beside branch and bound."""
    rows = []
    for n_rows, n_labels, noise, goal in (
        (100, 100, 0.01, 0.0015),
        (80, 100, 0.01, 0.0041),
        (50, 100, 0.01, 0.0124),
        (80, 100, 0.05, 0.076),
        (100, 80, 0.01, None),
        (100, 50, 0.01, None),
    ):
        errors, seconds, trusted = [], [], []
        for seed in range(n_sets):
            X, y, coef = one_group(seed, n_rows, n_labels, noise)
            started = time.perf_counter()
            model = ShuffledRegressor(fit_intercept=False, random_state=seed)
            model.fit_unpaired(X, y, unmatched="model")
            seconds.append(time.perf_counter() - started)
            errors.append(relative_error(model, coef))
            trusted.append(model.verdict_.level != "reject")
        wrong, kept = np.array(errors) > 0.1, np.array(trusted)
        rows.append({
            "rows": n_rows, "labels": n_labels, "noise": noise, "sets": n_sets,
            "mean error": round(float(np.mean(errors)), 5),
            "median": round(float(np.median(errors)), 5), "goal": goal,
            "errors above .1": int(wrong.sum()),
            "of them not rejected": int((wrong & kept).sum()),
            "mean where not rejected": round(float(np.mean(np.array(errors)[kept])), 5),
            "seconds": round(float(np.mean(seconds)), 2),
            "most": round(float(np.max(seconds)), 2),
        })  # fmt: skip
    return rows


def removed(seed, noise, size=15, n=600, d=4, share=0.1):
    """Groups with rows and labels removed at random."""
    rng = np.random.default_rng(seed)
    X, coef = rng.normal(size=(n, d)), rng.normal(size=d)
    y, groups = X @ coef + noise * rng.normal(size=n), np.arange(n) // size
    rows, labels = rng.random((2, n)) >= share
    whole = X, y, groups, groups
    return whole, (X[rows], y[labels], groups[rows], groups[labels]), coef, labels[rows].mean()


def small_groups(n_sets, with_equal=True):
    """40 groups of 15 with 10 % of rows and of labels removed, beside the fit to all of them."""
    rows = []
    for noise in (0.1, 0.2, 0.5):
        errors, equal, inside, shares = [], [], [], []
        for seed in range(n_sets):
            whole, some, coef, share = removed(seed, noise)
            model = ShuffledRegressor(random_state=seed).fit_unpaired(*some, unmatched="model")
            errors.append(np.linalg.norm(model.coef_ - coef))
            low, high = model.conf_int()[1:].T
            inside.append((low <= coef) & (coef <= high))
            shares.append(model.match_share_ - share)
            if with_equal:
                other = ShuffledRegressor(random_state=seed).fit_unpaired(*whole)
                equal.append(np.linalg.norm(other.coef_ - coef))
        line = {
            "noise": noise, "sets": n_sets, "mean error": round(float(np.mean(errors)), 4),
            "95 % coverage": round(float(np.mean(inside)), 3),
            "share, mean difference": round(float(np.mean(shares)), 4),
        }  # fmt: skip
        if with_equal:
            line["of the equal-count fit"] = round(float(np.mean(equal)), 4)
            line["ratio (goal 1.15)"] = round(float(np.mean(errors) / np.mean(equal)), 2)
        rows.append(line)
    return rows


def strangers(n_sets):
    """Mostly right, 10 % of the labels replaced by strangers, noise .3."""
    rows = []
    for name in ("like the labels", "ten times as wide", "shifted"):
        errors, mixture, precision, recall = [], [], [], []
        for seed in range(n_sets):
            rng = np.random.default_rng(seed)
            X, coef = rng.normal(size=(400, 4)), rng.normal(size=4)
            y = 1.0 + X @ coef + 0.3 * rng.normal(size=400)
            strange = rng.random(400) < 0.1
            other = {
                "like the labels": 1.0 + rng.normal(size=(400, 4)) @ coef,
                "ten times as wide": 1.0 + 10.0 * rng.normal(size=400),
                "shifted": 6.0 + rng.normal(size=400),
            }[name]
            y = np.where(strange, other, y)
            model = ShuffledRegressor(random_state=seed).fit(X, y, unmatched="model")
            errors.append(relative_error(model, coef))
            mixture.append(relative_error(MixtureRegressor().fit(X, y), coef))
            flagged = strange[model.unmatched_labels_]
            precision.append(flagged.mean() if len(flagged) else 1.0)
            recall.append(flagged.sum() / strange.sum())
        rows.append({
            "strangers": name, "sets": n_sets, "mean error": round(float(np.mean(errors)), 4),
            "of the mixture": round(float(np.mean(mixture)), 4),
            "ratio (goal 1.1)": round(float(np.mean(errors) / np.mean(mixture)), 3),
            "precision (goal .9)": round(float(np.mean(precision)), 3),
            "recall": round(float(np.mean(recall)), 3),
        })  # fmt: skip
    return rows


def linked(n_sets):
    """The links of the guide, d=4, noise .5, 10 % of the records removed on each side."""
    links = np.genfromtxt(LINKS, delimiter=",", names=True)
    a, b = links["person_a"].astype(int), links["person_b"].astype(int)
    n, errors, equal = max(a.max(), b.max()) + 1, [], []
    for seed in range(n_sets):
        rng = np.random.default_rng(seed)
        persons, coef = rng.normal(size=(n, 4)), rng.normal(size=4)
        outcome = persons @ coef + 0.5 * rng.normal(size=n)
        X, y = persons[a], outcome[b]
        without_row, without_label = rng.random((2, n)) < 0.1
        rows = ~without_row[a]
        some = np.where(without_label[b], np.nan, y)[rows]
        model = ShuffledRegressor(random_state=seed).fit(X[rows], some, **MODEL)
        whole = ShuffledRegressor(random_state=seed).fit(X, y)
        errors.append(np.linalg.norm(model.coef_ - coef))
        equal.append(np.linalg.norm(whole.coef_ - coef))
    return [{
        "links": len(a), "false": round(float(np.mean(a != b)), 3), "sets": n_sets,
        "mean error": round(float(np.mean(errors)), 4),
        "of the equal-count fit": round(float(np.mean(equal)), 4),
        "ratio (goal 1.1)": round(float(np.mean(errors) / np.mean(equal)), 3),
    }]  # fmt: skip


def cost(n=100_000):
    """Groups of 100 with 5 % missing on both sides, beside the equal-count fit."""
    whole, some, coef, share = removed(0, 0.5, size=100, n=n, d=5, share=0.05)
    rows = []
    for name, data, settings in (("equal", whole, {}), ("5 % missing", some, MODEL)):
        started = time.perf_counter()
        model = ShuffledRegressor(random_state=0).fit_unpaired(*data, **settings)
        rows.append({
            "counts": name, "rows": len(data[0]),
            "seconds": round(time.perf_counter() - started, 1),
            "error": round(float(np.linalg.norm(model.coef_ - coef)), 4),
            "share": round(getattr(model, "match_share_", 1.0), 4),
            "iterations": model.n_iter_,
        })  # fmt: skip
    rows[1]["times the equal-count fit (goal 3)"] = round(
        rows[1]["seconds"] / rows[0]["seconds"], 2
    )
    rows[1]["true share"] = round(float(share), 4)
    return rows


MODEL = {"unmatched": "model"}
LINKS = Path(__file__).parents[1] / "docs" / "guides" / "links.csv.gz"
TABLES = {
    "fully lost": fully_lost,
    "groups of 15": small_groups,
    "strangers": strangers,
    "linked file": linked,
    "cost": lambda n_sets: cost(),
}


def main(arguments):
    """Print the tables named, or all."""
    warnings.simplefilter("ignore")
    warm_up()
    n_sets = int(arguments[0]) if arguments else 10
    for name in arguments[1:] or TABLES:
        print(f"\n{name}")
        show(TABLES[name](n_sets))


if __name__ == "__main__":
    main(sys.argv[1:])
