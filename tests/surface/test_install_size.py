"""The sizes that the documentation states are those of an installation."""

import re

import pytest
from docs import install_size
from docs.readme import ROOT

PAGE = (ROOT / "docs" / "start.md").read_text()


@pytest.fixture(scope="module")
def sizes():
    return install_size.sizes()


def stated(pattern):
    return float(re.search(pattern, PAGE)[1])


def test_the_page_states_what_the_command_prints(sizes):
    others = sum(size for name, size in sizes.items() if name != "unshuffle")
    assert stated(r"package is (\d+) MB") == pytest.approx(sizes["unshuffle"], abs=1.0)
    assert stated(r"takes about (\d+) MB") == pytest.approx(others, rel=0.3)
    assert stated(r"compiler of Numba\) (\d+) MB") == pytest.approx(sizes["llvmlite"], rel=0.3)
    assert stated(r"SciPy (\d+) MB") == pytest.approx(sizes["scipy"], rel=0.3)


def test_extras_are_left_out_and_dependencies_of_dependencies_are_not(sizes):
    assert {"numpy", "numba", "llvmlite"} <= set(sizes)  # llvmlite is needed by Numba alone
    assert not {"matplotlib", "pandas", "pytest"} & set(sizes)
    assert all(size >= 0.0 for size in sizes.values())
    assert sizes["numpy"] > 10.0


def test_the_command_prints_a_line_for_each(sizes, monkeypatch, capsys):
    monkeypatch.setattr(
        install_size, "sizes", lambda: {"unshuffle": 3.0, "numpy": 70.0, "numba": 30}
    )
    install_size.main()
    assert capsys.readouterr().out.splitlines() == [
        "unshuffle                3.0 MB",
        "numpy                   70.0 MB",
        "numba                   30.0 MB",
        "what it needs          100.0 MB",
    ]
