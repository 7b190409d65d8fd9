"""Draw the pictures of two pages, and print every number they use.

The pages are docs/how-the-search-works.md ("search") and docs/when-it-cannot-work.md ("limits").
Usage: python -m docs.make_search [search] [limits] [--json], from the root of the project. Without
a page both are made, which takes about five minutes on one thread. ``--json`` keeps the tables in
docs/results/search.json.
"""

import sys

from docs.search_pages import cases, examples, landscape, pictures, recovery, reported
from docs.search_pages import recovery_rows as rows
from docs.search_pages.sets import FEW_CANDIDATES, N_SETS
from docs.tables import print_tables, wants_json, write_result


def search_page():
    """How the search works."""
    found = landscape.study()
    pictures.draw_landscape(found)
    return {
        "landscape": landscape.rows(found),
        "momentum": landscape.momentum_rows(),
        "examples": examples.rows(),
    }


def limits_page():
    """When it cannot work."""
    by_set, by_groups = recovery.study_map(), recovery.study_groups()
    pictures.draw_recovery(by_set, by_groups)
    little_noise, auto = recovery.NOISES[:2], recovery.study_full_budget()
    budgets = {f"{noise}, {FEW_CANDIDATES:,}": by_set[8, noise] for noise in little_noise}
    budgets |= {f"{noise}, auto": fits for noise, fits in auto.items()}
    return {
        "map": rows.map_rows(by_set),
        "budgets": rows.budget_rows(),
        "reasons": rows.reason_rows(by_set),
        "groups": rows.group_rows(by_groups),
        "rows": rows.size_rows(recovery.study_rows()),
        "full-budget": rows.size_rows(budgets, "noise and budget"),
        "known": rows.known_rows(recovery.study_known()),
        "reported": reported.rows(by_set),
        "sign": cases.sign_rows(recovery.NOISES),
        "boston": cases.boston_rows(),
    }


PAGES = {"search": search_page, "limits": limits_page}


def main():
    """The pages that are named, or both."""
    keep = wants_json()
    tables = {}
    for name in sys.argv[1:] or PAGES:
        tables |= PAGES[name]()
    print_tables(tables)
    if keep:
        write_result("search", "python -m docs.make_search --json", tables, sets=N_SETS)


if __name__ == "__main__":
    main()
