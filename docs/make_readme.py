"""Draw docs/pictures/readme.png: a table shuffled inside groups, and what is found in it.

Usage: python -m docs.make_readme, from the root of the project (some seconds). The data are
those of the README's ten lines.
"""

import numpy as np
from docs.figures import BLUE, VERMILION, open_sides, save
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression

from unshuffle import ShuffledRegressor
from unshuffle.datasets import make_shuffled_regression

SHOWN = 2  # the feature of the left panel


def draw_table(axis, data):
    """Labels where they stand, and the line through them."""
    x, y = data.X[:, SHOWN], data.y
    axis.scatter(x, y, s=13, color=VERMILION, alpha=0.35, edgecolor="none")
    ends = np.array([x.min(), x.max()])
    flat = LinearRegression().fit(data.X, y).coef_[SHOWN]
    axis.plot(ends, y.mean() + data.coef[SHOWN] * (ends - x.mean()), color="black", lw=2)
    axis.plot(ends, y.mean() + flat * (ends - x.mean()), color=VERMILION, lw=2.4, ls="--")
    axis.annotate("the truth", (2.7, 5.2), ha="right", va="bottom", weight="bold")
    axis.annotate(
        "least squares", (2.7, -0.2), color="#a84a00", ha="right", va="top", weight="bold"
    )
    axis.set_title("The table: labels shuffled inside groups", loc="left", fontsize=11)
    axis.set_xlabel(f"feature x{SHOWN}")
    axis.set_ylabel("label beside it")


def draw_coefficients(axis, data, model):
    """The fit with its intervals, least squares, and the truth."""
    places = np.arange(len(data.coef))
    naive = LinearRegression().fit(data.X, data.y).coef_
    low, high = model.conf_int()[-len(places) :].T
    axis.axvline(0, color="0.7", lw=0.8)
    axis.scatter(data.coef, places, marker="|", s=900, color="black", lw=2, label="truth")
    axis.scatter(naive, places, marker="v", s=46, color=VERMILION, label="least squares")
    axis.errorbar(
        model.coef_, places, xerr=[model.coef_ - low, high - model.coef_], fmt="o",
        color=BLUE, ms=6.5, capsize=3.5, label="unshuffle, 95 % interval",
    )  # fmt: skip
    axis.set_yticks(places, [f"x{j}" for j in places])
    axis.set_ylim(len(places) - 0.4, -0.6)
    axis.set_title(f"The fit: verdict “{model.verdict_.level}”", loc="left", fontsize=11)
    axis.set_xlabel("coefficient")
    axis.legend(frameon=False, loc="upper right", markerscale=0.6)


def main():
    """Fit and draw."""
    data = make_shuffled_regression(
        500, 5, noise=0.5, shuffle="groups", n_groups=25, random_state=0
    )
    model = ShuffledRegressor(random_state=0).fit(data.X, data.y, groups=data.groups)
    figure = Figure(figsize=(9.6, 3.9), layout="constrained")
    left, right = figure.subplots(1, 2)
    draw_table(left, data)
    draw_coefficients(right, data, model)
    for axis in (left, right):
        open_sides(axis)
    save(figure, "readme")


if __name__ == "__main__":
    main()
