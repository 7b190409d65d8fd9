"""`unshuffle reproduce` as a user calls it."""

import os
import signal
import subprocess
import sys
import time

import pytest
from typer.testing import CliRunner

from unshuffle.cli.app import app

pytestmark = pytest.mark.long


def start(*arguments, **more):
    return subprocess.Popen(
        [sys.executable, "-m", "unshuffle", "reproduce", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


def run(*arguments):
    """In a process of its own, as a shell runs it."""
    process = start(*arguments)
    out, err = process.communicate(timeout=200)
    return process.returncode, out, err


def call(*arguments):
    """In this process: the same, without a second start of Python."""
    done = CliRunner().invoke(app, ["reproduce", *map(str, arguments)], catch_exceptions=False)
    return done.exit_code, done.stdout, done.stderr


def test_one_experiment_gives_pictures_tables_and_a_page(tmp_path):
    code, out, err = run("consistency", "--quick", "--out", tmp_path / "deep" / "here", "--seed", 3)
    assert code == 0, err
    folder = tmp_path / "deep" / "here"
    assert out.strip() == str(folder / "index.html")
    assert {p.name for p in folder.iterdir()} == {
        "index.html", "consistency.csv", "consistency.png", "consistency.svg", "consistency.json",
    }  # fmt: skip
    assert "Fig. 3" in err
    code, _, err = call("consistency", "--quick", "--out", folder, "--seed", 3)
    assert code == 0
    assert "finished before" in err


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        ("sequence,affinity\n", "no"),
        ("name,value\nACGT,1\n", "sequence"),
        ("sequence,affinity\nACGT,1\nACXT,2\n", "X"),
        ("sequence,affinity\nACGT,1\nACGTA,2\n", "5"),
        ("sequence,affinity\nACGT,high\n", "high"),
    ],
    ids=["empty", "header only", "missing columns", "wrong letter", "unequal lengths", "text"],
)
def test_bad_sequence_files(tmp_path, text, message):
    path = tmp_path / "table.csv"
    path.write_text(text)
    code, out, err = call("gated", "--quick", "--out", tmp_path / "out", "--aptamers", path)
    assert code == 2
    assert out == ""
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1
    assert message in err
    assert str(path) in err
    assert not (tmp_path / "out").exists()


def test_unknown_name_names_the_known_ones(tmp_path):
    code, _, err = run("figure9", "--out", tmp_path / "out")
    assert code == 2
    assert len(err.strip().splitlines()) == 1
    assert "'figure9'" in err
    assert "size, sets, consistency" in err
    assert not (tmp_path / "out").exists()


def test_unwritable_folder(tmp_path):
    (tmp_path / "file").write_text("")
    code, _, err = call("housing", "--quick", "--out", tmp_path / "file" / "out")
    assert code == 2
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1
    assert str(tmp_path / "file") in err


def test_missing_extra_is_named(tmp_path):
    (tmp_path / "pandas.py").write_text("raise ModuleNotFoundError(name='pandas')")
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    process = start("housing", "--quick", "--out", tmp_path / "out", env=env)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert err == (
        'unshuffle reproduce: pandas is missing; install it with: pip install "unshuffle[all]"\n'
    )


def test_interrupting_says_how_to_continue(tmp_path):
    out = tmp_path / "out"
    # In the background of a shell that ignores Ctrl-C the command would ignore it as well.
    process = start(
        "all", "--out", out, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    )
    deadline = time.monotonic() + 60
    while not out.exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1.0)  # let it get into the first experiment
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130
    assert "run the same command to continue" in err
    assert "Traceback" not in err
    assert not list(out.glob("size.*"))
