"""Draw the picture of docs/sorting-both-columns.md and print every number it uses.

Usage: python docs/make_sorting.py (about a minute on one thread)
"""

import warnings
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure
from scipy.stats import linregress

from unshuffle import ShuffledRegressor

PICTURES = Path(__file__).with_name("pictures")
BLUE, ORANGE = "#0072B2", "#E69F00"  # Okabe and Ito
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
        yield (
            name, f"{np.mean(slopes):.2f}", f"{np.median(r):.3f}", f"{r.min():.3f}",
            f"{np.mean(p < 0.05):.0%}", f"{p.max():.0e}",
        )  # fmt: skip


def verdict_rows():
    """What the front door says of the same columns, shuffled instead of sorted."""
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
            counts = [levels.count(level) for level in ("trust", "caution", "reject")]
            yield feature, name, *counts, f"{np.median(p_values):.2f}"


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
        axis.spines[["top", "right"]].set_visible(False)
    figure.axes[0].set_ylabel("y")
    figure.savefig(PICTURES / "sorting.png", dpi=150)


def print_table(title, head, rows):
    """As markdown."""
    print(f"\n{title}\n\n| {' | '.join(head)} |\n|{' --- |' * len(head)}")
    for row in rows:
        print(f"| {' | '.join(map(str, row))} |", flush=True)


def main():
    """Everything the page needs."""
    warnings.simplefilter("ignore")
    PICTURES.mkdir(exist_ok=True)
    draw_picture()
    head = ("columns", "mean slope", "median r", "smallest r", "p < .05", "largest p")
    print_table(f"Sorted, {N_SORTED:,} sets of {N_ROWS} rows", head, sorted_rows())
    head = ("feature", "columns", "trust", "caution", "reject", "median p of chance")
    print_table(f"ShuffledRegressor, {N_FITTED} sets", head, verdict_rows())


if __name__ == "__main__":
    main()
