"""Tables of the pages, written from the results in docs/results.

Usage: python -m docs.tables [--check], from the root of the project. The command puts every table
into its page, between ``<!-- table: NAME -->`` and ``<!-- end -->``; ``--check`` compares only.
Numbers in sentences cannot be written by a command: a comment ``<!-- quotes: NAME``, with one fact
of that table a line, names them, and both commands fail where the text has other numbers.

A result is a JSON file: the command that measured it, the version that was measured, its settings,
and tables as lists of rows. Scripts write theirs when they are run with ``--json``.
"""

import argparse
import json
import re
import sys
from pathlib import Path
from typing import Any

import unshuffle

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
PLACE = re.compile(r"(<!-- table: (?P<name>[\w.-]+) -->\n).*?(<!-- end -->)", re.S)
QUOTES = re.compile(r"<!-- quotes: (?P<name>[\w.-]+)\n(?P<facts>.*?)\n-->", re.S)
NUMBER = re.compile(r"(-?[\d.,]+( ?%|e-\d+)?)?")
# Columns of a row that a page leaves out: targets of a benchmark, and what the page says already.
LEFT_OUT = {
    "bench.errors": {"measure"},
    "partial.swaps": {"target", "ours / best peer"},
    "verdict.checking": {"share"},
    "verdict.other-noise": {"share"},
    "search.groups": {"noise of the match"},
}

Row = dict[str, Any]


def wants_json() -> bool:
    """Whether the result is to be written; takes ``--json`` from the command line."""
    if "--json" not in sys.argv:
        return False
    sys.argv.remove("--json")
    return True


def write_result(name: str, command: str, tables: dict[str, list[Row]], **settings: Any) -> None:
    """Keep a result; tables of an earlier run that this run did not make stay."""
    path = RESULTS / f"{name}.json"
    before = json.loads(path.read_text())["tables"] if path.exists() else {}
    result = {
        "command": command,
        "measured": unshuffle.__version__,
        "settings": settings,
        "tables": before | tables,
    }
    path.write_text(as_text(result))


def as_text(result: dict[str, Any]) -> str:
    """JSON with one row of a table a line, so that a change of a number changes one line."""
    tables = result["tables"]
    blocks = []
    for name, rows in tables.items():
        lines = ",\n".join("   " + json.dumps(row, ensure_ascii=False) for row in rows)
        blocks.append(f"  {json.dumps(name)}: [\n{lines}\n  ]")
    head = [
        f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}"
        for key, value in result.items()
        if key != "tables"
    ]
    return "{\n" + ",\n".join([*head, ' "tables": {\n' + ",\n".join(blocks) + "\n }"]) + "\n}\n"


def read_table(name: str) -> list[Row]:
    """Rows of ``result.table``."""
    result, _, table = name.partition(".")
    rows = json.loads((RESULTS / f"{result}.json").read_text())["tables"][table]
    return [{k: v for k, v in row.items() if k not in LEFT_OUT.get(name, ())} for row in rows]


def cells(values: list[Any]) -> list[str]:
    """A column as a page shows it; floats get as many digits as the longest of them."""
    digits = 0
    if all(isinstance(value, float | None) for value in values):
        digits = max((len(str(v).partition(".")[2]) for v in values if v is not None), default=0)
    return [cell(value, digits) for value in values]


def cell(value: Any, digits: int) -> str:
    """One value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int) and abs(value) >= 10_000:
        return f"{value:,}"
    return f"{value:.{digits}f}" if digits else str(value)


def markdown(rows: list[Row]) -> str:
    """Rows as a table; columns of numbers stand on the right."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    columns = [[row.get(head) for row in rows] for head in heads]
    shown = [cells(column) for column in columns]
    numeric = [all(NUMBER.fullmatch(text) for text in column) for column in shown]
    marks = ["---:" if right else "---" for right in numeric]
    body = zip(*shown, strict=True)
    return "".join("| " + " | ".join(line) + " |\n" for line in (heads, marks, *body))


def print_tables(tables: dict[str, list[Row]]) -> None:
    """What a script shows on the screen."""
    for name, rows in tables.items():
        print(f"\n## {name}\n\n{markdown(rows)}", flush=True)


def fill(text: str) -> str:
    """A page with the tables of today."""
    return PLACE.sub(lambda m: f"{m[1]}\n{markdown(read_table(m['name']))}\n{m[3]}", text)


def misquoted(text: str) -> list[str]:
    """Facts that a page quotes with another value than the result's."""
    wrong, said = [], re.sub(r"\s+", " ", QUOTES.sub("", text))
    for quotes in QUOTES.finditer(text):
        values = {row["what"]: row["value"] for row in read_table(quotes["name"])}
        for fact in quotes["facts"].splitlines():
            value = cell(values[fact], 0)
            if not re.search(rf"(?<![\d.]){re.escape(value)}(?![\d]|\.\d)", said):
                wrong.append(f"{quotes['name']}, {fact}: the page does not say {value}")
    return wrong


def pages() -> list[Path]:
    """Every page that can hold a table."""
    inside = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs" / "guides").glob("*.md")]
    return [ROOT / "README.md", *sorted(inside)]


def main() -> None:
    """Write, or compare."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="write nothing, fail if a page is old")
    check = parser.parse_args().check
    wrong = [f"{page.name}: {line}" for page in pages() for line in misquoted(page.read_text())]
    old = [page for page in pages() if fill(page.read_text()) != page.read_text()]
    for page in old:
        if not check:
            page.write_text(fill(page.read_text()))
        print(("old: " if check else "written: ") + str(page.relative_to(ROOT)))
    if wrong:
        sys.exit("\n".join(wrong))
    if check and old:
        sys.exit("run: python -m docs.tables")


if __name__ == "__main__":
    main()
