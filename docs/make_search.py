"""Draw the pictures of two pages, and print every number they use.

The pages are docs/how-the-search-works.md ("search") and docs/when-it-cannot-work.md ("limits").
Usage: python -m docs.make_search [search] [limits] [--json], from the root of the project. Without
a page both are made, which takes about five minutes on one thread. ``--json`` keeps the tables in
docs/results/search.json.
"""

import sys

from docs.search_pages import cases, examples, landscape, recovery, reported
from docs.search_pages.sets import N_SETS
from docs.tables import print_tables, wants_json, write_result


def search_page():
    """How the search works."""
    found = landscape.study()
    landscape.draw(found)
    return {
        "landscape": landscape.rows(found),
        "momentum": landscape.momentum_rows(),
        "examples": examples.rows(),
    }


def limits_page():
    """When it cannot work."""
    by_set, tables = recovery.tables()
    return tables | {
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
