"""What a user sees first: import, names, docstrings, README, command line."""

import doctest
import importlib
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import unshuffle

ROOT = Path(__file__).parents[2]


def run(*arguments, **more):
    return subprocess.run(
        [sys.executable, *arguments], capture_output=True, text=True, check=False, **more
    )


def test_import_loads_nothing_heavy():
    heavy = {"numba", "matplotlib", "sklearn", "numpy", "scipy", "rich", "typer", "pandas"}
    code = f"import sys, unshuffle; print(sorted({heavy!r} & set(sys.modules)))"
    assert run("-c", code).stdout.strip() == "[]"


def test_every_public_name_loads_and_is_listed():
    for name in unshuffle.__all__:
        assert getattr(unshuffle, name) is not None
    assert set(unshuffle.__all__) <= set(dir(unshuffle))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = unshuffle.nonsense


MODULES = [m.name for m in pkgutil.walk_packages(unshuffle.__path__, "unshuffle.")
           if not m.name.endswith("__main__")]  # fmt: skip


@pytest.mark.doctest
@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_public_names_have_runnable_examples():
    from unshuffle import datasets, metrics
    from unshuffle.show import plots, report

    public = [
        getattr(module, name)
        for module, names in (
            (
                unshuffle,
                ["StochasticEMRegressor", "HardEMRegressor", "MixtureRegressor", "warm_up"],
            ),
            (datasets, [n for n in datasets.__all__ if n[0].islower() and n != "load_aptamers"]),
            (plots, plots.__all__),
            (report, ["build_report", "write_report"]),
            (
                metrics,
                [n for n in vars(metrics) if n.endswith(("error", "cosine", "mse", "accuracy"))],
            ),
        )
        for name in names
    ]
    assert len(public) >= 10
    for item in public:
        assert ">>> " in item.__doc__, item


def test_version_is_the_same_everywhere():
    assert run("-m", "unshuffle", "--version").stdout == f"unshuffle {unshuffle.__version__}\n"
    for name in ("pyproject.toml", "CITATION.cff"):
        assert re.search(
            rf'^version(: | = "){unshuffle.__version__}', (ROOT / name).read_text(), re.M
        )


@pytest.mark.parametrize(
    "arguments", [["nonsense"], ["demo", "--seed", "x"], ["demo", "--seed", "-1"]]
)
def test_wrong_calls_exit_with_two_and_no_traceback(arguments):
    done = run("-m", "unshuffle", *arguments)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert re.search("nonsense|--seed", done.stderr)


@pytest.mark.long
def test_demo_tells_where_it_wins_and_where_it_does_not(tmp_path):
    page = tmp_path / "page.html"
    done = run("-m", "unshuffle", "demo", "--out", str(page), env={"COLUMNS": "100", "PATH": ""})
    assert done.returncode == 0, done.stderr
    ours, given, held, n = map(
        int,
        re.search(
            r"by (\d+)% of their length, least squares as\s+given by (\d+)%. (\d+) of (\d+) inter",
            done.stdout,
        ).groups(),
    )
    assert ours < given
    assert held == len(re.findall(r"│ +yes │", done.stdout))
    assert n == 13 == held + len(re.findall(r"│ +no │", done.stdout))
    assert re.findall(r"│ (trust|caution|reject) +│", done.stdout) == ["trust", "caution", "reject"]
    assert f"Written: {page}" in done.stdout.replace("\n", " ")
    assert "Can this fit be trusted?" in page.read_text(encoding="utf-8")
