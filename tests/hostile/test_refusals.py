"""Hostile files: exit code 2, a line that names the problem, nothing left behind, little memory."""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from hostile.cases import FIT, make_cases
from hostile.run import all_problems, problems, run_cases
from unshuffle.cli.app import app

pytestmark = pytest.mark.long

# Real processes for a few: what a shell sees.
BY_PROCESS = (
    "one_long_line.csv",
    "bomb.csv.gz",
    "huge.parquet",
    "many_events.fcs",
    "model_objects",
)


@pytest.fixture(scope="module")
def cases(tmp_path_factory):
    folder = tmp_path_factory.mktemp("hostile") / "files"
    folder.mkdir()
    return folder, {case.name: case for case in make_cases(folder)}


@pytest.fixture(scope="module")
def outcomes(cases):
    return run_cases(cases[0], list(cases[1].values()))


def test_every_format_and_command_has_cases(cases):
    """Each reader and each command that reads a table refuses something, by more than its name."""
    found = cases[1].values()
    for ending in (".csv", ".csv.gz", ".tsv.gz", ".parquet", ".fcs", ".xlsx"):
        assert [case for case in found if case.name.endswith(ending)], ending
    commands = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert {case.arguments[0] for case in found} == commands - {"demo", "reproduce"}
    assert [case.name for case in found if not set(case.words) - {case.name}] == []


def test_every_case_is_refused_in_plain_words(cases, outcomes):
    assert all_problems(cases[1].values(), outcomes) == {}


def test_the_file_without_a_fault_is_accepted(cases):
    """The control: the table that all others are variations of is fitted, and the check sees it."""
    folder, found = cases
    done = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "--json"])
    assert (done.exit_code, done.stderr) == (0, "")
    outcome = {
        "code": 0, "out": done.stdout, "err": "", "raised": None, "left": ["out"], "peak": 9999,
        "seconds": 0,
    }  # fmt: skip
    # Exit code, output, no message, a folder left behind, memory; no word of the message is there.
    words = len(found["typo.csv"].words)
    assert len(problems(found["typo.csv"], outcome)) == 5 + words


@pytest.mark.parametrize("name", BY_PROCESS)
def test_a_shell_sees_the_same(cases, outcomes, name):
    case = cases[1][name]
    done = subprocess.run(
        [sys.executable, "-m", "unshuffle", *case.arguments],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "COLUMNS": "80"},
    )
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr == outcomes[name]["err"]
