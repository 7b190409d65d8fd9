"""Kills at random moments: outputs are old or new, resumed fits the same, and nothing is left."""

import subprocess
import sys

import pytest

from surface.kills import JOBS, Record, run_kills

pytest.importorskip("pyarrow")
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are those of Unix")


def check(record: Record, n_kills: int) -> None:
    assert sum(record.kills.values()) == n_kills
    assert record.old + record.new == n_kills + record.ended_before
    assert record.half == []
    assert record.other_bits == []
    assert record.left == []


# A command that is asked to end while it works.
TERMINATED = """
import os, signal, time, typer
from unshuffle.cli.errors import end_on_termination, plain_errors
def command():
    end_on_termination()
    with plain_errors("fit"):
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(60)
typer.run(command)
"""


def test_a_request_to_end_is_handled_like_an_interruption():
    done = subprocess.run(
        [sys.executable, "-c", TERMINATED], capture_output=True, text=True, check=False, timeout=50
    )
    assert done.returncode == 143
    assert done.stderr == ("unshuffle fit: terminated; every output is as it was, or complete\n")


@pytest.mark.long
def test_a_few_kills(tmp_path):
    check(run_kills(tmp_path, per_job=2, per_round=2, seed=0, in_forks=True), 2 * len(JOBS))


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_a_hundred_kills(tmp_path):
    record = run_kills(tmp_path, per_job=25, per_round=3, seed=1)
    print(record)  # noqa: T201, the figures
    check(record, 25 * len(JOBS))
    assert len(record.kills) == 3
    assert record.resumed
