"""Draw the picture of docs/sorting-both-columns.md and print every number it uses.

Usage: python -m docs.make_sorting [--json], from the root of the project (about a minute on one
thread). ``--json`` keeps the tables in docs/results.
"""

import warnings

import numpy as np
from docs.figures import BLUE, ORANGE, open_sides, save
from docs.tables import print_tables, wants_json, write_result
from matplotlib.figure import Figure
from scipy.stats import linregress

from unshuffle import ShuffledRegressor

N_ROWS = 100
N_SORTED, N_FITTED = 10_000, 100
SETTINGS = {
    "unrelated": 0.0,
    "slope 1, noise 1": 1.0,
    "slope -1, noise 1": -1.0,
}


def draw_pairs(seed, slope, exponential=False):
    """A feature and its labels, in the right order."""
    rng = np.random.RandomState(seed)
    x = rng.exponential(size=N_ROWS) if exponential else rng.normal(size=N_ROWS)
    return x, slope * x + rng.normal(size=N_ROWS)


def sorted_rows():
    """What least squares says of sorted columns."""
    for name, slope in SETTINGS.items():
        fits = [linregress(*map(np.sort, draw_pairs(seed, slope))) for seed in range(N_SORTED)]
        slopes, r = np.array([f.slope for f in fits]), np.array([f.rvalue for f in fits])
        p = np.array([f.pvalue for f in fits])
        yield {
            "columns": name, "mean slope": round(float(np.mean(slopes)), 2),
            "median r": round(float(np.median(r)), 3), "smallest r": round(float(r.min()), 3),
            "p < .05": f"{np.mean(p < 0.05):.0%}", "largest p": f"{p.max():.0e}",
        }  # fmt: skip


def verdict_rows():
    """What the default estimator says of the same columns, shuffled instead of sorted."""
    for exponential in (False, True):
        for name, slope in SETTINGS.items():
            levels, p_values = [], []
            for seed in range(N_FITTED):
                x, y = draw_pairs(seed, slope, exponential)
                y = np.random.RandomState(seed + 1).permutation(y)
                model = ShuffledRegressor(random_state=seed, pairing="lost").fit(x[:, None], y)
                levels.append(model.verdict_.level)
                p_values.append(model.null_pvalue_)
            feature = "exponential" if exponential else "normal"
            counts = {level: levels.count(level) for level in ("trust", "caution", "reject")}
            p_value = round(float(np.median(p_values)), 2)
            yield {"feature": feature, "columns": name, **counts, "median p-value": p_value}


def draw_picture():
    """Unrelated columns as they are, and the same columns sorted."""
    x, y = draw_pairs(0, 0.0)
    figure = Figure(figsize=(8, 3.8), layout="constrained")
    for axis, pair, title, colour in zip(
        figure.subplots(1, 2, sharey=True),
        ((x, y), (np.sort(x), np.sort(y))),
        ("Two unrelated columns", "The same columns, each sorted"),
        (BLUE, ORANGE),
        strict=True,
    ):
        fit = linregress(*pair)
        axis.plot(*pair, "o", color=colour, markersize=4, markeredgecolor="black", mew=0.4)
        ends = np.array([x.min(), x.max()])
        axis.plot(ends, fit.intercept + fit.slope * ends, color="black", lw=1)
        text = f"slope {fit.slope:.2f}, r = {fit.rvalue:.2f}, p = {fit.pvalue:.2g}"
        axis.set_title(f"{title}\n{text}", fontsize="medium")
        axis.set_xlabel("x")
        axis.grid(alpha=0.25)
        open_sides(axis)
    figure.axes[0].set_ylabel("y")
    save(figure, "sorting")


def main():
    """Everything the page needs."""
    keep = wants_json()
    warnings.simplefilter("ignore")
    draw_picture()
    tables = {"sorted": list(sorted_rows()), "verdicts": list(verdict_rows())}
    print_tables(tables)
    if keep:
        settings = {"rows": N_ROWS, "sorted_sets": N_SORTED, "fitted_sets": N_FITTED}
        write_result("sorting", "python -m docs.make_sorting --json", tables, **settings)


if __name__ == "__main__":
    main()
