"""Hostile files: exit code 2, a line that names the problem, nothing left behind, little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from surface.hostile import FIT, make_cases
from unshuffle.cli.app import app

pytestmark = pytest.mark.long

MOST_MEGABYTES = 500
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
    found = {case.name: case for case in make_cases(folder)}
    calls = {name: case.arguments for name, case in found.items()}
    (folder.parent / "calls.json").write_text(json.dumps(calls))
    return folder, found


@pytest.fixture(scope="module")
def outcomes(cases):
    script = Path(__file__).with_name("hostile_pass.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", script, cases[0]],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def test_every_format_and_command_has_cases(cases):
    """Each reader and each command that reads a table refuses something, by more than its name."""
    found = cases[1].values()
    for ending in (".csv", ".csv.gz", ".tsv.gz", ".parquet", ".fcs", ".xlsx"):
        assert [case for case in found if case.name.endswith(ending)], ending
    commands = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert {case.arguments[0] for case in found} == commands - {"demo", "reproduce"}
    assert [case.name for case in found if not set(case.words) - {case.name}] == []


def problems(case, outcome):
    """Everything that is wrong with how a case was refused; empty where all is well."""
    lines = outcome["err"].strip().splitlines()
    found = []
    if outcome["code"] != 2:
        found.append(f"exit code {outcome['code']}")
    if outcome["out"] or outcome["raised"]:
        found.append(f"printed {outcome['out']!r}, raised {outcome['raised']}")
    if not 1 <= len(lines) <= 2 or "Traceback" in outcome["err"] or len(outcome["err"]) > 800:
        found.append("not one or two plain lines")
    found += [f"does not say {word!r}" for word in case.words if word not in outcome["err"]]
    found += [f"left behind {path}" for path in outcome["left"]]
    return found


def test_every_case_is_refused_in_plain_words(cases, outcomes):
    wrong = {
        name: (problems(case, outcomes[name]), outcomes[name]["err"][-400:])
        for name, case in cases[1].items()
        if problems(case, outcomes[name])
    }
    assert wrong == {}


def test_the_file_without_a_fault_is_accepted(cases):
    """The control: the table that all others are variations of is fitted, and the check sees it."""
    folder, found = cases
    done = CliRunner().invoke(app, ["fit", str(folder / "good.csv"), *FIT, "--json"])
    assert (done.exit_code, done.stderr) == (0, "")
    outcome = {"code": 0, "out": done.stdout, "err": "", "raised": None, "left": ["out"]}
    # Exit code, output, no message, a folder left behind; and no word of the message is there.
    words = len(found["typo.csv"].words)
    assert len(problems(found["typo.csv"], outcome)) == 4 + words


def test_memory_stays_low(outcomes):
    worst = max(outcomes, key=lambda name: outcomes[name]["peak"])
    assert outcomes[worst]["peak"] < MOST_MEGABYTES, (worst, outcomes[worst]["peak"])


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
