"""Run the examples of README.md and compare what they print with what stands there.

Usage: python -m docs.readme [--write] [--quick], from the root of the project.

A ``python`` or ``sh`` block is run; a ``text`` block right below it is what it prints. Blocks that
call make are not run (they install, or run this), but their targets must exist. ``--write`` puts
the new output into the file, ``--quick`` runs Python alone.
"""

import argparse
import difflib
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from docs._ext.session import Session

ROOT = Path(__file__).parents[1]
README = ROOT / "README.md"
BLOCK = re.compile(
    r"^```(?P<language>python|sh)\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?",
    re.M | re.S,
)


class Example(NamedTuple):
    """A block, the output that stands below it, and where that output stands in the text."""

    language: str
    code: str
    output: str | None
    span: tuple[int, int]


def examples(text: str) -> Iterator[Example]:
    """Blocks of a page in their order."""
    for found in BLOCK.finditer(text):
        yield Example(found["language"], found["code"], found["output"], found.span("output"))


def check_targets(code: str) -> None:
    """Targets of make that a block names must exist."""
    known = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.M))
    missing = set(re.findall(r"^make ([a-z-]+)", code, re.M)) - known
    if missing:
        raise ValueError(f"no such target of make: {', '.join(sorted(missing))}")


def rewrite(text: str, quick: bool = False) -> str:
    """The same text, with what the examples print today."""
    parts, last = [], 0
    with Session() as session:
        for example in examples(text):
            if example.code.startswith("make "):
                check_targets(example.code)
                continue
            if quick and example.language != "python":
                continue
            printed = session.run(example.language, example.code)
            if example.output is not None:
                first, end = example.span
                parts += [text[last:first], printed, "\n"]
                last = end
            elif example.language == "python" and printed:
                raise ValueError(f"nothing stands below a block that prints:\n{example.code}")
    return "".join([*parts, text[last:]])


def difference(old: str, new: str) -> str:
    """Lines that differ; empty where none do."""
    lines = difflib.unified_diff(old.splitlines(), new.splitlines(), "README.md", "printed", n=0)
    return "\n".join(lines)


def main() -> None:
    """Compare, or write."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--write", action="store_true", help="put the new output into README.md")
    parser.add_argument("--quick", action="store_true", help="run Python alone")
    options = parser.parse_args()
    old = README.read_text()
    new = rewrite(old, options.quick)
    if options.write:
        README.write_text(new)
    elif new != old:
        sys.exit(f"{difference(old, new)}\nrun: python -m docs.readme --write")


if __name__ == "__main__":
    main()
