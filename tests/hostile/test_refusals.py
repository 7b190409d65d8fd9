"""Hostile files: exit code 2, one line that names the problem, nothing left behind.

Each takes less than 500 MB and 30 seconds, and none is larger than 10 MB.
"""

import os
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from hostile import archives, cases, large_parquet, large_tables, names, stored
from hostile.cases import FIT, Shelf
from hostile.run import MOST_MEGABYTES, MOST_SECONDS, all_problems, problems, run_cases
from unshuffle.cli.app import app

pytestmark = pytest.mark.long

GROUPS = {
    "small": cases,
    "large tables": large_tables,
    "large parquet": large_parquet,
    "stored": stored,
    "names": names,
    "archives": archives,
}
FEWEST = {"small": 129, "large tables": 33, "large parquet": 34, "stored": 56, "names": 62,
          "archives": 82}  # fmt: skip
LARGEST = 10_500_000  # bytes of a file
# Real processes for a few: what a shell sees, and the memory of a process that is no fork.
BY_PROCESS = {
    "small": ("one_long_line.csv", "bomb.csv.gz", "huge.parquet", "many_events.fcs", "model_objects"),
    "large tables": ("cells.csv.gz", "categories.csv", "wide.csv", "masked.fcs"),
    "large parquet": (
        "long_text.parquet", "repair prefixes.parquet", "repeated.parquet", "chunks.parquet",
        "zones.parquet",
    ),
    "stored": ("model /dev/zero", "model of a pipe", "bomb.npz", "entries.npz", "model_of_lists"),
    "names": ("colour of a file", r"caf\xe9.csv"),
    "archives": ("blanks.csv.zst", "bomb.xlsx"),
}  # fmt: skip
WITH_PEAK = """
import atexit, sys
from pathlib import Path

@atexit.register
def tell():
    peak = Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0]
    Path(sys.argv[-1]).write_text(str(int(peak) // 1024))

from unshuffle.cli import main
where = sys.argv.pop()
sys.argv[0] = "unshuffle"
try:
    main()
finally:
    sys.argv.append(where)
"""


@pytest.fixture(scope="module", params=GROUPS)
def group(request, tmp_path_factory):
    """Name of the group, its folder, and its cases by name."""
    folder = tmp_path_factory.mktemp("hostile") / "files"
    folder.mkdir()
    shelf = Shelf(folder)
    GROUPS[request.param].make(shelf)
    return request.param, folder, {case.name: case for case in shelf.cases}


@pytest.fixture(scope="module")
def outcomes(group):
    return run_cases(group[1], list(group[2].values()))


def test_every_case_is_refused_in_one_plain_line(group, outcomes):
    assert all_problems(group[2].values(), outcomes) == {}
    assert len(outcomes) >= FEWEST[group[0]]
    assert max(path.lstat().st_size for path in group[1].rglob("*")) < LARGEST


def test_every_case_has_words_of_its_own(group):
    """A message says more than the name of the file."""
    found = group[2].values()
    assert [case.name for case in found if not set(case.words) - {case.name}] == []


def test_every_format_and_command_has_cases(tmp_path):
    shelf = Shelf(tmp_path)
    cases.make(shelf)
    for ending in (".csv", ".csv.gz", ".tsv.gz", ".parquet", ".fcs", ".xlsx"):
        assert [case for case in shelf.cases if case.name.endswith(ending)], ending
    commands = {command.name or command.callback.__name__ for command in app.registered_commands}
    assert {case.arguments[0] for case in shelf.cases} == commands - {"demo", "reproduce"}


def test_the_file_without_a_fault_is_accepted(tmp_path):
    """The control: the table that all others are variations of is fitted, and the check sees it."""
    shelf = Shelf(tmp_path)
    cases.make(shelf)
    typo = next(case for case in shelf.cases if case.name == "typo.csv")
    done = CliRunner().invoke(app, ["fit", str(tmp_path / "good.csv"), *FIT, "--json"])
    assert (done.exit_code, done.stderr) == (0, "")
    outcome = {
        "code": 0, "out": done.stdout + "\x1b", "err": "", "raised": None, "left": ["out"],
        "peak": MOST_MEGABYTES, "seconds": MOST_SECONDS,
    }  # fmt: skip
    # Exit code, output, no message, a command to the terminal, a folder left behind, memory and
    # time; no word of the message is there.
    assert len(problems(typo, outcome)) == 6 + len(typo.words)


def test_a_shell_sees_the_same(group, outcomes, tmp_path):
    name, _, found = group
    for case in (found[title] for title in BY_PROCESS[name]):
        peak = tmp_path / "peak"
        done = subprocess.run(
            [sys.executable, "-c", WITH_PEAK, *case.arguments, peak],
            capture_output=True,
            text=True,
            check=False,
            timeout=MOST_SECONDS,
            env={**os.environ, "COLUMNS": "80"},
        )
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == outcomes[case.name]["err"]
        assert int(peak.read_text()) < MOST_MEGABYTES, case.name
