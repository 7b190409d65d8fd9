"""Hostile files: exit code 2, a line that names the problem, nothing left behind, little memory."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from surface.hostile import make_cases

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


def test_there_are_many_cases(cases):
    assert len(cases[1]) >= 100


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


def test_the_check_itself_can_fail(cases):
    """The control: a file that is fine is not refused, and `problems` sees it."""
    _, found = cases
    fine = {"code": 0, "out": "Verdict", "err": "", "raised": None, "left": ["out"]}
    assert len(problems(found["typo.csv"], fine)) >= 4


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
