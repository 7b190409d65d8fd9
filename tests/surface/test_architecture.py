"""Facts about the layout of the package that every change must keep true.

The direction of imports is checked by `make imports`; here are the counts, the place of
scikit-learn, and that tests pass settings. Every check is also run on a small package that breaks it.
"""

import ast
import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "unshuffle"
MOST_ENTRIES, MOST_LAYERS, MOST_LINES = 17, 9, 400
NOT_COUNTED = {"__init__.py", "__main__.py", "py.typed", "__pycache__"}
WITH_SKLEARN = {"metrics", "estimators", "linkage", "datasets", "paper", "cli"}
WITH_LAZY_SKLEARN = {"show"}  # inside a function: its errors are those of scikit-learn


def entries(package):
    """Modules and packages at the top, without their endings."""
    return sorted(path.stem for path in package.iterdir() if path.name not in NOT_COUNTED)


def layers():
    """The import contract, from the outside in, as lists of modules."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    contracts = settings["tool"]["importlinter"]["contracts"]
    (found,) = (contract["layers"] for contract in contracts if contract["type"] == "layers")
    return [layer.replace("|", " ").replace(":", " ").split() for layer in found]


def imports(tree, name):
    """Whether code imports a module or a part of it."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names = [node.module]
        else:
            continue
        if any(found == name or found.startswith(f"{name}.") for found in names):
            return True
    return False


def without_functions(tree):
    """The code of a module that runs when it is imported."""

    class Remover(ast.NodeTransformer):
        def visit_FunctionDef(self, node):
            return None

    return Remover().visit(tree)


def packages_that_import(name, package, *, when_loaded):
    """The entries that import a module: when they are loaded, or at any time."""
    found = set()
    for path in package.rglob("*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        if imports(without_functions(tree) if when_loaded else tree, name):
            found.add(path.relative_to(package).parts[0].removesuffix(".py"))
    return found


def long_files(package):
    """Files with more lines than a reader should have to scroll through."""
    return [
        path.relative_to(package).as_posix()
        for path in sorted(package.rglob("*.py"))
        if len(path.read_text(encoding="utf-8").splitlines()) > MOST_LINES
    ]


def test_the_top_of_the_package_is_short():
    assert len(entries(PACKAGE)) <= MOST_ENTRIES, entries(PACKAGE)


def test_every_entry_is_in_one_of_few_layers():
    assert len(layers()) <= MOST_LAYERS
    listed = [name.removeprefix("unshuffle.") for layer in layers() for name in layer]
    assert sorted(listed) == entries(PACKAGE)


def test_scikit_learn_is_imported_by_estimators_and_what_uses_them():
    assert packages_that_import("sklearn", PACKAGE, when_loaded=True) == WITH_SKLEARN
    anywhere = packages_that_import("sklearn", PACKAGE, when_loaded=False)
    assert anywhere == WITH_SKLEARN | WITH_LAZY_SKLEARN


def test_no_file_is_long():
    assert long_files(PACKAGE) == []


def patched_constants(folder):
    """Places where a test replaces a constant of a module; settings are arguments instead."""
    return [
        f"{path.name}: {found}"
        for path in sorted(folder.rglob("*.py"))
        for found in re.findall(
            r"""setattr\(\s*[^)]*?["'](?:[\w.]+\.)?([A-Z][A-Z_]+)["']""",
            path.read_text(encoding="utf-8"),
        )
    ]


def test_no_test_patches_a_constant():
    assert patched_constants(ROOT / "tests") == []


@pytest.fixture
def small(tmp_path):
    """A package in which a fit imports scikit-learn, and one file is a line too long."""
    for name in ("fits", "show", "__pycache__"):
        (tmp_path / name).mkdir()
    (tmp_path / "__init__.py").write_text("")
    (tmp_path / "fits" / "auto.py").write_text("from sklearn.base import clone\n")
    (tmp_path / "show" / "text.py").write_text("def draw():\n    import sklearn\n")
    (tmp_path / "metrics.py").write_text("import sklearnish\n" + "#\n" * (MOST_LINES - 1))
    (tmp_path / "test_fits.py").write_text(
        "monkeypatch.set" + "attr(fits, 'draw', draw)\n"
        "monkeypatch.set" + "attr(\n    'unshuffle.fits.LARGE', 3\n)\n"
        "monkeypatch.set" + "attr(fits, 'MOST_ROWS', 3)\n"
    )
    (tmp_path / "show" / "long.py").write_text("#\n" * (MOST_LINES + 1))
    return tmp_path


def test_the_checks_can_fail(small):
    """The control: each fact is wrong in the small package, and each check sees it."""
    assert entries(small) == ["fits", "metrics", "show", "test_fits"]
    assert packages_that_import("sklearn", small, when_loaded=True) == {"fits"}
    assert packages_that_import("sklearn", small, when_loaded=False) == {"fits", "show"}
    assert long_files(small) == ["show/long.py"]
    assert patched_constants(small) == ["test_fits.py: LARGE", "test_fits.py: MOST_ROWS"]
