"""What is recovered, by features, noise, groups and rows, and why the rest is not."""

from dataclasses import replace

import numpy as np
from docs.figures import save
from matplotlib.figure import Figure
from sklearn.linear_model import LinearRegression

from unshuffle.metrics import coefficient_error
from unshuffle.search.population import automatic_budget

from .sets import (
    FEW_CANDIDATES,
    N_ROWS,
    N_SETS,
    RECOVERED,
    make_landscape,
    mean_of,
    percent,
    share_recovered,
    try_set,
    unit_set,
)

FEATURES = (1, 2, 3, 5, 8, 12)
NOISES = (0.02, 0.05, 0.1, 0.2, 0.5)
MANY_FEATURES = 5  # above, the map is made with FEW_CANDIDATES
GROUPS = (1, 4, 12, 40, 120)
ROWS = (50, 200, 800, 3200)
KNOWN_ROWS = (20, 40)


def budget(d):
    """Candidates of a fit on the map."""
    return FEW_CANDIDATES if d > MANY_FEATURES else "auto"


def budget_rows():
    """What "auto" would try where the map is made with fewer candidates."""
    rows = []
    for d in FEATURES:
        data = unit_set(N_ROWS, d, NOISES[0], 0)
        automatic = automatic_budget(make_landscape(data.X, data.y))
        used = automatic if budget(d) == "auto" else budget(d)
        rows.append({"features": d, "auto": automatic, "on the map": used})
    return rows


def study_map():
    """Fits by number of features and noise."""
    return {
        (d, noise): [try_on_map(d, noise, seed) for seed in range(N_SETS)]
        for d in FEATURES
        for noise in NOISES
    }


def try_on_map(d, noise, seed):
    """One set of the map, and whether its search missed the truth."""
    data = unit_set(N_ROWS, d, noise, seed)
    found = try_set(data, seed, n_candidates=budget(d))
    return found | {"missed": lies_below(data, found["best_objective"])}


def lies_below(data, objective):
    """Whether hard EM from the true coefficients ends clearly below what the search found."""
    landscape = make_landscape(data.X, data.y)
    truth = landscape.theta_of(data.X @ data.coef)[None]
    explained = landscape.descend(truth, 500)
    return bool(landscape.total - explained[0] < 0.98 * objective)


def study_groups():
    """Fits by number of random groups."""
    settings = {"shuffle": "groups", "group_by": "random"}
    return {
        k: [
            try_set(unit_set(480, 5, 0.5, seed, n_groups=k, **settings), seed)
            for seed in range(N_SETS)
        ]
        for k in GROUPS
    }


def study_rows():
    """Fits by number of rows."""
    return {n: [try_set(unit_set(n, 3, 0.2, seed), seed) for seed in range(N_SETS)] for n in ROWS}


def study_full_budget():
    """Eight features and little noise with the automatic budget, which the map does not use."""
    return {
        noise: [try_set(unit_set(N_ROWS, 8, noise, seed), seed) for seed in range(N_SETS)]
        for noise in NOISES[:2]
    }


def study_known():
    """Twelve features, noise 0.2, and the right labels of a few rows; OLS on those rows beside."""
    found = {}
    for n_known in KNOWN_ROWS:
        fits = []
        for seed in range(N_SETS):
            data = unit_set(N_ROWS, 12, 0.2, seed)
            known = np.arange(N_ROWS) < n_known
            y = data.y_ordered.copy()
            y[~known] = np.random.RandomState(seed).permutation(y[~known])
            alone = LinearRegression().fit(data.X[known], y[known])
            row = try_set(replace(data, y=y), seed, known=known)
            fits.append(row | {"alone": coefficient_error(alone.coef_, data.coef)})
        found[n_known] = fits
    return found


def draw(by_set, by_groups):
    """Both maps."""
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


def map_rows(by_set):
    """Share of sets recovered, by noise and features."""
    return [
        {"noise": noise} | {str(d): percent(share_recovered(by_set[d, noise])) for d in FEATURES}
        for noise in NOISES
    ]


def reason(f):
    """Why a set was not recovered."""
    if f["missed"]:
        return "search"
    if f["best_error"] < RECOVERED:
        return "doubt"
    return "data"


def reason_rows(by_set):
    """Sets not recovered in each cell: the search missed, a right match was doubted, the data."""
    rows = []
    for noise in NOISES:
        cells = {d: reasons(by_set[d, noise]) for d in FEATURES}
        rows.append({"noise": noise} | {str(d): text or "-" for d, text in cells.items()})
    everything = [f for fits in by_set.values() for f in fits]
    return [*rows, {"noise": "all", str(FEATURES[0]): reasons(everything)}]


def reasons(fits):
    """How often each reason holds."""
    bad = [reason(f) for f in fits if f["error"] >= RECOVERED]
    return ", ".join(f"{name} {bad.count(name)}" for name in sorted(set(bad)))


def group_rows(by_groups):
    """The table of the page."""
    return [
        {
            "groups": k, "recovered": percent(share_recovered(fits)),
            "error of `coef_`": mean_of(fits, "error"),
            "error of `solutions_[0]`": mean_of(fits, "best_error"),
            "noise found": mean_of(fits, "noise"),
            "noise of the match": mean_of(fits, "best_noise"),
            "cautious of 5": sum(f["cautious"] for f in fits),
        }
        for k, fits in by_groups.items()
    ]  # fmt: skip


def size_rows(found, name="rows"):
    """By number of rows, or by another name."""
    return [
        {
            name: key, "recovered": percent(share_recovered(fits)),
            "median error of `solutions_[0]`":
                round(float(np.median([f["best_error"] for f in fits])), 2),
            "cautious of 5": sum(f["cautious"] for f in fits),
            "match used, error >= .5":
                sum(not f["cautious"] and f["error"] >= 0.5 for f in fits),
        }
        for key, fits in found.items()
    ]  # fmt: skip


def known_rows(found):
    """By number of known rows."""
    return [
        {
            "known rows": k, "error of `coef_`": mean_of(fits, "error"),
            "error of `solutions_[0]`": mean_of(fits, "best_error"),
            "error of OLS on them alone": mean_of(fits, "alone"),
            "cautious of 5": sum(f["cautious"] for f in fits),
        }
        for k, fits in found.items()
    ]  # fmt: skip


def tables():
    """Fit everything, draw the maps."""
    by_set, by_groups = study_map(), study_groups()
    draw(by_set, by_groups)
    budgets = {f"{noise}, {FEW_CANDIDATES:,}": by_set[8, noise] for noise in NOISES[:2]}
    budgets |= {f"{noise}, auto": fits for noise, fits in study_full_budget().items()}
    return by_set, {
        "map": map_rows(by_set),
        "budgets": budget_rows(),
        "reasons": reason_rows(by_set),
        "groups": group_rows(by_groups),
        "rows": size_rows(study_rows()),
        "full-budget": size_rows(budgets, "noise and budget"),
        "known": known_rows(study_known()),
    }
