"""Draw the operating curves of docs/can-i-trust-this-fit.md and print the tables it uses.

Usage: python -m docs.make_trust (from the root of the project). What `python -m
benchmarks.verdict_thresholds` and `python -m benchmarks.verdict_check` measured is read from their
files; what is missing is measured, which takes about twenty minutes. ``--json`` keeps the tables of
the families that set no threshold in docs/results.
"""

import warnings

import numpy as np
from benchmarks import verdict_check, verdict_thresholds
from benchmarks.run import show
from benchmarks.verdict_sets import CHECKING, OTHER_NOISE, SETTING, collect
from docs.figures import BLUE, VERMILION, open_sides, save
from docs.tables import wants_json, write_result
from matplotlib.figure import Figure

N_SETS = 300
N_OTHER = 400
STYLES = {
    "sets the thresholds were set on": {"color": BLUE, "linestyle": "--"},
    "sets they were checked on": {"color": VERMILION, "linestyle": "-"},
}
DIALS = {
    "match against unrelated labels": np.geomspace(1e-5, 1.0, 60),
    "precision": np.geomspace(1.0, 40.0, 60),
    "sensitivity to the noise": np.geomspace(0.005, 2.0, 60),
}


def draw(families):
    """Sound fits trusted against unsound fits trusted, as one threshold moves."""
    figure = Figure(figsize=(10, 3.8), layout="constrained")
    for axis, (check, thresholds) in zip(
        figure.subplots(1, len(DIALS), sharex=True, sharey=True), DIALS.items(), strict=True
    ):
        chosen = verdict_thresholds.DIALS[check][0]
        for name, rows in families.items():
            asked = [row for row in rows if check in row["reasons"]]
            points = shares(asked, check, thresholds)
            axis.plot(*points, label=name, **STYLES[name])
            here = shares(asked, check, [chosen])
            axis.plot(*here, "o", color=STYLES[name]["color"], markeredgecolor="black", zorder=3)
        axis.set_title(f"{check}\n(chosen: below {chosen:g})", fontsize="medium")
        axis.set_xlabel("unsound fits trusted, %")
        axis.grid(alpha=0.25)
        open_sides(axis)
    figure.axes[0].set_ylabel("sound fits trusted, %")
    figure.axes[0].legend(loc="lower right", frameon=False, fontsize="small")
    save(figure, "operating-curves")


def shares(rows, check, thresholds):
    """Percentages of unsound and of sound fits trusted, one pair per threshold."""
    points = verdict_thresholds.operating_points(rows, check, thresholds)
    return np.array(
        [
            (100 * bad / max(n_bad, 1), 100 * good / max(n_good, 1))
            for _, good, n_good, bad, n_bad in points
        ]
    ).T


def main():
    """All families, measured once."""
    keep = wants_json()
    warnings.simplefilter("ignore")
    setting, checking = (collect(family, N_SETS) for family in (SETTING, CHECKING))
    draw(dict(zip(STYLES, (setting, checking), strict=True)))
    print("Setting the thresholds")
    show(verdict_thresholds.table(setting))
    print("\nChecking them")
    found = verdict_check.table(checking)
    show(found)
    print("\nOther noise")
    other = verdict_check.table(collect(OTHER_NOISE, N_OTHER), kinds=OTHER_NOISE.shuffles)
    show(other)
    if keep:
        tables = {"checking": found, "other-noise": other}
        sizes = {"sets": N_SETS, "sets with other noise": N_OTHER}
        write_result("verdict", "python -m docs.make_trust --json", tables, **sizes)


if __name__ == "__main__":
    main()
