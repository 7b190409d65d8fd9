"""Rows of `benchmarks.real_fits` summarised: verdicts, and errors beside least squares as given."""

import numpy as np

from .real_fits import GIVEN, KNOWN, OURS

HIGH_RATE = 0.05


def cases(rows):
    """Titles of the cases, in the order of measuring."""
    return list(dict.fromkeys(row["case"] for row in rows))


def percent(part, whole):
    """A share in words; empty where there is nothing to take a share of."""
    return f"{100 * part / whole:.1f} %" if whole else None


def ours(rows, case):
    """The fits of the default estimator in a case that did not fail."""
    return [
        row for row in rows
        if row["case"] == case and row["method"] == OURS and "failed" not in row
    ]  # fmt: skip


def verdict_row(rows, case):
    """How many fits are trusted, and how many of these are right."""
    fits = ours(rows, case)
    trusted = [row for row in fits if row["level"] == "trust"]
    # Inside groups the rate is known to be high.
    ungrouped = [row for row in fits if row["part"] == "mostly-right"]
    high = [row for row in trusted if (row.get("mismatch_rate_") or 0.0) > HIGH_RATE]
    covered, intervals = (
        sum(row.get(key, 0) for row in trusted) for key in ("covered", "intervals")
    )
    return {
        "labels": case,
        "tables": len(fits),
        "trusted": percent(len(trusted), len(fits)),
        "trusted, sound": percent(sum(row["sound"] for row in trusted), len(trusted)),
        "trusted, coverage": percent(covered, intervals),
        f"trusted, rate above {100 * HIGH_RATE:.0f} %": percent(len(high), len(ungrouped)),
    }


def method_row(rows, given, method):
    """Errors of one method over the tables of a case; `given` is the mean error of OLS as given."""
    done = [row for row in rows if row["method"] == method and "failed" not in row]
    errors = [row["error"] for row in done]
    mean, median = (float(f(errors)) if errors else float("nan") for f in (np.mean, np.median))
    return {
        "method": method,
        "mean error": round(mean, 3),
        "median error": round(median, 3),
        "mean / OLS as given": round(mean / given, 2) if given > 0 else None,
        "sound": percent(sum(row["sound"] for row in done), len(done)),
        "mean s": round(float(np.mean([row["seconds"] for row in done])), 3) if done else None,
        "failed": sum("failed" in row for row in rows if row["method"] == method),
    }


def method_rows(rows, case):
    """One line per method of a case."""
    some = [row for row in rows if row["case"] == case]
    given = float(np.mean([row["error"] for row in some if row["method"] == GIVEN]))
    names = [name for name in dict.fromkeys(row["method"] for row in some) if name != KNOWN]
    return [method_row(some, given, name) for name in names]


def failures(rows):
    """One line per fit, interval or list of suspects that raised."""
    kinds = ("failed", "coverage_failed", "suspects_failed")
    return [
        {"table": row["table"], "labels": row["case"], "method": row["method"], kind: row[kind]}
        for row in rows
        for kind in kinds
        if kind in row
    ]
