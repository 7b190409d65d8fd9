"""The pictures of both pages."""

import numpy as np
from docs.figures import BLUE, GREEN, ORANGE, open_sides, save
from matplotlib.figure import Figure

from .landscape import N_CONES, N_STARTS
from .recovery import FEATURES, GROUPS, NOISES
from .sets import N_ROWS, percent, share_recovered


def draw_landscape(found):
    """Residual share of the best matching against the direction, and where hard EM ends."""
    figure = Figure(figsize=(8.0, 4.2), layout="constrained")
    axis = figure.subplots()
    axis.plot(
        found["degrees"], 100 * found["bound_of_cones"], color="0.55", lw=0.9,
        label=f"lower bound from {N_CONES} cones",
    )  # fmt: skip
    axis.plot(
        found["degrees"], 100 * found["share"], color=BLUE, lw=1.6,
        label="residual share of the best matching",
    )  # fmt: skip
    axis.plot(
        found["ends"], 100 * found["left"], "o", color=ORANGE, mec="black", mew=0.6, ms=5,
        ls="none", label=f"where hard EM ends ({N_STARTS:,} starts)",
    )  # fmt: skip
    axis.axhline(100 * found["bound"], color="black", lw=0.9, ls=":", label="lower bound, proved")
    axis.axvline(found["truth"], color="black", lw=0.9, label="true direction")
    axis.plot(
        found["best"], 100 * found["best_left"], "*", color=GREEN, mec="black", mew=0.8, ms=16,
        ls="none", label="certified optimum", zorder=5,
    )  # fmt: skip
    axis.annotate(
        "EM from least squares\non the labels as given",
        (found["ols_end"], 100 * found["ols_left"]), xytext=(12, 0.95), fontsize=9,
        arrowprops={"arrowstyle": "->", "lw": 0.8, "shrinkB": 4},
    )  # fmt: skip
    axis.set(
        xlabel="angle of θ, degrees", ylabel="residual share, % of ‖y‖²",
        xlim=(-180, 180), ylim=(-0.15, 5.8), xticks=range(-180, 181, 45),
    )  # fmt: skip
    open_sides(axis)
    figure.legend(loc="outside lower center", ncols=3, frameon=False, fontsize=9)
    save(figure, "landscape")


def draw_recovery(by_set, by_groups):
    """Shares recovered, by features and noise, and by groups."""
    figure = Figure(figsize=(8.0, 4.0), layout="constrained")
    figure.get_layout_engine().set(wspace=0.08)
    left, right = figure.subplots(1, 2, width_ratios=(6, 1.9))
    shares = [[share_recovered(by_set[d, noise]) for d in FEATURES] for noise in NOISES]
    heat_map(left, np.array(shares))
    left.set_title(f"sets recovered, one group of {N_ROWS} rows", fontsize=10)
    left.set(xlabel="number of features", ylabel="noise, per length of the coefficients")
    left.set_xticks(range(len(FEATURES)), FEATURES)
    left.set_yticks(range(len(NOISES)), NOISES)
    heat_map(right, np.array([[share_recovered(by_groups[k])] for k in GROUPS]))
    right.set_title("480 rows, 5 features,\nnoise 0.5", fontsize=10)
    right.set_ylabel("number of random groups")
    right.set_xticks([])
    right.set_yticks(range(len(GROUPS)), GROUPS)
    save(figure, "recovery")


def heat_map(axis, shares):
    """Shares as colours and as numbers, in percent."""
    axis.imshow(shares, cmap="cividis", vmin=0.0, vmax=1.0, aspect="auto")
    for (i, j), share in np.ndenumerate(shares):
        ink = "black" if share > 0.5 else "white"
        axis.text(j, i, percent(share), ha="center", va="center", color=ink)
    axis.set_xticks(np.arange(1, shares.shape[1]) - 0.5, minor=True)
    axis.set_yticks(np.arange(1, shares.shape[0]) - 0.5, minor=True)
    axis.grid(which="minor", color="white", lw=1.5)
    axis.tick_params(which="both", length=0)
    axis.spines[:].set_visible(False)
