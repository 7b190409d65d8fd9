"""Tables of what is recovered, and why the rest is not."""

import numpy as np

from unshuffle.search.population import automatic_budget

from .recovery import FEATURES, NOISES, budget
from .sets import (
    N_ROWS,
    RECOVERED,
    make_landscape,
    mean_of,
    percent,
    share_recovered,
    unit_set,
)


def budget_rows():
    """What "auto" would try where the map is made with fewer candidates."""
    rows = []
    for d in FEATURES:
        data = unit_set(N_ROWS, d, NOISES[0], 0)
        automatic = automatic_budget(make_landscape(data.X, data.y))
        used = automatic if budget(d) == "auto" else budget(d)
        rows.append({"features": d, "auto": automatic, "on the map": used})
    return rows


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
