"""The documentation as text: no page lost, no dead link, no old number, no unexecuted example.

Building it, with every example executed, is `make docs`.
"""

import importlib
import importlib.util
import json
import re
from pathlib import Path

import numpy as np
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


@pytest.fixture
def from_root(monkeypatch):
    """Modules of docs/ are imported as from the root of the project."""
    monkeypatch.syspath_prepend(str(ROOT))


@pytest.fixture
def tables(from_root):
    """What writes the tables of the pages."""
    return importlib.import_module("docs.tables")


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
    """Every public name with the module it is imported from."""
    yield from (("unshuffle", name) for name in unshuffle._HOMES)
    for module in unshuffle._MODULES:
        home = getattr(unshuffle, module)
        local = [
            name
            for name, value in vars(home).items()
            if getattr(value, "__module__", "").startswith(home.__name__) and name[0] != "_"
        ]
        yield from ((home.__name__, name) for name in getattr(home, "__all__", local))


def test_every_public_name_is_in_the_reference():
    shown, module = set(), ""
    for line in (DOCS / "api.rst").read_text().splitlines():
        if line.startswith(".. currentmodule:: "):
            module = line.split()[-1]
        elif re.fullmatch(r"   \w+", line):
            shown.add((module, line.strip()))
    assert shown == set(public_names())


def test_picture_of_the_layers_shows_those_of_today():
    picture = load("make_layers")
    layers = picture.read_layers()
    drawn = picture.PICTURE.read_text()
    assert drawn == picture.draw(layers), "run: python docs/make_layers.py"
    for module in (module for layer in layers for module in layer):
        assert f">{module}</text>" in drawn


@pytest.mark.parametrize("example", GALLERY, ids=lambda p: p.stem)
def test_examples_are_short_and_have_a_title(example):
    text = example.read_text()
    assert re.match(r'"""\n(.+)\n=+\n\n', text)
    assert len(text.splitlines()) <= 70
    compile(text, example.name, "exec")


def fences(page):
    """Language and code of the fenced blocks that are not directives."""
    return re.findall(r"^```(\w+)\n(.*?)^```", page.read_text(), re.M | re.S)


@pytest.mark.parametrize("page", MARKDOWN, ids=lambda p: str(p.relative_to(DOCS)))
def test_examples_of_pages_are_executed(page):
    """Only what installs, or takes minutes and is kept as a result, stands there as text."""
    for language, code in fences(page):
        assert language == "sh", f"{page.name}: make it a {{run}} block:\n{code}"
        assert code.startswith("pip install"), f"{page.name}: {code}"


def test_readme_shows_what_its_example_prints(from_root):
    readme = importlib.import_module("docs.readme")
    text = readme.README.read_text()
    assert [e.language for e in readme.examples(text) if e.output] == ["python", "python"]
    printed = readme.rewrite(text, quick=True)
    assert printed == text, (
        f"{readme.difference(text, printed)}\nrun: python -m docs.readme --write"
    )


def test_readme_with_other_output_is_found(from_root):
    """The control: one digit, and a target of make that does not exist."""
    readme = importlib.import_module("docs.readme")
    page = "```python\nprint(1 / 4)\n```\n\n```text\n0.25\n```\n"
    assert readme.rewrite(page) == page
    assert readme.rewrite(page.replace("0.25", "0.26")) == page
    with pytest.raises(ValueError, match="no such target of make: nothing"):
        readme.rewrite("```sh\nmake nothing\n```\n")


def test_tables_are_those_of_the_results(tables):
    pages = tables.pages()
    names = [name for page in pages for name in re.findall(r"<!-- table: (\S+)", page.read_text())]
    assert len(names) >= 15
    for page in pages:
        text = page.read_text()
        assert tables.fill(text) == text, f"{page.name} is old; run: python -m docs.tables"
        assert not tables.misquoted(text)


def test_results_name_their_command(tables):
    for path in tables.RESULTS.glob("*.json"):
        result = json.loads(path.read_text())
        assert set(result) == {"command", "measured", "settings", "tables"}
        assert tables.as_text(result) == path.read_text()
        found = re.search(r"python -m (\S+)", result["command"])[1]
        assert (ROOT / (found.replace(".", "/") + ".py")).is_file()


def test_an_edited_digit_is_found(tables):
    """The control: a table, and a number in a sentence."""
    readme = (ROOT / "README.md").read_text()
    row = re.search(r"^\| 0 \| .*$", readme, re.M)[0]
    assert tables.fill(readme.replace(row, row.replace("3", "4", 1))) == readme
    search = (DOCS / "how-the-search-works.md").read_text()
    assert "1.872 %" in search
    assert len(tables.misquoted(search.replace("1.872 %", "1.873 %"))) == 1


def test_pages_without_markers_have_no_table_of_numbers(tables):
    """A table typed by hand would grow old."""
    written = {DOCS / "paper.md", DOCS / "architecture.md", DOCS / "can-i-trust-this-fit.md"}
    for page in set(tables.pages()) - written:
        text = tables.PLACE.sub("", page.read_text())
        typed = re.findall(r"^\|.*\| *-?\d+\.\d+ *\|", text, re.M)
        assert not typed, f"{page.name}: {typed[0]}"


def test_page_about_the_paper_is_that_of_its_results(from_root):
    make_paper = importlib.import_module("docs.make_paper")
    assert make_paper.PAGE.read_text() == make_paper.page(), "run: python -m docs.make_paper"


THRESHOLDS = {
    "match against unrelated labels": ("match_p_caution", "match_p_reject"),
    "recoverability": ("refit_caution", "refit_reject"),
    "agreement of searches": ("starts_needed", "starts_needed_one_group"),
    "precision": ("inflation_caution", "inflation_linked", "inflation_least"),
    "doubts about the match": ("doubts_reject",),
    "sensitivity to the noise": ("noise_caution", "noise_caution_linked", "noise_reject"),
    "information in the order given": ("order_p_caution", "order_p_inside"),
    "share of mismatches": ("mismatch_caution",),
    "mismatches": ("mismatch_p", "mismatch_p_of_two"),
    "mismatches that cannot be excluded": ("hidden_error",),
    "labels far off": ("tail_caution", "tail_hidden_error"),
    "weight of one label": ("one_label_caution",),
    "consistency": ("consistent_distance", "consistent_p", "trusted_distance", "inconsistent_p"),
    "slope among mismatched rows": ("mismatched_slope",),
    "evidence of mismatches": ("doubtful_gain",),
    "law of the noise": ("pit_caution",),
    "mismatches or noise": ("mixture_rate",),
    "agreement of two models": ("agreement", "normal_agreement"),
    "expected error": ("expected_error",),
    "strength of evidence": ("trusted_gain",),
}


def test_page_on_trust_names_the_thresholds_of_today():
    checks = pytest.importorskip("unshuffle.inference.settings").CHECKS
    text = (DOCS / "can-i-trust-this-fit.md").read_text()
    for check, names in THRESHOLDS.items():
        row = re.search(rf"^\| {check} \|[^|]*\|(.*)$", text, re.M)[1]
        limits = [np.format_float_positional(getattr(checks, name), trim="-") for name in names]
        assert re.findall(r"-?\d[\d.]*", row) == limits


def test_page_on_trust_says_which_labels_are_isolated():
    isolated = pytest.importorskip("unshuffle.data.settings").ISOLATED
    text = (DOCS / "can-i-trust-this-fit.md").read_text()
    row = re.search(r"^\| isolated labels \|.*$", text, re.M)[0]
    assert re.findall(r"\d[\d.]*", row) == [f"{isolated.largest_share:g}", f"{isolated.gap:g}"]
