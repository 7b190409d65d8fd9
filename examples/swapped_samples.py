"""A plate of 96 samples on which some labels have moved: find them, and put them back.

Two pairs of labels were swapped, and in one stretch of six wells every label slid by one place.
Run: ``python examples/swapped_samples.py`` (a few seconds). It prints what moved and what was
found, and draws docs/guides/match-probabilities.png.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from unshuffle import StochasticEMRegressor
from unshuffle.metrics import coefficient_error

COEF = np.array([1.0, -2.0, 0.5, 1.5, 0.0])
NOISE = 0.3
SWAPS = [(7, 11), (50, 57)]
BLOCK = range(60, 66)
PICTURE = Path(__file__).parents[1] / "docs" / "guides" / "match-probabilities.png"


def well(i):
    """Name of a well: 0 is A1, 95 is H12."""
    return "ABCDEFGH"[i // 12] + str(i % 12 + 1)


def moved_order():
    """`order[i]` is the well whose label now stands beside well i."""
    order = np.arange(96)
    for i, j in SWAPS:
        order[[i, j]] = order[[j, i]]
    order[list(BLOCK)] = np.roll(list(BLOCK), 1)
    return order


def make_plate(seed, noise=NOISE):
    """Features, labels as written down, labels as they should be."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(96, 5))
    y = X @ COEF + noise * rng.normal(size=96)
    return X, y[moved_order()], y


def fit(X, y, max_shift):
    model = StochasticEMRegressor(mismatch_rate="estimate", max_shift=max_shift, random_state=0)
    return model.fit(X, y)


def report(title, model, y, y_true):
    """Suspects, and what repair makes of them."""
    suspects = model.suspects(n_partners=1)
    moved = np.flatnonzero(moved_order() != np.arange(96))
    found = np.intersect1d(suspects.row, moved)
    false = np.setdiff1d(suspects.row, moved)
    missed = np.setdiff1d(moved, suspects.row)
    repaired = model.repair(y)
    print(f"\n{title}")
    print(f"mismatch rate {model.mismatch_rate_:.3f}, true {len(moved) / 96:.3f}")
    print(f"coefficient error {coefficient_error(model.coef_, COEF):.3f}")
    print(
        f"found {len(found)} of {len(moved)}, missed {names(missed)}, false alarms {names(false)}"
    )
    print(f"wrong labels: {np.sum(y != y_true)} before repair, {np.sum(repaired != y_true)} after")
    table = suspects.assign(
        row=[well(i) for i in suspects.row],
        partner_1=[well(i) if i >= 0 else "-" for i in suspects.partner_1],
    )
    print(table.rename(columns={"row": "well"}).round(2).to_string(index=False))


def names(rows):
    return " ".join(well(i) for i in rows) or "none"


def draw(models, path):
    """Match probability of every well, one plate per model, moved labels ringed."""
    moved = np.flatnonzero(moved_order() != np.arange(96))
    figure, axes = plt.subplots(1, len(models), figsize=(9, 3.3), layout="constrained")
    for axis, (title, model) in zip(axes, models.items(), strict=True):
        image = axis.pcolormesh(
            model.match_proba_.reshape(8, 12),
            cmap="cividis",
            vmin=0.0,
            vmax=1.0,
            edgecolors="white",
            linewidth=1.5,
        )
        # A white ring in a black one shows on dark and on light wells.
        for colour, width in (("black", 4.0), ("white", 2.0)):
            axis.scatter(moved % 12 + 0.5, moved // 12 + 0.5, s=90, fc="none", ec=colour, lw=width)
        axis.set_xticks(np.arange(12) + 0.5, range(1, 13))
        axis.set_yticks(np.arange(8) + 0.5, "ABCDEFGH")
        axis.tick_params(length=0)
        axis.set_title(title)
        axis.set_aspect("equal")
        axis.invert_yaxis()
        axis.spines[:].set_visible(False)
    figure.colorbar(image, ax=axes, label="match probability", shrink=0.85, pad=0.02)
    figure.suptitle("Ring: the label really moved", fontsize=10)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def many_plates(n_plates=10):
    """How often it goes well: means over plates, for three noises and three reaches."""
    moved = np.flatnonzero(moved_order() != np.arange(96))
    print(f"\nmean of {n_plates} plates, {len(moved)} labels moved on each")
    print("noise  max_shift  found  false alarms  wrong after repair")
    for noise in (0.1, 0.3, 1.0):
        for max_shift in (None, 8, 2):
            counts = []
            for seed in range(n_plates):
                X, y, y_true = make_plate(seed, noise)
                model = fit(X, y, max_shift)
                suspected = model.match_proba_ < 0.5
                wrong = np.sum(model.repair(y) != y_true)
                n_found = suspected[moved].sum()
                counts.append((n_found, suspected.sum() - n_found, wrong))
            found, alarms, wrong = np.mean(counts, axis=0)
            print(f"{noise:5.1f} {max_shift!s:>10} {found:6.1f} {alarms:13.1f} {wrong:19.1f}")


def main():
    """One plate in detail, then ten to see how often it goes well."""
    X, y, y_true = make_plate(seed=0)
    print("swapped:", ", ".join(f"{well(i)} with {well(j)}" for i, j in SWAPS))
    print(f"slid by one place: {well(BLOCK[0])} to {well(BLOCK[-1])}")
    models = {"any well": fit(X, y, None), "max_shift=8": fit(X, y, 8)}
    for title, model in models.items():
        report(title, model, y, y_true)
    draw(models, PICTURE)
    many_plates()


if __name__ == "__main__":
    main()
