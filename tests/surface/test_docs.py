"""The documentation as text: nothing lost, no dead link, no public name without a page.

Building it, with every example executed, is `make docs`.
"""

import importlib.util
import re
from pathlib import Path

import pytest

import unshuffle

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
MADE = {"_build", "_templates", "_ext", "_static", "examples", "reference"}
PAGES = sorted(
    page
    for ending in ("md", "rst")
    for page in DOCS.rglob(f"*.{ending}")
    if not MADE & set(page.relative_to(DOCS).parts) and page.parent.name != "gallery"
)
MARKDOWN = [page for page in PAGES if page.suffix == ".md"]
GALLERY = sorted((DOCS / "gallery").glob("*.py"))


def listed(page):
    """Pages that the tables of contents of a page name."""
    tables = re.findall(r"```\{toctree\}\n(.*?)```", page.read_text(), re.S)
    lines = [line.strip() for table in tables for line in table.splitlines()]
    return {(page.parent / line).resolve() for line in lines if line and not line.startswith(":")}


def outside_code(text):
    """Without fenced blocks and code in a line: links there are none."""
    return re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)


def load(name):
    """A script of docs/ as a module."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_pages_are_found():
    assert {"index.md", "start.md", "api.rst"} <= {page.name for page in PAGES}
    assert len(GALLERY) >= 4


def test_every_page_is_in_one_table_of_contents():
    entries = [entry for page in MARKDOWN for entry in listed(page)]
    assert len(entries) == len(set(entries))
    named = set(entries) - {DOCS / "examples" / "index"}  # made from the gallery
    assert named | {DOCS / "index"} == {page.with_suffix("") for page in PAGES}


@pytest.mark.parametrize(
    "page", [*MARKDOWN, ROOT / "README.md"], ids=lambda p: str(p.relative_to(ROOT))
)
def test_links_lead_somewhere(page):
    text = outside_code(page.read_text())
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("https://", "#")) or target == "examples/index":
            continue
        name, _, anchor = target.partition("#")
        found = page.parent / name
        assert found.is_file(), f"{page.name} links to {target}"
        if anchor:
            heads = re.findall(r"^#+ (.*)$", found.read_text(), re.M)
            assert anchor in {
                re.sub(r"[^\w -]", "", head.lower()).replace(" ", "-") for head in heads
            }


def public_names():
    """Every public name with the room it is imported from."""
    yield from (("unshuffle", name) for name in unshuffle._HOMES)
    for room in unshuffle._ROOMS:
        home = getattr(unshuffle, room)
        local = [
            name
            for name, value in vars(home).items()
            if getattr(value, "__module__", "").startswith(home.__name__) and name[0] != "_"
        ]
        yield from ((home.__name__, name) for name in getattr(home, "__all__", local))


def test_every_public_name_is_in_the_reference():
    shown, room = set(), ""
    for line in (DOCS / "api.rst").read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            room = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            shown.add((room, line.strip()))
    assert shown == set(public_names())


def test_picture_of_the_rooms_shows_the_layers_of_today():
    rooms = load("make_rooms")
    layers = rooms.read_layers()
    assert rooms.PICTURE.read_text() == rooms.draw(layers), "run: python docs/make_rooms.py"
    for room in (room for layer in layers for room in layer):
        assert f">{room}</text>" in rooms.PICTURE.read_text()


@pytest.mark.parametrize("example", GALLERY, ids=lambda p: p.stem)
def test_examples_are_short_and_have_a_title(example):
    text = example.read_text()
    assert re.match(r'"""\n(.+)\n=+\n\n', text)
    assert len(text.splitlines()) <= 70
    compile(text, example.name, "exec")
