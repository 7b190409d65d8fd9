"""`make bench`: print every table and write them to benchmarks/results/bench.json.

With ``--json`` the table of errors is kept in docs/results, from where README takes it.
"""

import json
import platform
from pathlib import Path

from docs.tables import wants_json, write_result

from . import behaviour, first_call, memory, proposals, whole_fit

ERRORS = "Errors (mean of ten sets)"
SECTIONS = {
    "Proposals (ns each, best of five)": proposals.run,
    "A whole fit beside plain NumPy": whole_fit.run,
    "Two threads": whole_fit.threads,
    "First call": first_call.run,
    "Peak memory": memory.run,
    ERRORS: behaviour.run,
}


def show(rows):
    """Print rows as a table; columns are the union of their keys."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    cells = [heads, *([str(row.get(h, "")) for h in heads] for row in rows)]
    widths = [max(len(line[k]) for line in cells) for k in range(len(heads))]
    for line in cells:
        print("  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)))


def main():
    """Run every section, keeping what is finished."""
    keep = wants_json()
    target = Path(__file__).with_name("results") / "bench.json"
    target.parent.mkdir(exist_ok=True)
    results = {"python": platform.python_version(), "machine": platform.machine()}
    for title, section in SECTIONS.items():
        print(f"\n{title}")
        results[title] = section()
        show(results[title])
        target.write_text(json.dumps(results, indent=1))
    if keep:
        command = "python -m benchmarks.run --json"
        write_result("bench", command, {"errors": results[ERRORS]}, sets=behaviour.N_SETS)
    print("\nwritten to benchmarks/results/bench.json")


if __name__ == "__main__":
    main()
