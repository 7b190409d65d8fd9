"""Run hostile calls in a process of their own, and say what is wrong with how they end."""

import json
import re
import subprocess
import sys
from pathlib import Path

MOST_MEGABYTES, MOST_SECONDS, MOST_LETTERS = 500, 30, 1000
# Control characters, and those that change the direction of writing.
COMMANDS = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def run_cases(folder, cases):
    """The outcome of each case, by its name."""
    calls = {case.name: case.arguments for case in cases}
    assert len(calls) == len(cases)
    (folder.parent / "calls.json").write_text(json.dumps(calls))
    script = Path(__file__).with_name("in_forks.py")
    done = subprocess.run(
        [sys.executable, "-W", "error", script, folder],
        capture_output=True,
        text=True,
        check=False,
        timeout=230,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


def problems(case, outcome):
    """Everything that is wrong with how a case was refused; empty where all is well."""
    lines = outcome["err"].strip().split("\n")
    found = []
    if outcome["code"] != 2:
        found.append(f"exit code {outcome['code']}")
    if outcome["out"] or outcome["raised"]:
        found.append(f"printed {outcome['out'][:99]!r}, raised {outcome['raised']}")
    if len(lines) != 1 or not lines[0] or len(outcome["err"]) > MOST_LETTERS:
        found.append("not one plain line")
    if COMMANDS.search(outcome["out"] + outcome["err"]):
        found.append("commands the terminal")
    found += [f"does not say {word!r}" for word in case.words if word not in outcome["err"]]
    found += [f"left behind {path}" for path in outcome["left"]]
    if outcome["peak"] >= MOST_MEGABYTES or outcome["seconds"] >= MOST_SECONDS:
        found.append(f"took {outcome['peak']} MB and {outcome['seconds']:.0f} s")
    return found


def all_problems(cases, outcomes):
    """Problems and message of each case that has some."""
    found = {case.name: problems(case, outcomes[case.name]) for case in cases}
    return {n: (what, outcomes[n]["err"][-400:]) for n, what in found.items() if what}
