"""Draw the real tables of docs/can-i-trust-this-fit.md and print the tables it uses.

Usage: python -m docs.make_real [ROWS] [--json], from the root of the project. ROWS is the file of
rows that `python -m benchmarks.real` wrote; without it, the one that it writes by default.
``--json`` keeps the tables in docs/results. `python -m benchmarks.real --json` measures and does
the same in one go.
"""

import json
import sys
from pathlib import Path
from textwrap import fill

import numpy as np
from benchmarks.real import ROWS
from benchmarks.real_cases import GROUP_SIZE, SHARES
from benchmarks.real_fits import GIVEN, MEANS, OURS
from benchmarks.real_summary import cases, failures, method_rows, ours, verdict_row
from docs.figures import BLUE, GREEN, ORANGE, VERMILION, open_sides, save
from docs.tables import print_tables, wants_json, write_result
from matplotlib.figure import Figure

COMMAND = "python -m benchmarks.real --json"
# Errors in the picture; what lies outside is drawn at the edge. Those of OLS as given lie close
# together: they depend on the share of permuted labels and on little else.
LIMITS = (1e-3, 10.0)
WIDTHS = {GIVEN: (0.02, 2.0), MEANS: LIMITS}
MARKS = {
    "not trusted": {"color": ORANGE, "marker": "x", "s": 16, "linewidths": 0.9, "zorder": 2},
    "trusted, sound": {"color": BLUE, "marker": "o", "s": 12, "alpha": 0.7, "linewidths": 0},
    "trusted, not sound": {"color": VERMILION, "marker": "^", "s": 22, "zorder": 4},
}


def error_rows(rows):
    """Mean and median error of every method, one line each per case."""
    lines = []
    for case in cases(rows):
        found = method_rows(rows, case)
        for size in ("mean", "median"):
            errors = {row["method"]: row[f"{size} error"] for row in found}
            lines.append({"labels": case, "error": size, **errors})
    return lines


def order_columns(lines):
    """Our method last, in every line the same columns."""
    heads = list(dict.fromkeys(key for line in lines for key in line if key != OURS))
    return [{head: line.get(head) for head in (*heads, OURS)} for line in lines]


def tables_of(rows):
    """What docs/results keeps."""
    facts = {"tables": len({row["table"] for row in rows}), "failed": len(failures(rows))}
    return {
        "verdicts": [verdict_row(rows, case) for case in cases(rows)],
        "errors": order_columns(error_rows(rows)),
        "facts": [{"what": what, "value": value} for what, value in facts.items()],
    }


def mark_of(row):
    """Which mark a fit gets."""
    if row["level"] != "trust":
        return "not trusted"
    return "trusted, sound" if row["sound"] else "trusted, not sound"


def rival(rows, case):
    """What users have for such labels; None where that is the reference itself."""
    some = [row for row in rows if row["case"] == case]
    if some[0]["part"] == "groups":
        return MEANS
    return GIVEN if any(row["error"] for row in some if row["method"] == GIVEN) else None


def draw_errors(axis, rows, case):
    """Every table as one mark: error of the fit against that of what users have, or against R²."""
    fits, other = ours(rows, case), rival(rows, case)
    axis.set(yscale="log", ylim=LIMITS, title=case)
    if other is None:
        across = {row["table"]: row["r2"] for row in fits}
        axis.set_xlabel("R² of the table")
    else:
        some = [row for row in rows if (row["case"], row["method"]) == (case, other)]
        across = {row["table"]: np.clip(row["error"], *WIDTHS[other]) for row in some}
        axis.set(xscale="log", xlim=WIDTHS[other], xlabel=f"error of {other}")
        axis.plot(WIDTHS[other], WIDTHS[other], color="black", linewidth=0.8, zorder=1)
    for label, style in MARKS.items():
        some = [row for row in fits if mark_of(row) == label]
        heights = np.clip([row["error"] for row in some], *LIMITS)
        axis.scatter([across[row["table"]] for row in some], heights, label=label, clip_on=False,
                     **style)  # fmt: skip
    axis.grid(alpha=0.25)


def draw_shares(axis, rows):
    """Of each case: how many fits are trusted, and how many of these are right."""
    names = {"trusted": "black", "trusted, sound": BLUE, "trusted, coverage": GREEN}
    found = [verdict_row(rows, case) for case in cases(rows)]
    height = 0.8 / len(names)
    for k, (name, colour) in enumerate(names.items()):
        shares = [float((row[name] or "0 %").removesuffix(" %")) for row in found]
        axis.barh(np.arange(len(found)) + height * (k - 1), shares, 0.9 * height, color=colour,
                  label=name)  # fmt: skip
    axis.axvline(95, color="black", linewidth=0.8, linestyle="--")
    axis.set_yticks(range(len(found)), [fill(row["labels"], 13) for row in found])
    axis.invert_yaxis()
    axis.set(xlim=(0, 100), xlabel="%", title="verdicts; dashed: 95 %")
    axis.legend(loc="upper center", bbox_to_anchor=(0.4, -0.16), ncols=3, frameon=False,
                fontsize="x-small", columnspacing=1, handlelength=1)  # fmt: skip


def draw(rows):
    """One panel per case, and one of the verdicts."""
    figure = Figure(figsize=(10, 6.6), layout="constrained")
    axes = figure.subplots(2, 3)
    for axis, case in zip(axes.flat, cases(rows), strict=False):
        draw_errors(axis, rows, case)
    for axis in axes[:, 0]:
        axis.set_ylabel("error of ShuffledRegressor")
    draw_shares(axes[-1, -1], rows)
    for axis in axes.flat:
        axis.title.set_fontsize("medium")
        open_sides(axis)
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside upper center", ncols=3,
                  frameon=False)  # fmt: skip
    save(figure, "real-tables")


def publish(rows, label="last"):
    """Keep tables and picture of a whole run; of another label than the usual one, the tables."""
    settings = {"shares": list(SHARES), "group_size": GROUP_SIZE}
    if label == "last":
        write_result("real", COMMAND, tables_of(rows), **settings)
        draw(rows)
    else:
        write_result(f"real-{label}", f"{COMMAND} --label {label}", tables_of(rows), **settings)


def main():
    """Read, draw, print; keep if asked to."""
    keep = wants_json()
    rows = json.loads(Path(sys.argv[1] if sys.argv[1:] else ROWS).read_text())
    print_tables(tables_of(rows))
    if keep:
        publish(rows)
    else:
        draw(rows)


if __name__ == "__main__":
    main()
